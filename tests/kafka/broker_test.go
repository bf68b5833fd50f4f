package kafka

import (
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/tests/kafka/reader"
	"millrace/tests/kafka/writer"
)

func TestKillAndRestart(t *testing.T) {
	b, ok := StartOwn(t)
	if !ok {
		return
	}
	client := writer.NewClient(t, b.Addresses(), kgo.TransactionalID("killed"))
	writer.CreateTopic(t, client, "kept", 1)
	writer.Transact(t, client, "kept", 1, "a", kgo.TryCommit)
	if _, err := reader.ReadAll(t.Context(), b.Addresses(), "kept"); err != nil { // the markers are written
		t.Fatal(err)
	}
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", b.Addresses()[0]); err == nil {
		_ = conn.Close()
		t.Error("the broker answers after Kill")
	}
	if err := b.Restart(); err != nil {
		t.Fatal(err)
	}
	records, err := reader.ReadAll(t.Context(), b.Addresses(), "kept")
	if err != nil || reader.Values(records) != "a" {
		t.Errorf("after the restart: %v, %v", records, err)
	}
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
}
