package memory_test

import (
	"errors"
	"testing"

	"millrace/state/conformance"
	"millrace/state/memory"
)

func TestConformance(t *testing.T) { conformance.Run(t, memory.NewDisk().Open) }

func TestOpenTwice(t *testing.T) {
	disk := memory.NewDisk()
	if _, err := disk.Open("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Open("a"); !errors.Is(err, memory.ErrOpen) {
		t.Errorf("got %v, want ErrOpen", err)
	}
}
