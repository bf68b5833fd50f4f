package fn

import "millrace/exec/column"

// scratch is memory that functions use within a row and keep for the next, so
// that a row costs no allocation.
type scratch struct {
	text     []byte
	elements []element
	order    []int
	keys     keySet
	seen     keySet
	json     jsonParser
	flat     flat
	zones    [2]namedZone
}

// begin is an empty buffer for a text of unknown length; end takes it back.
// Nothing else may begin a text in between.
func (c *Call) begin() []byte { return c.scratch.text[:0] }

// end sets row i of the result to a copy of a text that was appended to the
// buffer of begin.
func (c *Call) end(i int, text []byte) {
	c.scratch.text = text
	c.Out.SetText(i, c.Arena.Copy(column.View(text)))
}
