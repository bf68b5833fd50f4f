package types

// integerDigits and bigintDigits are the precisions as which INTEGER and
// BIGINT take part in decimal arithmetic.
const (
	integerDigits = 10
	bigintDigits  = 19
)

// AsDecimal is the DECIMAL type as which an INTEGER, BIGINT or DECIMAL takes
// part in decimal arithmetic: DECIMAL(10,0), DECIMAL(19,0) or the type itself.
// It is nil for other types.
func AsDecimal(t *Type) *Type {
	switch t.Kind {
	case KindInteger:
		return DecimalOf(integerDigits, 0)
	case KindBigint:
		return DecimalOf(bigintDigits, 0)
	case KindDecimal:
		return t
	}
	return nil
}

var numericRank = map[Kind]int{KindInteger: 1, KindBigint: 2, KindDecimal: 3, KindDouble: 4}

// Widening tells in how many steps from converts implicitly to to along
// INTEGER, BIGINT, DECIMAL, DOUBLE: 0 for equal types, -1 if it does not. A
// DECIMAL converts to one with no fewer digits on both sides of the point.
// NULL converts to every type. ARRAY, MAP and STRUCT convert element by
// element; a STRUCT needs the same field names in the same order.
func Widening(from, to *Type) int {
	switch {
	case Equal(from, to), from.Kind == KindNull:
		return 0
	case from.Kind == to.Kind && from.Nested():
		return nestedWidening(from, to)
	case !from.Numeric() || !to.Numeric():
		return -1
	case to.Kind == KindDecimal:
		source := AsDecimal(from)
		if source == nil || source.Scale > to.Scale || source.Precision-source.Scale > to.Precision-to.Scale {
			return -1
		}
		return max(numericRank[to.Kind]-numericRank[from.Kind], 1)
	}
	if steps := numericRank[to.Kind] - numericRank[from.Kind]; steps > 0 {
		return steps
	}
	return -1
}

func nestedWidening(from, to *Type) int {
	pairs := [][2]*Type{}
	switch from.Kind {
	case KindArray:
		pairs = append(pairs, [2]*Type{from.Elem, to.Elem})
	case KindMap:
		pairs = append(pairs, [2]*Type{from.Key, to.Key}, [2]*Type{from.Elem, to.Elem})
	case KindStruct:
		if len(from.Fields) != len(to.Fields) {
			return -1
		}
		for i, field := range from.Fields {
			if field.Name != to.Fields[i].Name {
				return -1
			}
			pairs = append(pairs, [2]*Type{field.Type, to.Fields[i].Type})
		}
	}
	total := 0
	for _, pair := range pairs {
		steps := Widening(pair[0], pair[1])
		if steps < 0 {
			return -1
		}
		total += steps
	}
	return total
}

// Common is the least type that values of both types convert to without an
// explicit CAST, or nil if there is none. NULL gives the other type; a STRUCT
// gives the union of the fields.
func Common(a, b *Type) *Type {
	switch {
	case Equal(a, b), b.Kind == KindNull:
		return a
	case a.Kind == KindNull:
		return b
	case a.Numeric() && b.Numeric():
		return commonNumeric(a, b)
	case a.Kind != b.Kind:
		return nil
	}
	switch a.Kind {
	case KindArray:
		if elem := Common(a.Elem, b.Elem); elem != nil {
			return ArrayOf(elem)
		}
	case KindMap:
		key, value := Common(a.Key, b.Key), Common(a.Elem, b.Elem)
		if key != nil && value != nil {
			return MapOf(key, value)
		}
	case KindStruct:
		return commonStruct(a, b)
	}
	return nil
}

func commonNumeric(a, b *Type) *Type {
	if numericRank[a.Kind] < numericRank[b.Kind] {
		a, b = b, a
	}
	if a.Kind != KindDecimal {
		return a
	}
	b = AsDecimal(b)
	scale := max(a.Scale, b.Scale)
	precision := max(a.Precision-a.Scale, b.Precision-b.Scale) + scale
	return DecimalOf(min(precision, MaxPrecision), scale)
}

func commonStruct(a, b *Type) *Type {
	fields := make([]Field, 0, len(a.Fields))
	for _, field := range a.Fields {
		if i := b.FieldIndex(field.Name); i >= 0 {
			common := Common(field.Type, b.Fields[i].Type)
			if common == nil {
				return nil
			}
			field.Type = common
		}
		fields = append(fields, field)
	}
	for _, field := range b.Fields {
		if a.FieldIndex(field.Name) < 0 {
			fields = append(fields, field)
		}
	}
	return StructOf(fields...)
}
