package kafkaio

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeaders(t *testing.T) {
	for _, headers := range [][]Header{
		nil,
		{{Key: "a", Value: []byte("1")}},
		{{Key: "", Value: nil}, {Key: "b", Value: []byte{}}, {Key: "b", Value: make([]byte, 300)}},
	} {
		got, err := ParseHeaders(AppendHeaders(nil, headers))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(headers, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestCorruptHeaders(t *testing.T) {
	for _, block := range []string{"\x04", "\xff\xff\xff\xff\x0f", "\x02\x08ab", "\x02\x02a", "\x02\x01\x01", "\x02\x02a\x01x", "\x00x", "\x01"} {
		if headers, err := ParseHeaders([]byte(block)); !errors.Is(err, ErrCorrupt) && !(block == "\x00x" && headers == nil) {
			t.Errorf("%q gave %v, %v", block, headers, err)
		}
	}
}

func FuzzParseHeaders(f *testing.F) {
	f.Add([]byte{})
	f.Add(AppendHeaders(nil, []Header{{Key: "a", Value: []byte("1")}, {Key: "b"}}))
	f.Fuzz(func(t *testing.T, block []byte) {
		headers, err := ParseHeaders(block)
		if err != nil {
			return
		}
		again, err := ParseHeaders(AppendHeaders(nil, headers))
		if diff := cmp.Diff(headers, again); err != nil || diff != "" {
			t.Errorf("error %v, %s", err, diff)
		}
	})
}
