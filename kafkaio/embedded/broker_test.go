package embedded

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/tests/kafka/reader"
	"millrace/tests/kafka/writer"
)

func portOf(t *testing.T, b *Broker) int {
	t.Helper()
	_, text, err := net.SplitHostPort(b.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestTemporaryFolder(t *testing.T) {
	b := startBroker(t, Options{})
	if port := portOf(t, b); port < firstPort || port > lastPort {
		t.Errorf("port %d", port)
	}
	if _, err := os.Stat(b.Dir()); err != nil {
		t.Error(err)
	}
	closeBroker(t, b)
	if _, err := os.Stat(b.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary folder after Close: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestInvalidOptions(t *testing.T) {
	_, err := Start(t.Context(), Options{Port: 70000, RetentionInterval: -1})
	if err == nil || !strings.Contains(err.Error(), "port 70000") || !strings.Contains(err.Error(), "retention interval") {
		t.Errorf("got %v", err)
	}
}

func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	b := startBroker(t, Options{Dir: dir})
	_, err := Start(t.Context(), Options{Dir: dir})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second broker on the folder: %v", err)
	}
	closeBroker(t, b)
	closeBroker(t, startBroker(t, Options{Dir: dir}))
}

func TestFolderInUseByAnotherProcess(t *testing.T) {
	c := newChild(t, false)
	if _, err := Start(t.Context(), Options{Dir: c.dir}); !errors.Is(err, ErrInUse) {
		t.Errorf("a second broker on the folder: %v", err)
	}
	c.kill()
	closeBroker(t, startBroker(t, Options{Dir: c.dir}))
}

func TestRestartKeepsState(t *testing.T) {
	dir := t.TempDir()
	b := startBroker(t, Options{Dir: dir})
	client := newClient(t, b.Addresses()[0], kgo.TransactionalID("tx"))
	writer.CreateTopic(t, client, crashInput, 3, "max.message.bytes", "2000000", "message.timestamp.after.max.ms", "9223372036854775807")
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	writer.Produce(t, client, record(crashInput, 2, "v"))
	if err := stageOffset(t.Context(), client, 9); err != nil {
		t.Fatal(err)
	}
	if err := client.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	id, port := topicID(t.Context(), client, crashInput), portOf(t, b)
	closeBroker(t, b)

	b = startBroker(t, Options{Dir: dir})
	client = newClient(t, b.Addresses()[0])
	if got := portOf(t, b); got != port {
		t.Errorf("the port was %d and is %d", port, got)
	}
	if topicID(t.Context(), client, crashInput) != id {
		t.Error("the topic's id has changed")
	}
	if got := topicConfig(t, client, crashInput, "max.message.bytes"); got != "2000000" {
		t.Errorf("max.message.bytes is %q", got)
	}
	if got := groupOffset(t, client, crashGroup, crashInput, 0); got != 9 {
		t.Errorf("the group's offset is %d", got)
	}
	if got := reader.Values(readAll(t, b.Addresses()[0], crashInput)); got != "v" {
		t.Errorf("the records are %q", got)
	}
}

func TestTakenPort(t *testing.T) {
	dir := t.TempDir()
	b := startBroker(t, Options{Dir: dir})
	port := portOf(t, b)
	closeBroker(t, b)
	other, err := listenOn(port)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := Start(t.Context(), Options{Dir: dir, Port: port}); err == nil || !strings.Contains(err.Error(), strconv.Itoa(port)) {
		t.Errorf("a port asked for that is taken: %v", err)
	}
	b = startBroker(t, Options{Dir: dir})
	if portOf(t, b) == port {
		t.Error("the taken port was used")
	}
}

// Whatever comes in on the port, the process survives and serves the next.
func TestBadRequests(t *testing.T) {
	b := startBroker(t, Options{})
	frame := func(key, version int16, body int) string {
		raw := binary.BigEndian.AppendUint16(nil, uint16(key))
		raw = binary.BigEndian.AppendUint16(raw, uint16(version))
		raw = append(raw, make([]byte, body)...)
		return string(binary.BigEndian.AppendUint32(nil, uint32(len(raw)))) + string(raw)
	}
	for name, bytes := range map[string]string{
		"unknown key":         frame(9999, 0, 64),
		"negative key":        frame(-1, 0, 64),
		"unserved key":        frame(4, 0, 64),
		"unknown version":     frame(0, 99, 64),
		"negative version":    frame(0, -3, 64),
		"garbage produce":     frame(0, 9, 300),
		"no body":             frame(3, 9, 0),
		"empty frame":         "\x00\x00\x00\x00",
		"frame of one byte":   "\x00\x00\x00\x01\x00\x00\x00",
		"two gigabytes":       "\x7f\xff\xff\xff\x00\x00",
		"four gigabytes":      "\xff\xff\xff\xff\x00\x00",
		"HTTP":                "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"TLS":                 "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"cut inside a header": "\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", b.Addresses()[0])
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, bytes); err != nil {
				t.Fatal(err)
			}
			_ = conn.(*net.TCPConn).CloseWrite() // fails where the broker was quicker
			_, _ = io.Copy(io.Discard, conn)
			if _, err := exchange(t.Context(), b.Addresses()[0], kmsg.NewPtrApiVersionsRequest()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestRefusedTopics(t *testing.T) {
	b := startBroker(t, Options{})
	client := newClient(t, b.Addresses()[0])
	for name, c := range map[string]struct {
		topic      string
		partitions int32
		want       error
	}{
		"slash":               {"a/b", 1, kerr.InvalidTopicException},
		"parent":              {"..", 1, kerr.InvalidTopicException},
		"empty":               {"", 1, kerr.InvalidTopicException},
		"long":                {strings.Repeat("x", 250), 1, kerr.InvalidTopicException},
		"too many partitions": {"x", 1 << 30, kerr.InvalidPartitions},
		"fine":                {"_a.b-C9", 1, nil},
	} {
		if err := writer.TryCreateTopic(t.Context(), client, c.topic, c.partitions); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if err := writer.TryCreateTopic(t.Context(), client, "_a.b-C9", 1); !errors.Is(err, kerr.TopicAlreadyExists) {
		t.Errorf("a topic made twice: %v", err)
	}
}

// The broker's own settings keep kfake's cleaner still; a client cannot
// change them.
func TestSettingsAreFixed(t *testing.T) {
	b := startBroker(t, Options{})
	client := newClient(t, b.Addresses()[0])
	alter := kmsg.NewPtrAlterConfigsRequest()
	resource := kmsg.NewAlterConfigsRequestResource()
	resource.ResourceType = kmsg.ConfigResourceTypeBroker
	alter.Resources = append(alter.Resources, resource)
	altered, err := alter.RequestWith(t.Context(), client)
	if err != nil || altered.Resources[0].ErrorCode != kerr.PolicyViolation.Code {
		t.Errorf("AlterConfigs: %v, %+v", err, altered)
	}
	incremental := kmsg.NewPtrIncrementalAlterConfigsRequest()
	changed := kmsg.NewIncrementalAlterConfigsRequestResource()
	changed.ResourceType = kmsg.ConfigResourceTypeBroker
	incremental.Resources = append(incremental.Resources, changed)
	answer, err := incremental.RequestWith(t.Context(), client)
	if err != nil || answer.Resources[0].ErrorCode != kerr.PolicyViolation.Code {
		t.Errorf("IncrementalAlterConfigs: %v, %+v", err, answer)
	}
}

func TestCompactedTopicsAreKeptWhole(t *testing.T) {
	b := startBroker(t, Options{})
	client := newClient(t, b.Addresses()[0])
	writer.CreateTopic(t, client, "table", 1, "cleanup.policy", "compact", "retention.ms", "1000")
	writer.CreateTopic(t, client, "both", 1, "cleanup.policy", "compact,delete", "retention.ms", "1000")
	if got := topicConfig(t, client, "table", "retention.ms"); got != "-1" {
		t.Errorf("retention.ms of a compacted topic is %q", got)
	}
	if got := topicConfig(t, client, "both", "retention.ms"); got != "1000" {
		t.Errorf("retention.ms of a compacted topic that deletes is %q", got)
	}
}

// A partition whose records are all deleted goes on at its offset after a
// restart.
func TestDeletedRecordsKeepTheOffsets(t *testing.T) {
	for _, offset := range []int64{-1, 3} {
		dir := t.TempDir()
		b := startBroker(t, Options{Dir: dir})
		client := newClient(t, b.Addresses()[0])
		writer.CreateTopic(t, client, "x", 1)
		writer.Produce(t, client, record("x", 0, "a"), record("x", 0, "b"), record("x", 0, "c"))
		request := kmsg.NewPtrDeleteRecordsRequest()
		p := kmsg.NewDeleteRecordsRequestTopicPartition()
		p.Offset = offset
		topic := kmsg.NewDeleteRecordsRequestTopic()
		topic.Topic, topic.Partitions = "x", []kmsg.DeleteRecordsRequestTopicPartition{p}
		request.Topics = append(request.Topics, topic)
		response, err := request.RequestWith(t.Context(), client)
		if err != nil || response.Topics[0].Partitions[0].ErrorCode != 0 {
			t.Fatal(err, response)
		}
		if got := reader.Values(readAll(t, b.Addresses()[0], "x")); got != "c" {
			t.Errorf("after the deletion: %q", got)
		}
		closeBroker(t, b)
		b = startBroker(t, Options{Dir: dir})
		if first, last := offsetRange(t, newClient(t, b.Addresses()[0]), "x", 0); first != 2 || last != 3 {
			t.Errorf("offsets %d..%d after the restart, want 2..3", first, last)
		}
		closeBroker(t, b)
	}
}

func TestRetention(t *testing.T) {
	b := startBroker(t, Options{})
	client := newClient(t, b.Addresses()[0])
	now := time.UnixMilli(1_700_000_000_000)
	hour := strconv.FormatInt(time.Hour.Milliseconds(), 10)
	writer.CreateTopic(t, client, "aged", 1, "retention.ms", hour)
	writer.CreateTopic(t, client, "default", 1)
	writer.CreateTopic(t, client, "table", 1, "cleanup.policy", "compact", "retention.ms", hour)
	writer.CreateTopic(t, client, "ever", 1, "retention.ms", "-1")
	writer.CreateTopic(t, client, "old", 1, "retention.ms", hour)
	for topic, ages := range map[string][]time.Duration{
		// The young record in the middle keeps what is behind it.
		"aged":    {3 * time.Hour, 2 * time.Hour, time.Minute, 5 * time.Hour, 0},
		"default": {1000 * time.Hour, 1000 * time.Hour},
		"table":   {3 * time.Hour, 3 * time.Hour},
		"ever":    {3 * time.Hour, 3 * time.Hour},
		"old":     {3 * time.Hour, 2 * time.Hour},
	} {
		for _, age := range ages {
			r := record(topic, 0, age.String())
			r.Timestamp = now.Add(-age)
			writer.Produce(t, client, r)
		}
	}
	for range 2 {
		if err := b.dropExpired(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
	for topic, want := range map[string]string{
		"aged": "1m0s 5h0m0s 0s", "default": "1000h0m0s 1000h0m0s", "table": "3h0m0s 3h0m0s", "ever": "3h0m0s 3h0m0s",
		"old": "2h0m0s", // a partition keeps its last batch
	} {
		if got := reader.Values(readAll(t, b.Addresses()[0], topic)); got != want {
			t.Errorf("topic %s: %q, want %q", topic, got, want)
		}
	}
}

// An unreadable folder is an error that names it, and leaves nothing locked.
func TestUnusableFolder(t *testing.T) {
	dir := t.TempDir()
	closeBroker(t, startBroker(t, Options{Dir: dir}))
	path := filepath.Join(dir, logName, "topics.json")
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Start(t.Context(), Options{Dir: dir}); err == nil || errors.Is(err, ErrInUse) {
			t.Errorf("got %v", err)
		}
	}
}

// What a request may ask of all partitions together does not cut an answer.
func TestFetchKeepsAbortedTransactions(t *testing.T) {
	b := startBroker(t, Options{})
	client := newClient(t, b.Addresses()[0], kgo.TransactionalID("tx"))
	writer.CreateTopic(t, client, "x", 1)
	for i, end := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit, kgo.TryAbort} {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		writer.Produce(t, client, record("x", 0, strconv.Itoa(i)+strings.Repeat("x", 1000)))
		if err := client.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	consumer := newClient(t, b.Addresses()[0], kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxBytes(100),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"x": {0: kgo.NewOffset().AtStart()}}))
	fetched := consumer.PollFetches(t.Context())
	if records := fetched.Records(); len(records) != 1 || records[0].Value[0] != '1' {
		t.Errorf("%d records, %v", len(records), fetched.Errors())
	}
}
