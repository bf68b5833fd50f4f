package types

import (
	"slices"
	"strings"
)

// Nearest is the name that differs least from the one a user wrote, or empty
// when none is near: at most a third of the letters, and at least one, may
// differ. Case does not count; of equally near names the first in order is taken,
// and never the name itself.
func Nearest(name string, names []string) string {
	best, bestDistance := "", max(len(name)/3, 1)+1
	for _, candidate := range slices.Sorted(slices.Values(names)) {
		if candidate == name || len(candidate) > 2*len(name)+2 || len(name) > 2*len(candidate)+2 {
			continue
		}
		if d := editDistance(strings.ToUpper(name), strings.ToUpper(candidate)); d < bestDistance && d < len(candidate) {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// editDistance is the number of letters to insert, delete, change or swap with
// their neighbour to make a into b.
func editDistance(a, b string) int {
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	current := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(last[j]+1, current[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, last, current = last, current, before
	}
	return last[len(b)]
}
