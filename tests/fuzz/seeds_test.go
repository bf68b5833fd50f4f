package fuzz

import (
	"math/rand/v2"
	"testing"
)

// addSeeds gives the fuzzer inputs that stand for long scripts. They run as
// tests, too.
func addSeeds(f *testing.F) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 11))
		data := make([]byte, 1600)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
}
