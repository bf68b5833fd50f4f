package badger_test

import (
	"testing"

	"millrace/state/badger"
	"millrace/state/conformance"
)

func TestConformance(t *testing.T) { conformance.Run(t, badger.Opener(badger.MemTableBytes(32))) }

func TestMemTableBytes(t *testing.T) {
	for tasks, want := range map[int]int64{0: 16 << 20, 1: 16 << 20, 8: 8 << 20, 1000: 2 << 20} {
		if got := badger.MemTableBytes(tasks); got != want {
			t.Errorf("%d tasks: got %d, want %d", tasks, got, want)
		}
	}
}

func TestOpenTwice(t *testing.T) {
	directory := t.TempDir()
	first, err := badger.Open(directory, badger.MemTableBytes(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := badger.Open(directory, badger.MemTableBytes(1)); err == nil {
		t.Error("a second store was opened in the same directory")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
}
