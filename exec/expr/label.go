package expr

import "unicode/utf8"

// label names an expression in messages. Its text is made at the first use: that
// of each node of a deep tree would be longer than the tree.
type label struct {
	make func() string
	text string
}

// longestLabel is the most bytes of an expression's text in a message.
const longestLabel = 400

// String is the expression's text, cut where it is long.
func (l *label) String() string {
	if l.text != "" {
		return l.text
	}
	l.text = l.make()
	if len(l.text) > longestLabel {
		end := longestLabel
		for !utf8.RuneStart(l.text[end]) {
			end--
		}
		l.text = l.text[:end] + ".."
	}
	return l.text
}
