package expr

import (
	"strings"

	"millrace/sql/types"
)

// unify converts all expressions of the list, in place, to one common type and
// returns it: numbers widen, text literals become numbers, BOOLEANs or times
// where the others are such and the text is one. All NULL gives types.Null.
func unify(what string, list []Expr) (*types.Type, error) {
	common := types.Null
	for _, e := range list {
		if isTextLiteral(e) {
			continue
		}
		merged := types.Common(common, e.Type())
		if merged == nil {
			return nil, mixedError(what, common, e.Type())
		}
		common = merged
	}
	for _, e := range list {
		if !isTextLiteral(e) {
			continue
		}
		t := literalTarget(e.(*Literal), common)
		merged := types.Common(common, t)
		if merged == nil {
			return nil, mixedError(what, common, e.Type())
		}
		common = merged
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

func isTextLiteral(e Expr) bool {
	l, ok := e.(*Literal)
	return ok && l.T.Kind == types.KindString && !l.null()
}

// literalTarget is the type that a text literal takes among values of a type.
func literalTarget(l *Literal, among *types.Type) *types.Type {
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
// element, and text literals by reading them.
func convert(e Expr, t *types.Type) (Expr, bool) {
	if types.Equal(e.Type(), t) {
		return e, true
	}
	if l, ok := e.(*Literal); ok && !l.null() {
		if isTextLiteral(e) && t.Numeric() {
			if number, ok := parseNumber(l.Value.(string)); ok {
				l = number
			}
		}
		if folded, ok := foldLiteral(l, t); ok {
			return folded, true
		}
	}
	if !castable(e.Type(), t) {
		return nil, false
	}
	return implicit(e, t), true
}
