package expr

import (
	"encoding/base64"
	"strconv"
	"strings"

	"millrace/exec/column"
	"millrace/sql/types"
)

// Literal is a scalar constant. Value is nil for NULL, else bool for BOOLEAN,
// int64 for INTEGER, BIGINT, DATE, TIME and TIMESTAMP, float64 for DOUBLE,
// types.Decimal for DECIMAL, and string for STRING and BYTES.
type Literal struct {
	leaf
	Value any
	T     *types.Type
}

// NewLiteral is the constant value of type t; NULL is nil of types.Null.
func NewLiteral(value any, t *types.Type) *Literal { return &Literal{Value: value, T: t} }

// Type is the literal's type.
func (l *Literal) Type() *types.Type { return l.T }

func (l *Literal) String() string {
	switch v := l.Value.(type) {
	case bool:
		return strings.ToUpper(strconv.FormatBool(v))
	case int64:
		return l.integerText(v)
	case float64:
		return doubleText(v)
	case types.Decimal:
		return v.Text(l.T.Scale)
	case string:
		if l.T.Kind == types.KindBytes {
			return "CAST(" + quoteText(base64.StdEncoding.EncodeToString([]byte(v))) + " AS BYTES)"
		}
		return quoteText(v)
	}
	return "NULL"
}

func (l *Literal) integerText(v int64) string {
	switch l.T.Kind {
	case types.KindDate:
		return quoteText(string(types.AppendDate(nil, v)))
	case types.KindTime:
		return quoteText(string(types.AppendTime(nil, v)))
	case types.KindTimestamp:
		return quoteText(string(types.AppendTimestamp(nil, v)))
	}
	return strconv.FormatInt(v, 10)
}

// doubleText always has an exponent: without one the text would be a DECIMAL.
func doubleText(v float64) string {
	text := string(types.AppendDouble(nil, v))
	if strings.ContainsAny(text, "EN") || strings.HasSuffix(text, "y") {
		return text
	}
	return text + "E0"
}

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func (l *Literal) replace([]Expr) Expr { return l }

func (l *Literal) same(other Expr) bool {
	o, ok := other.(*Literal)
	return ok && o.Value == l.Value
}

func (l *Literal) null() bool { return l.Value == nil }

// set stores the literal in row i of a vector of its type.
func (l *Literal) set(v *column.Vector, i int) {
	switch value := l.Value.(type) {
	case bool:
		v.SetBool(i, value)
	case int64:
		v.SetInt(i, value)
	case float64:
		v.SetDouble(i, value)
	case types.Decimal:
		v.SetDecimal(i, value)
	case string:
		v.SetText(i, value)
	default:
		v.SetNull(i)
	}
}

func isNull(e Expr) bool {
	l, ok := e.(*Literal)
	return ok && l.null()
}

// bareNull tells whether e is a NULL that has no type.
func bareNull(e Expr) bool { return e.Type().Kind == types.KindNull }

// typedNull is a NULL that has taken a type.
func typedNull(t *types.Type) Expr { return &Literal{T: t} }
