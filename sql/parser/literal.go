package parser

import (
	"errors"

	"millrace/sql/ast"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

var errLiteral = errors.New("hexadecimal and bit literals are not part of the dialect")

// TiDB makes its literals through hooks. They are set once, here, to keep every
// literal's exact value in an ast.Literal.
func init() {
	tidb.NewValueExpr = func(value any, _, _ string) tidb.ValueExpr {
		if n, ok := value.(int); ok {
			value = int64(n)
		}
		return ast.NewLiteral(value)
	}
	tidb.NewDecimal = func(text string) (any, error) { return ast.ParseDecimalLiteral(text) }
	tidb.NewHexLiteral = refuseLiteral
	tidb.NewBitLiteral = refuseLiteral
	tidb.NewParamMarkerExpr = func(int) tidb.ParamMarkerExpr { return &parameterMarker{} }
}

func refuseLiteral(string) (any, error) { return nil, errLiteral }

// parameterMarker is there because TiDB's hook needs one; the recogniser passes no
// parameter markers on.
type parameterMarker struct{ ast.Literal }

// SetOrder implements tidb.ParamMarkerExpr.
func (*parameterMarker) SetOrder(int) {}
