package fn

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// A sketch counts different values in little memory: HyperLogLog with 2^14
// registers of a byte behind the byte that says the form, its estimator that of
// O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches",
// 2017, which needs no correction tables.
const (
	sketchBits      = 14
	sketchRegisters = 1 << sketchBits
	sketchRanks     = 64 - sketchBits // the greatest rank is one more
)

func isSketch(state []byte) bool { return len(state) > 0 && state[0] == sketchForm }

func checkSketch(state []byte) error {
	if len(state) != 1+sketchRegisters {
		return fmt.Errorf("%w: a sketch of %d bytes", ErrState, len(state))
	}
	for _, rank := range state[1:] {
		if rank > sketchRanks+1 {
			return fmt.Errorf("%w: a sketch with rank %d", ErrState, rank)
		}
	}
	return nil
}

func newSketch() []byte {
	sketch := make([]byte, 1+sketchRegisters)
	sketch[0] = sketchForm
	return sketch
}

// place is where in a sketch a value counts, and its rank.
func place(identity []byte) (register int, rank byte) {
	digest := sha256.Sum256(identity)
	hash := binary.LittleEndian.Uint64(digest[:])
	rest := hash<<sketchBits | 1<<(sketchBits-1)
	return 1 + int(hash>>(64-sketchBits)), byte(bits.LeadingZeros64(rest) + 1)
}

func addToSketch(dst, state, identity []byte) ([]byte, bool, error) {
	if len(state) != 1+sketchRegisters {
		return dst, false, checkSketch(state)
	}
	register, rank := place(identity)
	if state[register] >= rank {
		return dst, false, nil
	}
	start := len(dst)
	dst = append(dst, state...)
	dst[start+register] = rank
	return dst, true, nil
}

// mergeSketches appends a sketch of the values of both.
func mergeSketches(dst, state, other []byte) ([]byte, error) {
	for _, sketch := range [][]byte{state, other} {
		if err := checkSketch(sketch); err != nil {
			return dst, err
		}
	}
	start := len(dst)
	dst = append(dst, state...)
	for k, rank := range other {
		dst[start+k] = max(dst[start+k], rank)
	}
	return dst, nil
}

// estimate is about how many different values a sketch has seen.
func estimate(state []byte) (int64, error) {
	if err := checkSketch(state); err != nil {
		return 0, err
	}
	var counts [sketchRanks + 2]float64
	for _, rank := range state[1:] {
		counts[rank]++
	}
	const registers = float64(sketchRegisters)
	z := registers * estimateTau(1-counts[sketchRanks+1]/registers)
	for rank := sketchRanks; rank >= 1; rank-- {
		z = 0.5 * (z + counts[rank])
	}
	z += registers * estimateSigma(counts[0]/registers)
	return int64(math.Round(registers * registers / (2 * math.Ln2 * z))), nil
}

func estimateSigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x *= x
		before := z
		z += x * y
		y += y
		if z == before {
			return z
		}
	}
}

func estimateTau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		z -= (1 - x) * (1 - x) * y
		if z == before {
			return z / 3
		}
	}
}
