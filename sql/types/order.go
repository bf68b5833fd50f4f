package types

// CompareText orders texts by UTF-16 code unit, as Java does. For valid UTF-8
// this is the order of the bytes, but for characters beyond U+FFFF: their
// surrogates come before U+E000..U+FFFF.
func CompareText(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		less := x < y
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			less = !less
		}
		if less {
			return -1
		}
		return 1
	}
	switch {
	case len(a) < len(b):
		return -1
	case len(a) > len(b):
		return 1
	}
	return 0
}
