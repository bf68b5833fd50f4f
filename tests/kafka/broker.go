// Package kafka gives tests a real Apache Kafka broker, where one is at hand:
// the brokers that MILLRACE_TEST_BROKERS names, or a single KRaft node whose
// jars start.sh has fetched. Tests that get none run on the embedded broker
// alone.
package kafka

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// brokersVariable names running brokers, host:port separated by commas.
	brokersVariable = "MILLRACE_TEST_BROKERS"
	// jarsVariable names the folder of the jars.
	jarsVariable = "MILLRACE_KAFKA_DIR"
	// requireVariable, when set, makes tests fail that find no real broker.
	requireVariable = "MILLRACE_REQUIRE_KAFKA"

	version      = "4.3.1"
	clusterID    = "MkU3OEVBNTcwNTJENDM2Qg"
	startTimeout = 2 * time.Minute // a loaded machine takes several times the usual 4 s
	stopTimeout  = 30 * time.Second
)

//go:embed server.properties
var properties string

//go:embed java.options
var javaOptions string

// watch kills Java ($1) and removes the folder ($2) when the test's process is
// gone, however it went: its input then ends.
const watch = `cat >/dev/null; kill -9 "$1" 2>/dev/null; sleep 0.2; rm -rf "$2"`

// shared keeps the broker referenced: unreferenced, its guard's input would be
// closed.
var shared struct {
	once   sync.Once
	broker *Broker
	err    error
}

// Start gives the brokers that all tests of this process share, and starts one
// at the first call. ok is false where there is neither a named broker nor the
// jars to start one; a broker that fails to start fails the test. Tests keep
// apart by the names of their topics, groups and transactional ids.
func Start(t testing.TB) (addresses []string, ok bool) {
	t.Helper()
	if named := os.Getenv(brokersVariable); named != "" {
		return strings.Split(named, ","), true
	}
	if !Available() {
		refuseToGoWithout(t)
		return nil, false
	}
	shared.once.Do(func() { shared.broker, shared.err = start() })
	if shared.err != nil {
		t.Fatalf("start Kafka: %v", shared.err)
	}
	return shared.broker.Addresses(), true
}

// refuseToGoWithout fails a test that must not pass without a real broker.
func refuseToGoWithout(t testing.TB) {
	t.Helper()
	if os.Getenv(requireVariable) != "" {
		t.Fatalf("%s is set, but there is no Apache Kafka: tests/kafka/start.sh fetch brings one", requireVariable)
	}
}

// StartOwn starts a broker for this test alone, which may kill and restart it;
// it ends with the test. ok is false where the jars are not there.
func StartOwn(t testing.TB) (b *Broker, ok bool) {
	t.Helper()
	if !Available() {
		refuseToGoWithout(t)
		return nil, false
	}
	b, err := start()
	if err != nil {
		t.Fatalf("start Kafka: %v", err)
	}
	t.Cleanup(b.release)
	return b, true
}

// Available tells whether a broker can be started here.
func Available() bool {
	for _, program := range []string{"java", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			return false
		}
	}
	found, err := filepath.Glob(filepath.Join(jarsDir(), "kafka_*-"+version+".jar"))
	return err == nil && len(found) > 0
}

func jarsDir() string {
	if dir := os.Getenv(jarsVariable); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "millrace", "kafka-"+version)
}

// Broker is a single-node Kafka. One goroutine uses it.
type Broker struct {
	dir   string
	port  int
	java  *exec.Cmd
	ended chan struct{} // closed when Java has
	guard *exec.Cmd     // runs watch
	input io.Closer     // of guard
}

func start() (*Broker, error) {
	dir, err := os.MkdirTemp("", "millrace-kafka-")
	if err != nil {
		return nil, err
	}
	b := &Broker{dir: dir}
	if err := b.format(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := b.Restart(); err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// Addresses are the bootstrap addresses; they stay over Kill and Restart.
func (b *Broker) Addresses() []string { return []string{b.address()} }

func (b *Broker) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(b.port)) }

func (b *Broker) propertiesPath() string { return filepath.Join(b.dir, "server.properties") }

func (b *Broker) format() error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	b.port = ports[0]
	text := strings.NewReplacer(
		"@PORT@", strconv.Itoa(ports[0]), "@CONTROLLER_PORT@", strconv.Itoa(ports[1]), "@DIR@", b.dir,
	).Replace(properties)
	if err := os.WriteFile(b.propertiesPath(), []byte(text), 0o644); err != nil {
		return err
	}
	format := exec.Command("java", java("kafka.tools.StorageTool", "format", "-t", clusterID, "-c", b.propertiesPath())...)
	if out, err := format.CombinedOutput(); err != nil {
		return fmt.Errorf("format: %w\n%s", err, out)
	}
	return nil
}

func java(arguments ...string) []string {
	return append(append(strings.Fields(javaOptions), "-cp", filepath.Join(jarsDir(), "*")), arguments...)
}

// freePorts finds ports below 32768, where outgoing connections take none.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range 1000 {
		port := 10000 + rand.IntN(9000)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		defer listener.Close()
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("no free ports")
}

// Restart starts the broker again after Kill or Stop and returns when it
// answers.
func (b *Broker) Restart() error {
	log, err := os.OpenFile(filepath.Join(b.dir, "broker.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	b.java = exec.Command("java", java("kafka.Kafka", b.propertiesPath())...)
	b.java.Stdout, b.java.Stderr = log, log
	if err := b.java.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	b.ended = ended
	go func(java *exec.Cmd) {
		_ = java.Wait() // how it ended is in its log
		close(ended)
	}(b.java)
	if err := b.startGuard(); err != nil {
		return err
	}
	if err := b.awaitReady(); err != nil {
		return fmt.Errorf("%w\n%s", err, b.logTail())
	}
	return nil
}

func (b *Broker) startGuard() (err error) {
	b.guard = exec.Command("sh", "-c", watch, "watch", strconv.Itoa(b.java.Process.Pid), b.dir)
	if b.input, err = b.guard.StdinPipe(); err != nil {
		return err
	}
	return b.guard.Start()
}

func (b *Broker) alive() bool {
	select {
	case <-b.ended:
		return false
	default:
		return true
	}
}

func (b *Broker) awaitReady() error {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.address()))
	if err != nil {
		return err
	}
	defer client.Close()
	for end := time.Now().Add(startTimeout); ; {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err := client.Ping(ctx)
		cancel()
		if err == nil {
			return nil
		}
		if !b.alive() {
			return errors.New("the broker ended")
		}
		if time.Now().After(end) {
			return fmt.Errorf("the broker does not answer: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (b *Broker) logTail() string {
	raw, err := os.ReadFile(filepath.Join(b.dir, "broker.log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(raw), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// Kill ends the broker as a crash of its process would. What it had written
// stays for Restart.
//
// Kafka 4.3.1 that is killed after it has answered EndTxn and before it has
// written the markers may, being the only node, never write them: its
// coordinator comes up before it knows the topic's leader, drops the marker and
// calls the transaction complete. The partition's last stable offset then
// stands still until the same producer ends another transaction there. A test
// that cannot bear this reads the topic to its end (reader.ReadAll) before Kill.
func (b *Broker) Kill() error {
	if err := b.java.Process.Kill(); err != nil {
		return err
	}
	return b.awaitEnd()
}

// Stop ends the broker in good order.
func (b *Broker) Stop() error {
	if err := b.java.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return b.awaitEnd()
}

// awaitEnd waits until Java has gone, and ends the guard before it would
// clean up.
func (b *Broker) awaitEnd() error {
	select {
	case <-b.ended:
	case <-time.After(stopTimeout):
		return errors.New("the broker does not end")
	}
	if err := b.guard.Process.Kill(); err != nil {
		return err
	}
	_ = b.guard.Wait() // reports the kill
	return nil
}

// release kills the broker and removes its folder.
func (b *Broker) release() {
	if b.java != nil && b.java.Process != nil && b.alive() {
		_ = b.java.Process.Kill()
		<-b.ended
	}
	if b.input != nil {
		_ = b.input.Close()
		_ = b.guard.Wait()
	}
	_ = os.RemoveAll(b.dir)
}
