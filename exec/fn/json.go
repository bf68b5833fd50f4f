package fn

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
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
				_, err := parseJSON(c.text(0, i))
				valid = err == nil
			}
			c.Out.SetBool(i, valid)
			return nil
		}}},
	},
	{
		Name: "JSON_ARRAY_LENGTH", Doc: "Returns the number of elements of a JSON array.",
		Overloads: []*Overload{{Signature: "(STRING) INTEGER", Row: func(c *Call, i int) error {
			v, err := parseJSON(c.text(0, i))
			if err == nil && v.kind == jsonArray {
				c.Out.SetInt(i, int64(len(v.items)))
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
			c.Out.SetText(i, c.Arena.Keep(AppendJSON(c.Arena.Tail(64), c.Args[0], i)))
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

func (v *jsonValue) follow(steps []jsonStep) *jsonValue {
	for _, step := range steps {
		switch {
		case v == nil:
			return nil
		case !step.at:
			v = v.member(step.name)
		case v.kind != jsonArray || step.index < 0 || step.index >= len(v.items):
			return nil
		default:
			v = v.items[step.index]
		}
	}
	return v
}

func extractJSONField(c *Call, i int) error {
	steps, err := cached(c, c.text(1, i), compileJSONPath)
	if err != nil {
		return err
	}
	v, err := parseJSON(c.text(0, i))
	if err != nil {
		return err
	}
	if v = v.follow(steps); v != nil && v.kind != jsonNull {
		c.keep(i, v.bare())
	}
	return nil
}

func jsonArrayContains(c *Call, i int) error {
	found := false
	if !c.null(0, i) {
		if v, err := parseJSON(c.text(0, i)); err == nil && v.kind == jsonArray {
			found = slices.ContainsFunc(v.items, func(item *jsonValue) bool {
				return item.equals(c.Args[1], i)
			})
		}
	}
	c.Out.SetBool(i, found)
	return nil
}

// equals tells whether v has the JSON type and the value of row i.
func (v *jsonValue) equals(vector *column.Vector, i int) bool {
	if vector.Null(i) {
		return v.kind == jsonNull
	}
	whole := v.kind == jsonNumber && !strings.ContainsAny(v.text, ".eE")
	switch vector.Type.Kind {
	case types.KindBoolean:
		return v.kind == jsonBoolean && v.truth == vector.Bools[i]
	case types.KindInteger, types.KindBigint:
		number, err := strconv.ParseInt(v.text, 10, 64)
		return whole && err == nil && number == vector.Ints[i]
	case types.KindDouble:
		number, err := strconv.ParseFloat(v.text, 64)
		return v.kind == jsonNumber && !whole && err == nil && number == vector.Doubles[i]
	case types.KindDecimal:
		if v.kind != jsonNumber {
			return false
		}
		number, ok := new(big.Rat).SetString(v.text)
		other, okOther := new(big.Rat).SetString(vector.Decimals[i].Text(vector.Type.Scale))
		return len(v.text) < 400 && ok && okOther && number.Cmp(other) == 0
	case types.KindString:
		return v.kind == jsonString && v.text == vector.Texts[i]
	}
	return false
}

func jsonConcat(c *Call, i int) error {
	values := make([]*jsonValue, len(c.Args))
	objects := true
	for k := range c.Args {
		if strings.TrimSpace(c.text(k, i)) == "" {
			return nil
		}
		v, err := parseJSON(c.text(k, i))
		if err != nil {
			return err
		}
		values[k] = v
		objects = objects && v.kind == jsonObject
	}
	result := &jsonValue{kind: jsonArray, position: map[string]int{}}
	for _, v := range values {
		switch {
		case objects:
			result.kind = jsonObject
			for n, key := range v.keys {
				result.put(key, v.items[n])
			}
		case v.kind == jsonArray:
			result.items = append(result.items, v.items...)
		default:
			result.items = append(result.items, v)
		}
	}
	c.keep(i, result.appendJSON(nil))
	return nil
}

var errNoArray = errors.New("the JSON text is no array")

func jsonItems(c *Call, i int) error {
	v, err := parseJSON(c.text(0, i))
	if err != nil {
		return err
	}
	if v.kind != jsonArray {
		return errNoArray
	}
	texts := make([]string, len(v.items))
	for n, item := range v.items {
		texts[n] = string(item.appendJSON(nil))
	}
	c.setTexts(i, texts)
	return nil
}

func jsonKeys(c *Call, i int) error {
	v, err := parseJSON(c.text(0, i))
	if err != nil || v.kind != jsonObject {
		return err
	}
	c.setTexts(i, v.keys)
	return nil
}

func jsonRecords(c *Call, i int) error {
	v, err := parseJSON(c.text(0, i))
	if err != nil || v.kind != jsonObject {
		return err
	}
	texts := make([]string, len(v.items))
	for n, item := range v.items {
		texts[n] = string(item.bare())
	}
	c.setTextMap(i, v.keys, texts)
	return nil
}

// AppendJSON appends row i of v as TO_JSON_STRING writes it: fields and keys
// sorted, times in the form of CAST, BYTES in base64.
func AppendJSON(dst []byte, v *column.Vector, i int) []byte {
	if v.Null(i) {
		return append(dst, "null"...)
	}
	switch v.Type.Kind {
	case types.KindString:
		return appendJSONString(dst, v.Texts[i])
	case types.KindBytes:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), column.Bytes(v.Texts[i]))
		return append(dst, '"')
	case types.KindDate, types.KindTime, types.KindTimestamp:
		return append(AppendText(append(dst, '"'), v, i), '"')
	case types.KindDouble:
		if d := v.Doubles[i]; d != d || math.IsInf(d, 0) {
			return append(AppendText(append(dst, '"'), v, i), '"')
		}
	case types.KindArray:
		dst = append(dst, '[')
		for n := range int(v.Spans[i].Len) {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, v.Children[0], int(v.Spans[i].Start)+n)
		}
		return append(dst, ']')
	case types.KindMap, types.KindStruct:
		return appendJSONObject(dst, v, i)
	}
	return AppendText(dst, v, i)
}

func appendJSONObject(dst []byte, v *column.Vector, i int) []byte {
	type member struct {
		key   string
		value element
	}
	var members []member
	if v.Type.Kind == types.KindStruct {
		for k, field := range v.Type.Fields {
			members = append(members, member{field.Name, element{v.Children[k], i}})
		}
	} else {
		for n := range int(v.Spans[i].Len) {
			at := int(v.Spans[i].Start) + n
			members = append(members, member{string(AppendText(nil, v.Children[0], at)), element{v.Children[1], at}})
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return types.CompareText(a.key, b.key) })
	dst = append(dst, '{')
	for n, m := range members {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, m.key), ':')
		dst = AppendJSON(dst, m.value.vector, m.value.at)
	}
	return append(dst, '}')
}
