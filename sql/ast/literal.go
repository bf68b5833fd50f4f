package ast

import (
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// DecimalLiteral is an exact decimal literal: Unscaled / 10^Scale.
type DecimalLiteral struct {
	Unscaled *big.Int
	Scale    int
	Text     string
}

// ParseDecimalLiteral reads digits[.digits].
func ParseDecimalLiteral(text string) (*DecimalLiteral, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	unscaled, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return nil, fmt.Errorf("bad decimal literal %q", text)
	}
	return &DecimalLiteral{Unscaled: unscaled, Scale: len(fraction), Text: text}, nil
}

// Literal is the node of a literal. Value is nil, bool, int64, uint64 (beyond
// int64), float64, string or *DecimalLiteral (also for whole numbers beyond
// uint64, with scale 0 and no point in Text).
type Literal struct {
	ast.TexprNode
	Value  any
	offset int
}

var _ ast.ValueExpr = (*Literal)(nil)

// NewLiteral is a literal of value.
func NewLiteral(value any) *Literal { return &Literal{Value: value, offset: -1} }

// SetValue implements ast.ValueExpr.
func (l *Literal) SetValue(value any) { l.Value = value }

// GetValue implements ast.ValueExpr.
func (l *Literal) GetValue() any { return l.Value }

// GetDatumString implements ast.ValueExpr.
func (l *Literal) GetDatumString() string { return l.GetString() }

// GetString implements ast.ValueExpr.
func (l *Literal) GetString() string {
	text, _ := l.Value.(string)
	return text
}

// GetProjectionOffset implements ast.ValueExpr.
func (l *Literal) GetProjectionOffset() int { return l.offset }

// SetProjectionOffset implements ast.ValueExpr.
func (l *Literal) SetProjectionOffset(offset int) { l.offset = offset }

// Accept implements ast.Node.
func (l *Literal) Accept(v ast.Visitor) (ast.Node, bool) {
	node, _ := v.Enter(l)
	return v.Leave(node)
}

// Restore implements ast.Node; the user's text is what is kept.
func (l *Literal) Restore(*format.RestoreCtx) error { return nil }

// Format implements ast.ExprNode.
func (l *Literal) Format(w io.Writer) { _, _ = io.WriteString(w, l.String()) }

// String is the literal in SQL.
func (l *Literal) String() string {
	switch v := l.Value.(type) {
	case nil:
		return "NULL"
	case bool:
		return strings.ToUpper(strconv.FormatBool(v))
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case float64:
		return strconv.FormatFloat(v, 'E', -1, 64)
	case *DecimalLiteral:
		return v.Text
	default:
		return fmt.Sprint(v)
	}
}
