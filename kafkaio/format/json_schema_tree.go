package format

// jsonTree is a JSON value whose objects keep the order of their members, which
// is the order of columns where a schema says no other.
type jsonTree struct {
	raw     []byte // the value's text
	kind    byte   // its first character; 0 of a number
	text    string // of a text
	names   []string
	members map[string]*jsonTree // the last one of each name
	items   []*jsonTree
}

// parseJSONTree reads a text that is one JSON value; the fault says what is
// wrong if it is not. The tree has views into b.
func parseJSONTree(b []byte) (tree *jsonTree, fault error) {
	var d jsonDecoder
	start := skipSpace(b, 0)
	end := d.skip(b, start, 0)
	if end >= 0 && skipSpace(b, end) < len(b) {
		end = d.syntax(skipSpace(b, end), "there is more behind the value")
	}
	if end < 0 {
		return nil, d.fault.recordError(b)
	}
	tree, _ = buildJSONTree(b, start)
	return tree, nil
}

// buildJSONTree builds the checked value at i and gives the offset behind it.
// Its recursion is bounded by the depth limit of the check.
func buildJSONTree(b []byte, i int) (*jsonTree, int) {
	tree := &jsonTree{kind: b[i]}
	start := i
	switch b[i] {
	case '"':
		tree.text, i = unescapedText(b, i)
	case '{':
		tree.members = map[string]*jsonTree{}
		for i = skipSpace(b, i+1); b[i] != '}'; i = skipComma(b, i) {
			var name string
			name, i = unescapedText(b, i)
			i = skipSpace(b, skipSpace(b, i)+1) // the colon
			if tree.members[name] == nil {
				tree.names = append(tree.names, name)
			}
			tree.members[name], i = buildJSONTree(b, i)
		}
		i++
	case '[':
		for i = skipSpace(b, i+1); b[i] != ']'; i = skipComma(b, i) {
			var item *jsonTree
			item, i = buildJSONTree(b, i)
			tree.items = append(tree.items, item)
		}
		i++
	case 't', 'n':
		i += 4
	case 'f':
		i += 5
	default:
		tree.kind = 0
		i = scanNumber(b, i)
	}
	tree.raw = b[start:i]
	return tree, i
}

// unescapedText is the checked text at i.
func unescapedText(b []byte, i int) (text string, next int) {
	end, escaped, _ := scanText(b, i+1)
	if escaped {
		return string(appendUnescaped(nil, b[i+1:end])), end + 1
	}
	return string(b[i+1 : end]), end + 1
}

// skipComma reads from behind a checked value to the next one or the closing
// bracket.
func skipComma(b []byte, i int) int {
	if i = skipSpace(b, i); b[i] == ',' {
		return skipSpace(b, i+1)
	}
	return i
}

// member is the member called name of an object, nil if there is none.
func (t *jsonTree) member(name string) *jsonTree {
	return t.members[name] // of what is no object, a nil map
}

// textOf is the text of the member called name, empty if it is none.
func (t *jsonTree) textOf(name string) string {
	if member := t.members[name]; member != nil {
		return member.text
	}
	return ""
}

// scalar is the text of a text, number or boolean; ok is false for other values.
func (t *jsonTree) scalar() (text string, ok bool) {
	switch t.kind {
	case '"':
		return t.text, true
	case 0, 't', 'f':
		return string(t.raw), true
	}
	return "", false
}
