package expr

import (
	"strings"

	"millrace/exec/fn"
	"millrace/sql/types"
)

// unify converts all expressions of the list, in place, to one common type and
// returns it: numbers widen, text literals become numbers, BOOLEANs or times
// where the others are such and the text is one, and other literals become
// texts where the others are. Constructors convert element by element. All NULL
// gives types.Null.
func unify(what string, list []Expr) (*types.Type, error) {
	common := types.Null
	for rank := range 3 {
		for _, e := range list {
			if literalRank(e) != rank {
				continue
			}
			merged := types.Common(common, flexibleType(e, common))
			if merged == nil {
				return nil, mixedError(what, common, e.Type())
			}
			common = merged
		}
	}
	for i, e := range list {
		converted, ok := convert(e, common)
		if !ok {
			return nil, mixedError(what, common, e.Type())
		}
		list[i] = converted
	}
	return common, nil
}

func mixedError(what string, a, b *types.Type) error {
	return types.Errorf(types.CodeType, "%s has no common type for %s and %s", what, a, b).
		WithHint("CAST one of them")
}

// literalRank is higher the more a type depends on the others': 0 for what is
// no literal, 1 for literals and constructors, 2 for text literals.
func literalRank(e Expr) int {
	switch e.(type) {
	case *Literal:
		if isTextLiteral(e) {
			return 2
		}
		return 1
	case *Array, *Map, *Struct:
		return 1
	}
	return 0
}

func isTextLiteral(e Expr) bool {
	l, ok := e.(*Literal)
	return ok && l.T.Kind == types.KindString && !l.null()
}

// flexibleType is the type that e takes among values of a type.
func flexibleType(e Expr, among *types.Type) *types.Type {
	switch n := e.(type) {
	case *Literal:
		return flexibleLiteral(n, among)
	case *Array:
		if among.Kind == types.KindArray {
			return types.ArrayOf(flexibleElement(n.Elements, n.T.Elem, among.Elem))
		}
	case *Map:
		if among.Kind == types.KindMap {
			return types.MapOf(flexibleElement(n.Keys, n.T.Key, among.Key), flexibleElement(n.Values, n.T.Elem, among.Elem))
		}
	case *Struct:
		if among.Kind == types.KindStruct {
			fields := make([]types.Field, len(n.Values))
			for i, field := range n.T.Fields {
				fields[i] = field
				if k := among.FieldIndex(field.Name); k >= 0 {
					fields[i].Type = flexibleType(n.Values[i], among.Fields[k].Type)
				}
			}
			return types.StructOf(fields...)
		}
	}
	return e.Type()
}

// flexibleElement is the common type of elements among values of a type.
func flexibleElement(list []Expr, own, among *types.Type) *types.Type {
	common := among
	for _, e := range unconverted(list) {
		if common = types.Common(common, flexibleType(e, among)); common == nil {
			return own
		}
	}
	return common
}

// flexibleLiteral is the type that a literal takes among values of a type.
func flexibleLiteral(l *Literal, among *types.Type) *types.Type {
	if l.null() || l.T.Kind != types.KindString {
		if among.Kind == types.KindString && !l.null() && l.T.Kind != types.KindBytes {
			return among
		}
		return l.T
	}
	text := l.Value.(string)
	switch {
	case among.Numeric():
		if number, ok := parseNumber(text); ok {
			return number.T
		}
	case among.Kind == types.KindBoolean:
		if isBooleanText(text) {
			return among
		}
	case among.Temporal():
		if _, ok := foldLiteral(l, among); ok {
			return among
		}
	}
	return types.String
}

func isBooleanText(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, word := range []string{"true", "yes", "false", "no"} {
		if text != "" && strings.HasPrefix(word, text) {
			return true
		}
	}
	return false
}

// parseNumber reads a text as the literal that it would be without quotes.
func parseNumber(text string) (*Literal, bool) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "eE") {
		v, err := types.ParseDouble(text)
		return NewLiteral(v, types.Double), err == nil
	}
	if strings.Contains(text, ".") {
		return parseDecimalLiteral(text)
	}
	for _, t := range []*types.Type{types.Integer, types.Bigint} {
		if v, err := types.ParseInteger(text, t); err == nil {
			return NewLiteral(v, t), true
		}
	}
	return parseDecimalLiteral(text)
}

func parseDecimalLiteral(text string) (*Literal, bool) {
	v, scale, err := types.ParseUnscaled(text)
	if err != nil || scale < 0 || scale > types.MaxPrecision {
		return nil, false
	}
	digits := len(strings.TrimLeft(v.String(), "-"))
	precision := max(digits, scale+1)
	if precision > types.MaxPrecision {
		return nil, false
	}
	d, err := types.DecimalFromBig(v)
	return NewLiteral(d, types.DecimalOf(precision, scale)), err == nil
}

// convert turns e into the type t without a CAST, constructors element by
// element, and literals by reading or writing their text.
func convert(e Expr, t *types.Type) (Expr, bool) {
	if types.Equal(e.Type(), t) {
		return e, true
	}
	switch n := e.(type) {
	case *Literal:
		if converted, ok := convertLiteral(n, t); ok {
			return converted, true
		}
	case *Array:
		if t.Kind == types.KindArray {
			elements, ok := convertAll(n.Elements, t.Elem)
			return &Array{Elements: elements, T: t}, ok
		}
	case *Map:
		if t.Kind == types.KindMap {
			keys, ok := convertAll(n.Keys, t.Key)
			values, okValues := convertAll(n.Values, t.Elem)
			return &Map{Keys: keys, Values: values, T: t}, ok && okValues
		}
	case *Struct:
		if t.Kind == types.KindStruct {
			return convertStruct(n, t)
		}
	}
	if !castable(e.Type(), t) {
		return nil, false
	}
	return implicit(e, t), true
}

func convertLiteral(l *Literal, t *types.Type) (Expr, bool) {
	if l.null() {
		return typedNull(t), true
	}
	if t.Kind == types.KindString {
		v, err := Evaluate(l, nil)
		return NewLiteral(string(fn.AppendText(nil, v, 0)), t), err == nil
	}
	if isTextLiteral(l) && t.Numeric() {
		number, ok := parseNumber(l.Value.(string))
		if !ok {
			return nil, false
		}
		l = number
	}
	return foldLiteral(l, t)
}

func convertAll(list []Expr, t *types.Type) ([]Expr, bool) {
	converted := make([]Expr, len(list))
	for i, e := range unconverted(list) {
		var ok bool
		if converted[i], ok = convert(e, t); !ok {
			return nil, false
		}
	}
	return converted, true
}

func convertStruct(n *Struct, t *types.Type) (Expr, bool) {
	r := &Struct{T: t, Values: make([]Expr, len(t.Fields))}
	for i, field := range t.Fields {
		source := n.T.FieldIndex(field.Name)
		if source < 0 {
			r.Values[i] = typedNull(field.Type)
			continue
		}
		var ok bool
		if r.Values[i], ok = convert(n.Values[source], field.Type); !ok {
			return nil, false
		}
	}
	return r, true
}
