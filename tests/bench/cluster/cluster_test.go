package cluster

import (
	"testing"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
	"millrace/kafkaio/embedded"
)

func newLog(t *testing.T) kafkaio.Log {
	t.Helper()
	broker, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := broker.Close(); err != nil {
			t.Error(err)
		}
	})
	log, err := client.Open(t.Context(), client.Options{Brokers: broker.Addresses()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log
}

// TestWorks runs each work over a few orders and checks what it wrote.
func TestWorks(t *testing.T) {
	const records = 20_000
	log := newLog(t)
	works := Works()
	if _, _, err := Load(t.Context(), log, records, works); err != nil {
		t.Fatal(err)
	}
	for _, w := range works {
		t.Run(w.Name, func(t *testing.T) {
			result, err := Run(t.Context(), log, Setup{Work: w.Name, Run: "test_" + w.Name, Records: records, Workers: 2, StateDirectory: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if result.Failure != "" {
				t.Fatal(result.Failure)
			}
			if want := int64(records); result.In < want {
				t.Errorf("%d records read, want at least %d", result.In, want)
			}
			if err := Check(t.Context(), log, w, "test_"+w.Name, records); err != nil {
				t.Error(err)
			}
		})
	}
}
