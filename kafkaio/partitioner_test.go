package kafkaio

import "testing"

// The hashes are those that Kafka's own unit test of murmur2 lists.
func TestMurmur2(t *testing.T) {
	for text, want := range map[string]int32{
		"21":                         -973932308,
		"foobar":                     -790332482,
		"a-little-bit-long-string":   -985981536,
		"a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		if got := int32(murmur2([]byte(text))); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestPartitionFor(t *testing.T) {
	for _, key := range [][]byte{nil, {}, []byte("21"), []byte("foobar")} {
		for partitions := 1; partitions < 20; partitions++ {
			if got := PartitionFor(key, partitions); got < 0 || int(got) >= partitions {
				t.Errorf("%q: partition %d of %d", key, got, partitions)
			}
		}
	}
	if got, want := PartitionFor([]byte("21"), 10), int32((-973932308&0x7fffffff)%10); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}
