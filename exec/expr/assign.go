package expr

import (
	"millrace/exec/column"
	"millrace/sql/types"
)

// foldLiteral converts a literal to another scalar type now, if it converts.
func foldLiteral(l *Literal, t *types.Type) (*Literal, bool) {
	if t.Nested() || l.T.Nested() || !castable(l.T, t) {
		return nil, false
	}
	return evaluateLiteral(&Cast{X: l, T: t})
}

// evaluateLiteral computes a scalar constant; false if it fails or is NULL.
func evaluateLiteral(e Expr) (*Literal, bool) {
	v, err := Evaluate(e, nil)
	if err != nil || v.Null(0) || v.Type.Nested() {
		return nil, false
	}
	return literalAt(v, 0), true
}

// literalAt is row i of a scalar vector, which is not null, as a literal.
func literalAt(v *column.Vector, i int) *Literal {
	switch v.Type.Kind {
	case types.KindBoolean:
		return NewLiteral(v.Bools[i], v.Type)
	case types.KindDouble:
		return NewLiteral(v.Doubles[i], v.Type)
	case types.KindDecimal:
		return NewLiteral(v.Decimals[i], v.Type)
	case types.KindString, types.KindBytes:
		return NewLiteral(v.Texts[i], v.Type)
	}
	return NewLiteral(v.Ints[i], v.Type)
}

// Assign converts x to the type of the column that INSERT VALUES puts it into.
// Besides what Coerce allows, a constant number becomes any numeric type that
// holds it without rounding, a text becomes a DATE, TIME or TIMESTAMP, and
// ARRAY[], MAP() and STRUCT() convert element by element; fields that the
// STRUCT() lacks are null.
func Assign(x Expr, t *types.Type) (Expr, error) {
	if types.Equal(x.Type(), t) {
		return x, nil
	}
	if types.Widening(x.Type(), t) >= 0 {
		return implicit(x, t), nil
	}
	switch n := x.(type) {
	case *Array:
		if t.Kind == types.KindArray {
			return assignArray(n, t)
		}
	case *Map:
		if t.Kind == types.KindMap {
			return assignMap(n, t)
		}
	case *Struct:
		if t.Kind == types.KindStruct {
			return assignStruct(n, t)
		}
	}
	if !x.Type().Nested() && Constant(x) {
		if l, ok := assignConstant(x, t); ok {
			return l, nil
		}
	}
	err := types.Errorf(types.CodeType, "%s, a %s, does not fit a column of type %s", x, x.Type(), t)
	if castable(x.Type(), t) {
		err = err.WithHint("use CAST(%s AS %s)", x, t)
	}
	return nil, err
}

func assignConstant(x Expr, t *types.Type) (*Literal, bool) {
	l, ok := x.(*Literal)
	if !ok {
		if l, ok = evaluateLiteral(x); !ok {
			return nil, false
		}
	}
	switch {
	case l.T.Kind == types.KindString && t.Temporal():
		return foldLiteral(l, t)
	case l.T.Numeric() && t.Numeric():
		converted, ok := foldLiteral(l, t)
		if !ok {
			return nil, false
		}
		return converted, sameNumber(l, converted)
	}
	return nil, false
}

// sameNumber tells whether a conversion kept the value.
func sameNumber(a, b *Literal) bool {
	l, r := comparableNumbers(a, b)
	same, err := Evaluate(&Compare{Op: OperatorEqual, Left: l, Right: r}, nil)
	return err == nil && !same.Null(0) && same.Bools[0]
}

func assignAll(list []Expr, t *types.Type) ([]Expr, error) {
	converted := make([]Expr, len(list))
	for i, e := range list {
		var err error
		if converted[i], err = Assign(e, t); err != nil {
			return nil, err
		}
	}
	return converted, nil
}

func assignArray(n *Array, t *types.Type) (Expr, error) {
	elements, err := assignAll(unconverted(n.Elements), t.Elem)
	if err != nil {
		return nil, err
	}
	return &Array{Elements: elements, T: t}, nil
}

func assignMap(n *Map, t *types.Type) (Expr, error) {
	keys, err := assignAll(unconverted(n.Keys), t.Key)
	if err != nil {
		return nil, err
	}
	values, err := assignAll(unconverted(n.Values), t.Elem)
	if err != nil {
		return nil, err
	}
	return &Map{Keys: keys, Values: values, T: t}, nil
}

func assignStruct(n *Struct, t *types.Type) (Expr, error) {
	for _, field := range n.T.Fields {
		if t.FieldIndex(field.Name) < 0 {
			return nil, types.Errorf(types.CodeName, "the column's STRUCT has no field %s", nameText(field.Name))
		}
	}
	r := &Struct{T: t, Values: make([]Expr, len(t.Fields))}
	for i, field := range t.Fields {
		source := n.T.FieldIndex(field.Name)
		if source < 0 {
			r.Values[i] = typedNull(field.Type)
			continue
		}
		value, err := Assign(n.Values[source], field.Type)
		if err != nil {
			return nil, err
		}
		r.Values[i] = value
	}
	return r, nil
}

// unconverted takes the implicit conversions of a constructor off its elements.
func unconverted(list []Expr) []Expr {
	plain := make([]Expr, len(list))
	for i, e := range list {
		plain[i] = e
		if cast, ok := e.(*Cast); ok && cast.implicit {
			plain[i] = cast.X
		}
	}
	return plain
}
