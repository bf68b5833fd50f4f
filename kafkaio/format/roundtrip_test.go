package format

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"millrace/exec/column"
	"millrace/sql/types"
)

// drawType draws a type that nests at most depth levels.
func drawType(t *rapid.T, depth int) *types.Type {
	kinds := []types.Kind{
		types.KindBoolean, types.KindInteger, types.KindBigint, types.KindDouble, types.KindDecimal,
		types.KindString, types.KindBytes, types.KindDate, types.KindTime, types.KindTimestamp,
	}
	if depth > 0 {
		kinds = append(kinds, types.KindArray, types.KindMap, types.KindStruct)
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case types.KindDecimal:
		precision := rapid.IntRange(1, types.MaxPrecision).Draw(t, "precision")
		return types.DecimalOf(precision, rapid.IntRange(0, precision).Draw(t, "scale"))
	case types.KindArray:
		return types.ArrayOf(drawType(t, depth-1))
	case types.KindMap:
		return types.MapOf(types.String, drawType(t, depth-1))
	case types.KindStruct:
		var fields []types.Field
		for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
			fields = append(fields, types.Field{Name: "F" + strconv.Itoa(i), Type: drawType(t, depth-1)})
		}
		return types.StructOf(fields...)
	default:
		return &types.Type{Kind: kind}
	}
}

func drawFields(t *rapid.T, depth, most int) []Field {
	var fields []Field
	for i := range rapid.IntRange(1, most).Draw(t, "columns") {
		fields = append(fields, Field{"C" + strconv.Itoa(i), drawType(t, depth)})
	}
	return fields
}

// drawText draws texts with what formats have to escape.
func drawText(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{`"`, `\`, "\n", "\r", "\t", ",", " ", "#", "-", "\x00", "\x1f", "\x7f", "ä", "€", "😀", "a"}),
		rapid.String(),
	), 0, 5).Draw(t, "text")
	return strings.ToValidUTF8(strings.Join(parts, ""), "?")
}

// drawValue sets row i of v to a drawn value, or to null.
func drawValue(t *rapid.T, v *column.Vector, i int) {
	if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
		v.SetNull(i)
		return
	}
	switch v.Type.Kind {
	case types.KindBoolean:
		v.SetBool(i, rapid.Bool().Draw(t, "boolean"))
	case types.KindDouble:
		v.SetDouble(i, rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{
			math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0.1, 19.99, 1e7, 1e-3, 123456.7891,
		})).Draw(t, "double"))
	case types.KindDecimal:
		v.SetDecimal(i, drawDecimal(t, v.Type))
	case types.KindString:
		v.SetText(i, drawText(t))
	case types.KindBytes:
		v.SetText(i, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
	case types.KindArray:
		start := v.Children[0].Extend(rapid.IntRange(0, 3).Draw(t, "elements"))
		for at := start; at < v.Children[0].Len(); at++ {
			drawValue(t, v.Children[0], at)
		}
		v.SetSpan(i, start, v.Children[0].Len()-start)
	case types.KindMap:
		keys := rapid.SliceOfNDistinct(rapid.String(), 0, 3, rapid.ID[string]).Draw(t, "keys")
		start := v.Children[0].Extend(len(keys))
		v.Children[1].Extend(len(keys))
		for n, key := range keys {
			v.Children[0].SetText(start+n, key)
			drawValue(t, v.Children[1], start+n)
		}
		v.SetSpan(i, start, len(keys))
	case types.KindStruct:
		v.Valid.Set(i)
		for _, child := range v.Children {
			drawValue(t, child, i)
		}
	default:
		low, high := wholeRange(v.Type.Kind)
		v.SetInt(i, rapid.Int64Range(low, high).Draw(t, "whole"))
	}
}

func drawDecimal(t *rapid.T, of *types.Type) types.Decimal {
	digits := rapid.StringMatching(`[0-9]{1,`+strconv.Itoa(of.Precision)+`}`).Draw(t, "digits")
	d, err := types.ParseDecimal(digits, types.DecimalOf(of.Precision, 0))
	if err != nil {
		t.Fatalf("%s: %v", digits, err)
	}
	if rapid.Bool().Draw(t, "negative") {
		d = d.Negate()
	}
	return d
}

// roundTrip writes drawn rows and expects to read the same.
func roundTrip(t *rapid.T, spec Spec, fields []Field, draw func(*rapid.T, *column.Vector, int)) {
	rows := rapid.IntRange(1, 4).Draw(t, "rows")
	in := vectorsOf(fields, nil, rows)
	for i := range rows {
		for _, v := range in {
			draw(t, v, i)
		}
	}
	f, _ := Lookup(spec.Name)
	encoder := f.NewEncoder(spec, fields)
	payloads := make([][]byte, rows)
	var present []int32
	for i := range rows {
		payload, null, err := encoder.Append(nil, in, i)
		if err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
		if null {
			if len(fields) != 1 || !in[0].Null(i) {
				t.Fatalf("row %d, %s, became a null payload", i, rowText(in, i))
			}
			continue
		}
		payloads[i] = payload
		present = append(present, int32(i))
	}
	out := vectorsOf(fields, nil, rows)
	f.NewDecoder(spec, fields, nil).Decode(payloads, present, out, &column.Arena{}, func(row int32, err error) {
		t.Fatalf("%q: %v", payloads[row], err)
	})
	for _, i := range present {
		for c := range fields {
			if !column.EqualRows(in[c], int(i), out[c], int(i)) {
				t.Fatalf("%q: wrote %s, read %s", payloads[i], valueText(in[c], int(i)), valueText(out[c], int(i)))
			}
		}
	}
}

func TestRoundTripJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, Spec{Name: "JSON"}, drawFields(t, 3, 4), drawValue)
	})
}

func TestRoundTripBareJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, Spec{Name: "JSON", Unwrapped: true}, drawFields(t, 3, 1), drawValue)
	})
}

func TestRoundTripInternal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, Spec{Name: "INTERNAL"}, drawFields(t, 3, 10), drawValue)
	})
}

func TestRoundTripDelimited(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := Spec{Name: "DELIMITED", Delimiter: rapid.SampledFrom([]string{"", ";", "TAB", "SPACE", "-", "1", "e", "€"}).Draw(t, "delimiter")}
		roundTrip(t, spec, drawFields(t, 0, 4), func(t *rapid.T, v *column.Vector, i int) {
			drawValue(t, v, i)
			// The format has no empty text: it reads null.
			if v.Texts != nil && v.Texts[i] == "" {
				v.SetNull(i)
			}
		})
	})
}

func TestRoundTripKafka(t *testing.T) {
	kinds := []*types.Type{types.Integer, types.Bigint, types.Double, types.String, types.Bytes}
	rapid.Check(t, func(t *rapid.T) {
		fields := []Field{{"C", rapid.SampledFrom(kinds).Draw(t, "type")}}
		roundTrip(t, Spec{Name: "KAFKA"}, fields, drawValue)
	})
}
