package fuzz

// choices turns a fuzzer's bytes into decisions. When they are used up, each
// decision is the first, which ends every repetition and recursion.
type choices struct{ data []byte }

// n is a number below k.
func (c *choices) n(k int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := int(c.data[0])
	c.data = c.data[1:]
	if k > 256 && len(c.data) > 0 {
		b = b<<8 | int(c.data[0])
		c.data = c.data[1:]
	}
	return b % k
}

// chance is true once in k decisions, and never when the bytes are used up.
func (c *choices) chance(k int) bool { return c.n(k) == k-1 }

func (c *choices) pick(list ...string) string { return list[c.n(len(list))] }
