package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"millrace/tests/kafka/reader"
	"millrace/tests/kafka/writer"
)

// The test binary runs a broker in its own process when childDir is set.
const (
	childDir  = "MILLRACE_TEST_CHILD_DIR"
	childSync = "MILLRACE_TEST_CHILD_SYNC"
	longTests = "MILLRACE_TEST_LONG" // set: many more rounds of the crash tests
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(runChild(dir))
	}
	goleak.VerifyTestMain(m)
}

// runChild serves a broker until its input ends.
func runChild(dir string) int {
	b, err := Start(context.Background(), Options{
		Dir: dir, SyncWrites: os.Getenv(childSync) != "",
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println(b.Addresses()[0])
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := b.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "close:", err)
		return 1
	}
	return 0
}

// child is a broker in a process of its own.
type child struct {
	t       *testing.T
	dir     string
	sync    bool
	address string
	command *exec.Cmd
	input   io.Closer
}

func newChild(t *testing.T, sync bool) *child {
	t.Helper()
	c := &child{t: t, dir: t.TempDir(), sync: sync}
	t.Cleanup(func() {
		if c.command != nil {
			c.kill()
		}
	})
	c.start()
	return c
}

func (c *child) start() {
	c.t.Helper()
	c.command = exec.Command(os.Args[0], "-test.run=^$")
	c.command.Env = append(os.Environ(), childDir+"="+c.dir)
	if c.sync {
		c.command.Env = append(c.command.Env, childSync+"=1")
	}
	c.command.Stderr = os.Stderr
	var err error
	if c.input, err = c.command.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	output, err := c.command.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.command.Start(); err != nil {
		c.t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil || strings.HasPrefix(line, "error") {
		c.t.Fatalf("start the broker's process: %v, %s", err, line)
	}
	c.address = strings.TrimSpace(line)
}

func (c *child) kill() {
	_ = c.command.Process.Kill()
	_ = c.command.Wait() // reports the kill
	c.command = nil
}

func (c *child) stop() {
	c.t.Helper()
	if err := errors.Join(c.input.Close(), c.command.Wait()); err != nil {
		c.t.Errorf("stop the broker's process: %v", err)
	}
	c.command = nil
}

func startBroker(t *testing.T, options Options) *Broker {
	t.Helper()
	b, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func closeBroker(t *testing.T, b *Broker) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func newClient(t *testing.T, address string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	return writer.NewClient(t, []string{address}, options...)
}

func topicConfig(t *testing.T, client *kgo.Client, topic, name string) string {
	t.Helper()
	request := kmsg.NewPtrDescribeConfigsRequest()
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	request.Resources = append(request.Resources, resource)
	response, err := request.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	for _, config := range response.Resources[0].Configs {
		if config.Name == name && config.Value != nil {
			return *config.Value
		}
	}
	return ""
}

func record(topic string, partition int32, value string) *kgo.Record {
	return &kgo.Record{Topic: topic, Partition: partition, Value: []byte(value)}
}

func readAll(t *testing.T, address, topic string) []reader.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	records, err := reader.ReadAll(ctx, []string{address}, topic)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// offsetRange gives a partition's first offset and high watermark.
func offsetRange(t *testing.T, client *kgo.Client, topic string, partition int32) (first, last int64) {
	t.Helper()
	ask := func(timestamp int64) int64 {
		request := kmsg.NewPtrListOffsetsRequest()
		request.ReplicaID = -1
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = partition, timestamp
		asked := kmsg.NewListOffsetsRequestTopic()
		asked.Topic, asked.Partitions = topic, []kmsg.ListOffsetsRequestTopicPartition{p}
		request.Topics = append(request.Topics, asked)
		response, err := request.RequestWith(t.Context(), client)
		if err == nil {
			err = kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
		}
		if err != nil {
			t.Fatal(err)
		}
		return response.Topics[0].Partitions[0].Offset
	}
	return ask(-2), ask(-1)
}

// groupOffset is -1 without a commit.
func groupOffset(t *testing.T, client *kgo.Client, group, topic string, partition int32) int64 {
	t.Helper()
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Group, request.RequireStable = group, true
	asked := kmsg.NewOffsetFetchRequestTopic()
	asked.Topic, asked.Partitions = topic, []int32{partition}
	request.Topics = append(request.Topics, asked)
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	gt := kmsg.NewOffsetFetchRequestGroupTopic()
	gt.Topic, gt.Partitions = topic, []int32{partition}
	g.Topics = append(g.Topics, gt)
	request.Groups = append(request.Groups, g)
	response, err := request.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	if len(response.Groups) > 0 {
		err := kerr.ErrorForCode(response.Groups[0].ErrorCode)
		if errors.Is(err, kerr.GroupIDNotFound) {
			return -1
		}
		if err != nil {
			t.Fatal(err)
		}
		return response.Groups[0].Topics[0].Partitions[0].Offset
	}
	return response.Topics[0].Partitions[0].Offset
}
