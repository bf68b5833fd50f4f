package fn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"millrace/exec/column"
	"millrace/sql/types"
)

var jsonFunctions = []*Function{
	{
		Name: "EXTRACTJSONFIELD", Doc: "Returns what a path such as $.a[0].b finds in a JSON text.",
		Overloads: []*Overload{{Signature: "(STRING, STRING) STRING", Row: extractJSONField}},
	},
	{
		Name: "IS_JSON_STRING", Doc: "Tells whether a text is valid JSON.",
		Overloads: []*Overload{{Signature: "(STRING) BOOLEAN", Nulls: true, Row: func(c *Call, i int) error {
			valid := false
			if !c.null(0, i) {
				_, _, err := c.json(i)
				valid = err == nil
			}
			c.Out.SetBool(i, valid)
			return nil
		}}},
	},
	{
		Name: "JSON_ARRAY_LENGTH", Doc: "Returns the number of elements of a JSON array.",
		Overloads: []*Overload{{Signature: "(STRING) INTEGER", Row: func(c *Call, i int) error {
			p, v, err := c.json(i)
			if err == nil && p.nodes[v].kind == jsonArray {
				c.Out.SetInt(i, int64(p.nodes[v].count))
			}
			return err
		}}},
	},
	{
		Name: "JSON_ARRAY_CONTAINS", Doc: "Tells whether a JSON array has an element of the type and value of the argument.",
		Overloads: []*Overload{{Signature: "(STRING, T) BOOLEAN", Nulls: true, Row: jsonArrayContains}},
	},
	{
		Name: "JSON_CONCAT", Doc: "Merges JSON objects, or joins JSON arrays and values into one array.",
		Overloads: []*Overload{{Signature: "(STRING, STRING...) STRING", Row: jsonConcat}},
	},
	{
		Name: "JSON_ITEMS", Doc: "Returns the elements of a JSON array as JSON texts.",
		Overloads: []*Overload{{Signature: "(STRING) ARRAY<STRING>", Row: jsonItems}},
	},
	{
		Name: "JSON_KEYS", Doc: "Returns the keys of a JSON object.",
		Overloads: []*Overload{{Signature: "(STRING) ARRAY<STRING>", Row: jsonKeys}},
	},
	{
		Name: "JSON_RECORDS", Doc: "Returns the members of a JSON object as a map of texts.",
		Overloads: []*Overload{{Signature: "(STRING) MAP<STRING, STRING>", Row: jsonRecords}},
	},
	{
		Name: "TO_JSON_STRING", Doc: "Writes a value as JSON text.",
		Overloads: []*Overload{{Signature: "(T) STRING", Nulls: true, Row: func(c *Call, i int) error {
			c.end(i, appendJSON(c.begin(), c.Args[0], i))
			return nil
		}}},
	},
}

var errPath = errors.New("a path is $ and then .name or [index]")

// jsonStep is a member or, with an empty name, an element.
type jsonStep struct {
	name  string
	index int
	at    bool // element
}

func compileJSONPath(path string) ([]jsonStep, error) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, fmt.Errorf("'%s': %w", path, errPath)
	}
	var steps []jsonStep
	for rest != "" {
		var step jsonStep
		switch {
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			step.name, rest = rest[1:end], rest[end:]
		case rest[0] == '[':
			inner, after, found := strings.Cut(rest[1:], "]")
			if !found {
				return nil, fmt.Errorf("'%s': %w", path, errPath)
			}
			rest = after
			if name, quoted := unquote(inner); quoted {
				step.name = name
				break
			}
			index, err := strconv.Atoi(inner)
			if err != nil {
				return nil, fmt.Errorf("'%s': %w", path, errPath)
			}
			step = jsonStep{index: index, at: true}
		}
		if !step.at && step.name == "" {
			return nil, fmt.Errorf("'%s': %w", path, errPath)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func unquote(text string) (string, bool) {
	if len(text) >= 2 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1], true
	}
	return "", false
}

// json takes argument 0 apart, a JSON text. The nodes are valid until the next
// call; texts are views of the argument or texts of the arena.
func (c *Call) json(i int) (p *jsonParser, root int32, err error) {
	p = &c.scratch.json
	p.reset(c.Arena)
	root, err = p.parse(c.text(0, i))
	return p, root, err
}

// follow is the node that a path leads to from v, or noNode.
func (p *jsonParser) follow(v int32, steps []jsonStep) int32 {
	for _, step := range steps {
		switch {
		case v == noNode:
		case !step.at && p.nodes[v].kind == jsonObject:
			v = p.member(v, step.name)
		case step.at && p.nodes[v].kind == jsonArray:
			v = p.item(v, step.index)
		default:
			v = noNode
		}
	}
	return v
}

func extractJSONField(c *Call, i int) error {
	steps, err := cached(c, c.text(1, i), compileJSONPath)
	if err != nil {
		return err
	}
	p, v, err := c.json(i)
	if err != nil {
		return err
	}
	if v = p.follow(v, steps); v != noNode && p.nodes[v].kind != jsonNull {
		c.end(i, p.appendBare(c.begin(), v))
	}
	return nil
}

func jsonArrayContains(c *Call, i int) error {
	found := false
	if !c.null(0, i) {
		if p, v, err := c.json(i); err == nil && p.nodes[v].kind == jsonArray {
			for item := p.nodes[v].first; item != noNode && !found; item = p.nodes[item].next {
				found = p.nodes[item].equals(c.Args[1], i)
			}
		}
	}
	c.Out.SetBool(i, found)
	return nil
}

// equals tells whether n has the JSON type and the value of row i.
func (n *jsonNode) equals(vector *column.Vector, i int) bool {
	if vector.Null(i) {
		return n.kind == jsonNull
	}
	switch vector.Type.Kind {
	case types.KindBoolean:
		return n.kind == jsonBoolean && n.truth == vector.Bools[i]
	case types.KindString:
		return n.kind == jsonString && n.text == vector.Texts[i]
	}
	return n.kind == jsonNumber && n.equalsNumber(vector, i)
}

func (n *jsonNode) equalsNumber(vector *column.Vector, i int) bool {
	whole := !strings.ContainsAny(n.text, ".eE")
	switch vector.Type.Kind {
	case types.KindInteger, types.KindBigint:
		if !whole {
			return false
		}
		number, err := strconv.ParseInt(n.text, 10, 64)
		return err == nil && number == vector.Ints[i]
	case types.KindDouble:
		if whole {
			return false
		}
		number, err := strconv.ParseFloat(n.text, 64)
		return err == nil && number == vector.Doubles[i]
	case types.KindDecimal:
		number, err := types.ParseDecimal(n.text, vector.Type)
		return err == nil && number == vector.Decimals[i]
	}
	return false
}

// jsonConcat joins the parsed texts by chaining their members or items anew.
func jsonConcat(c *Call, i int) error {
	p := &c.scratch.json
	p.reset(c.Arena)
	c.scratch.order = c.scratch.order[:0]
	kind := jsonObject
	for k := range c.Args {
		if strings.TrimSpace(c.text(k, i)) == "" {
			return nil
		}
		v, err := p.parse(c.text(k, i))
		if err != nil {
			return err
		}
		c.scratch.order = append(c.scratch.order, int(v))
		if p.nodes[v].kind != jsonObject {
			kind = jsonArray
		}
	}
	result, last := p.node(kind, ""), int32(noNode)
	for _, root := range c.scratch.order {
		first, next := int32(root), int32(noNode)
		if p.nodes[root].kind == kind {
			first = p.nodes[root].first
		}
		for item := first; item != noNode; item = next {
			next = p.nodes[item].next
			p.attach(result, last, item)
			last = item
		}
	}
	if kind == jsonObject {
		p.unite(result)
	}
	c.end(i, p.append(c.begin(), result))
	return nil
}

var errNoArray = errors.New("the JSON text is no array")

func jsonItems(c *Call, i int) error {
	p, v, err := c.json(i)
	if err != nil {
		return err
	}
	if p.nodes[v].kind != jsonArray {
		return errNoArray
	}
	child, count := c.Out.Children[0], int(p.nodes[v].count)
	at := child.Extend(count)
	c.Out.SetSpan(i, at, count)
	for item := p.nodes[v].first; item != noNode; item = p.nodes[item].next {
		c.scratch.text = p.append(c.scratch.text[:0], item)
		child.SetText(at, c.Arena.Copy(column.View(c.scratch.text)))
		at++
	}
	return nil
}

func jsonKeys(c *Call, i int) error {
	p, v, err := c.json(i)
	if err != nil || p.nodes[v].kind != jsonObject {
		return err
	}
	child, count := c.Out.Children[0], int(p.nodes[v].count)
	at := child.Extend(count)
	c.Out.SetSpan(i, at, count)
	for m := p.nodes[v].first; m != noNode; m = p.nodes[m].next {
		child.SetText(at, p.nodes[m].key)
		at++
	}
	return nil
}

func jsonRecords(c *Call, i int) error {
	p, v, err := c.json(i)
	if err != nil || p.nodes[v].kind != jsonObject {
		return err
	}
	keys, values, count := c.Out.Children[0], c.Out.Children[1], int(p.nodes[v].count)
	at := keys.Extend(count)
	values.Extend(count)
	c.Out.SetSpan(i, at, count)
	for m := p.nodes[v].first; m != noNode; m = p.nodes[m].next {
		c.scratch.text = p.appendBare(c.scratch.text[:0], m)
		keys.SetText(at, p.nodes[m].key)
		values.SetText(at, c.Arena.Copy(column.View(c.scratch.text)))
		at++
	}
	return nil
}
