package expr

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"

	"millrace/exec/column"
	"millrace/exec/fn"
	"millrace/sql/types"
)

// converter sets row i of dst, which is null, from row j of src, which is not.
type converter func(dst *column.Vector, i int, src *column.Vector, j int, arena *column.Arena) error

var errOutOfRange = errors.New("the value is out of range")

type castKernel struct {
	x       Kernel
	convert converter
	out     *column.Vector
	scope   *scope
	what    *label
}

func (c *compiler) cast(n *Cast) (Kernel, error) {
	x, err := c.compile(n.X)
	if err != nil {
		return nil, err
	}
	from := n.X.Type()
	if from.Kind == types.KindInteger && n.T.Kind == types.KindBigint || types.Equal(from, n.T) {
		return &retypeKernel{x: x, t: n.T}, nil
	}
	convert, err := converterFor(from, n.T)
	if err != nil {
		return nil, err
	}
	return &castKernel{x: x, convert: convert, out: column.New(n.T, 0), scope: c.scope, what: &label{make: n.explicit}}, nil
}

func (k *castKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	v := k.x.Eval(b, selection)
	k.out.Reset(b.Len)
	for _, i := range selection {
		if v.Null(int(i)) {
			continue
		}
		if err := k.convert(k.out, int(i), v, int(i), b.Arena); err != nil {
			k.out.SetNull(int(i))
			k.scope.report(b, i, k.what, err)
		}
	}
	return k.out
}

// retypeKernel is for types that are held in the same way.
type retypeKernel struct {
	x     Kernel
	t     *types.Type
	out   column.Vector
	valid column.Bitmap
}

func (k *retypeKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	k.out = *k.x.Eval(b, selection)
	k.out.Type = k.t
	k.valid = k.valid.Resize(b.Len)
	copy(k.valid, k.out.Valid)
	k.out.Valid = k.valid
	return &k.out
}

func copyRow(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
	dst.CopyRow(i, src, j)
	return nil
}

func converterFor(from, to *types.Type) (converter, error) {
	if types.Equal(from, to) {
		return copyRow, nil
	}
	var convert converter
	switch to.Kind {
	case types.KindString:
		convert = toText(from)
	case types.KindBoolean, types.KindBytes:
		convert = textTo[to.Kind]
	case types.KindInteger, types.KindBigint:
		convert = toInteger(from, to)
	case types.KindDouble:
		convert = toDouble(from)
	case types.KindDecimal:
		convert = toDecimal(from, to)
	case types.KindDate, types.KindTime, types.KindTimestamp:
		convert = toTemporal(from, to)
	case types.KindArray, types.KindMap:
		return toElements(from, to)
	case types.KindStruct:
		return toStruct(from, to)
	}
	if convert == nil {
		return nil, fmt.Errorf("cast of %s to %s", from, to)
	}
	return convert, nil
}

// maxScalarText is more than a number or a time of any type takes as text.
const maxScalarText = 64

func toText(from *types.Type) converter {
	if !from.Nested() && from.Kind != types.KindBytes {
		return func(dst *column.Vector, i int, src *column.Vector, j int, arena *column.Arena) error {
			dst.SetText(i, arena.Keep(fn.AppendText(arena.Tail(maxScalarText), src, j)))
			return nil
		}
	}
	var buf []byte
	return func(dst *column.Vector, i int, src *column.Vector, j int, arena *column.Arena) error {
		buf = fn.AppendText(buf[:0], src, j)
		dst.SetText(i, arena.Copy(column.View(buf)))
		return nil
	}
}

var textTo = map[types.Kind]converter{
	types.KindBoolean: func(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
		dst.SetBool(i, types.ParseBoolean(src.Texts[j]))
		return nil
	},
	types.KindBytes: func(dst *column.Vector, i int, src *column.Vector, j int, arena *column.Arena) error {
		text := src.Texts[j]
		buf := arena.Alloc(base64.StdEncoding.DecodedLen(len(text)))
		n, err := base64.StdEncoding.Decode(buf, column.Bytes(text))
		if err != nil {
			return fmt.Errorf("'%s' is no base64: %w", text, types.ErrText)
		}
		dst.SetText(i, column.View(buf[:n]))
		return nil
	},
}

// toInteger cuts fractions off. A DOUBLE beyond the range becomes the nearest
// bound, as in Java; every other value beyond it fails.
func toInteger(from, to *types.Type) converter {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if to.Kind == types.KindInteger {
		low, high = math.MinInt32, math.MaxInt32
	}
	checked := func(dst *column.Vector, i int, v int64) error {
		if v < low || v > high {
			return fmt.Errorf("%d as %s: %w", v, to, errOutOfRange)
		}
		dst.SetInt(i, v)
		return nil
	}
	switch from.Kind {
	case types.KindInteger, types.KindBigint:
		return func(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
			return checked(dst, i, src.Ints[j])
		}
	case types.KindDouble:
		return func(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
			dst.SetInt(i, saturate(src.Doubles[j], low, high))
			return nil
		}
	case types.KindDecimal:
		return func(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
			v, err := wholeOf(src.Decimals[j], from.Scale)
			if err != nil {
				return err
			}
			return checked(dst, i, v)
		}
	}
	return func(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
		v, err := types.ParseInteger(src.Texts[j], to)
		if err != nil {
			return err
		}
		dst.SetInt(i, v)
		return nil
	}
}

// wholeOf is a decimal of the given scale without its fraction.
func wholeOf(d types.Decimal, scale int) (int64, error) {
	whole, err := d.Truncate(scale, 0)
	if err != nil {
		return 0, err
	}
	v, ok := whole.Small()
	if !ok {
		return 0, errOutOfRange
	}
	return v, nil
}

func saturate(v float64, low, high int64) int64 {
	switch {
	case v != v:
		return 0
	case v <= float64(low):
		return low
	case v >= float64(high):
		return high
	}
	return int64(v)
}

func toDouble(from *types.Type) converter {
	switch from.Kind {
	case types.KindInteger, types.KindBigint:
		return func(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
			dst.SetDouble(i, float64(src.Ints[j]))
			return nil
		}
	case types.KindDecimal:
		return func(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
			dst.SetDouble(i, src.Decimals[j].Double(from.Scale))
			return nil
		}
	}
	return func(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
		v, err := types.ParseDouble(src.Texts[j])
		if err != nil {
			return err
		}
		dst.SetDouble(i, v)
		return nil
	}
}

func toDecimal(from, to *types.Type) converter {
	var value func(src *column.Vector, j int) (types.Decimal, error)
	switch from.Kind {
	case types.KindInteger, types.KindBigint:
		value = func(src *column.Vector, j int) (types.Decimal, error) {
			return types.DecimalFromInt(src.Ints[j]).Rescale(0, to.Scale)
		}
	case types.KindDecimal:
		value = func(src *column.Vector, j int) (types.Decimal, error) {
			return src.Decimals[j].Round(from.Scale, to.Scale)
		}
	case types.KindDouble:
		value = func(src *column.Vector, j int) (types.Decimal, error) {
			return types.DecimalFromDouble(src.Doubles[j], to)
		}
	default:
		value = func(src *column.Vector, j int) (types.Decimal, error) {
			return types.RoundDecimal(strings.TrimSpace(src.Texts[j]), to)
		}
	}
	return func(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
		d, err := value(src, j)
		if err != nil {
			return err
		}
		if !d.Fits(to.Precision) {
			return types.ErrDecimalOverflow
		}
		dst.SetDecimal(i, d)
		return nil
	}
}

func toTemporal(from, to *types.Type) converter {
	var value func(src *column.Vector, j int) (int64, error)
	switch {
	case from.Kind == types.KindString && to.Kind == types.KindDate:
		value = func(src *column.Vector, j int) (int64, error) { return types.ParseDate(src.Texts[j]) }
	case from.Kind == types.KindString && to.Kind == types.KindTime:
		value = func(src *column.Vector, j int) (int64, error) { return types.ParseTime(src.Texts[j]) }
	case from.Kind == types.KindString:
		value = func(src *column.Vector, j int) (int64, error) { return types.ParseTimestamp(src.Texts[j]) }
	case to.Kind == types.KindTimestamp:
		value = func(src *column.Vector, j int) (int64, error) { return src.Ints[j] * millisPerDay, nil }
	case to.Kind == types.KindDate:
		value = func(src *column.Vector, j int) (int64, error) {
			days, _ := types.FloorDay(src.Ints[j])
			return days, nil
		}
	default:
		value = func(src *column.Vector, j int) (int64, error) {
			_, millis := types.FloorDay(src.Ints[j])
			return millis, nil
		}
	}
	return func(dst *column.Vector, i int, src *column.Vector, j int, _ *column.Arena) error {
		v, err := value(src, j)
		if err == nil {
			dst.SetInt(i, v)
		}
		return err
	}
}

const millisPerDay = 24 * 60 * 60 * 1000

func toElements(from, to *types.Type) (converter, error) {
	sources, targets := []*types.Type{from.Elem}, []*types.Type{to.Elem}
	if to.Kind == types.KindMap {
		sources, targets = []*types.Type{from.Key, from.Elem}, []*types.Type{to.Key, to.Elem}
	}
	converters := make([]converter, len(sources))
	for k := range sources {
		var err error
		if converters[k], err = converterFor(sources[k], targets[k]); err != nil {
			return nil, err
		}
	}
	return func(dst *column.Vector, i int, src *column.Vector, j int, arena *column.Arena) error {
		span := src.Spans[j]
		start := 0
		for k, convert := range converters {
			start = dst.Children[k].Extend(int(span.Len))
			for n := range int(span.Len) {
				if src.Children[k].Null(int(span.Start) + n) {
					continue
				}
				if err := convert(dst.Children[k], start+n, src.Children[k], int(span.Start)+n, arena); err != nil {
					return err
				}
			}
		}
		dst.SetSpan(i, start, int(span.Len))
		return nil
	}, nil
}

func toStruct(from, to *types.Type) (converter, error) {
	sources := make([]int, len(to.Fields))
	converters := make([]converter, len(to.Fields))
	for k, field := range to.Fields {
		sources[k] = from.FieldIndex(field.Name)
		if sources[k] < 0 {
			continue
		}
		var err error
		if converters[k], err = converterFor(from.Fields[sources[k]].Type, field.Type); err != nil {
			return nil, err
		}
	}
	return func(dst *column.Vector, i int, src *column.Vector, j int, arena *column.Arena) error {
		for k, convert := range converters {
			dst.Children[k].SetNull(i)
			if convert == nil || src.Children[sources[k]].Null(j) {
				continue
			}
			if err := convert(dst.Children[k], i, src.Children[sources[k]], j, arena); err != nil {
				return err
			}
		}
		dst.Valid.Set(i)
		return nil
	}, nil
}
