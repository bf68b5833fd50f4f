package docs

import (
	"fmt"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/sql/types"
	"millrace/state"
)

// encodings are values whose bytes the page shows.
var encodings = []struct {
	value string
	t     *types.Type
	set   func(v *column.Vector)
}{
	{"NULL", types.Integer, func(v *column.Vector) { v.SetNull(0) }},
	{"TRUE", types.Boolean, func(v *column.Vector) { v.SetBool(0, true) }},
	{"1", types.Integer, func(v *column.Vector) { v.SetInt(0, 1) }},
	{"-1", types.Bigint, func(v *column.Vector) { v.SetInt(0, -1) }},
	{"1.0e0", types.Double, func(v *column.Vector) { v.SetDouble(0, 1) }},
	{"-1.0e0", types.Double, func(v *column.Vector) { v.SetDouble(0, -1) }},
	{"0.5", types.DecimalOf(2, 1), func(v *column.Vector) { v.SetDecimal(0, types.DecimalFromInt(5)) }},
	{"'ab'", types.String, func(v *column.Vector) { v.SetText(0, "ab") }},
	{"TO_BYTES('0001', 'hex')", types.Bytes, func(v *column.Vector) { v.SetText(0, "\x00\x01") }},
	{"ARRAY[1, NULL]", types.ArrayOf(types.Integer), func(v *column.Vector) {
		start := v.Children[0].Extend(2)
		v.Children[0].SetInt(start, 1)
		v.SetSpan(0, start, 2)
	}},
	{"MAP('k' := 1)", types.MapOf(types.String, types.Integer), func(v *column.Vector) {
		start := v.Children[0].Extend(1)
		v.Children[1].Extend(1)
		v.Children[0].SetText(start, "k")
		v.Children[1].SetInt(start, 1)
		v.SetSpan(0, start, 1)
	}},
	{"STRUCT(A := 1, B := NULL)", types.StructOf(types.Field{Name: "A", Type: types.Integer}, types.Field{Name: "B", Type: types.String}), func(v *column.Vector) {
		v.Children[0].SetInt(0, 1)
		v.Children[1].SetNull(0)
		v.Valid.Set(0)
	}},
}

func TestEncodings(t *testing.T) {
	var b strings.Builder
	b.WriteString("| value | type | store key | row |\n|---|---|---|---|\n")
	for _, e := range encodings {
		v := column.New(e.t, 1)
		e.set(v)
		columns := []*column.Vector{v}
		key, row := state.AppendKey(nil, columns, 0), column.AppendRow(nil, columns, 0)
		b.WriteString(tableLine([]string{code(e.value), code(e.t.String()), code(fmt.Sprintf("% x", key)), code(fmt.Sprintf("% x", row))}) + "\n")
	}
	path := documents + "/formats.md"
	document := readFile(t, path)
	settle(t, path, document, section(t, document, "encodings", b.String()))
}
