package kafkaio

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// history builds a partition's batches: "7 a" is a batch of producer 7 in its
// transaction, "7.1 a" one of its next epoch, "- a" one without transaction,
// "7 COMMIT" and "7 ABORT" are markers.
func history(t *testing.T, lines ...string) []byte {
	t.Helper()
	var set []byte
	for offset, line := range lines {
		who, what, _ := strings.Cut(line, " ")
		producer := BatchProducer{ID: -1, Epoch: -1}
		if who != "-" {
			producer.Transactional = true
			if _, err := fmt.Sscanf(who+".0", "%d.%d", &producer.ID, &producer.Epoch); err != nil {
				t.Fatal(err)
			}
		}
		run := &Records{}
		attributes := uint16(0)
		switch what {
		case "COMMIT":
			run.Append(0, 0, []byte{0, 0, 0, 1}, nil, nil)
			attributes = flagControl
		case "ABORT":
			run.Append(0, 0, []byte{0, 0, 0, 0}, nil, nil)
			attributes = flagControl
		default:
			run.Append(0, 0, nil, []byte(what), nil)
		}
		batch := encode(t, run, NoCompression, producer)
		binary.BigEndian.PutUint64(batch, uint64(offset))
		binary.BigEndian.PutUint16(batch[21:], binary.BigEndian.Uint16(batch[21:])|attributes)
		set = append(set, resum(batch)...)
	}
	return set
}

func TestCommittedFilter(t *testing.T) {
	tests := []struct {
		name    string
		aborted []AbortedTransaction
		history []string
		want    string
	}{
		{"plain", nil, []string{"- a", "- b"}, "ab"},
		{"commit", nil, []string{"7 a", "- b", "7 COMMIT"}, "ab"},
		{"abort", []AbortedTransaction{{7, 0}}, []string{"7 a", "- b", "7 ABORT"}, "b"},
		{"interleaved", []AbortedTransaction{{8, 1}}, []string{"7 a", "8 b", "7 c", "8 d", "8 ABORT", "7 COMMIT"}, "ac"},
		{
			"one producer, later commit",
			[]AbortedTransaction{{7, 3}},
			[]string{"7 a", "7 b", "7 COMMIT", "7 c", "7 ABORT", "7 d", "7 COMMIT"},
			"abd",
		},
		{
			"list out of order, twice aborted",
			[]AbortedTransaction{{7, 4}, {8, 1}, {7, 0}},
			[]string{"7 a", "8 b", "7 ABORT", "8 ABORT", "7 c", "- d", "7 ABORT", "7 e", "7 COMMIT"},
			"de",
		},
		{"missing marker", []AbortedTransaction{{7, 0}}, []string{"7 a", "7 b", "7.1 c", "7.1 COMMIT"}, "c"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var filter CommittedFilter
			filter.Begin(test.aborted)
			set := history(t, test.history...)
			var run Records
			for len(set) > 0 {
				var batch Batch
				rest, complete, err := NextBatch(set, &batch)
				if err != nil || !complete {
					t.Fatalf("complete %t, error %v", complete, err)
				}
				if filter.Keep(&batch) {
					if _, err := batch.AppendTo(&run, 0, nil); err != nil {
						t.Fatal(err)
					}
				}
				set = rest
			}
			var got strings.Builder
			for _, value := range run.Values {
				got.Write(value)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
