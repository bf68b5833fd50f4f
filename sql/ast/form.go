package ast

import (
	"io"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// FormKind tells what a Form is.
type FormKind uint8

// The forms.
const (
	FieldForm      FormKind = iota // Args[0]->Names[0]
	AllFieldsForm                  // Args[0]->*
	SubscriptForm                  // Args[0][Args[1]]
	ArrayForm                      // ARRAY[Args..]
	MapForm                        // MAP(Args[0] := Args[1], ..)
	StructForm                     // STRUCT(Names[0] := Args[0], ..)
	LambdaForm                     // (Names..) => Args[0]
	CastForm                       // CAST(Args[0] AS Type)
	ZoneForm                       // Args[0] AT TIME ZONE Args[1]
	TypedForm                      // Names[0] 'Names[1]', such as DATE '2020-01-01'
	IntervalForm                   // INTERVAL Args[0] Names[0]
	DistinctForm                   // DISTINCT Args.., the only argument of a call
	StarForm                       // *, the only argument of a call
	FilterForm                     // Args[0] FILTER (WHERE Args[1])
	IsDistinctForm                 // Args[0] IS DISTINCT FROM Args[1]
	ConcatForm                     // Args[0] || Args[1]
	RowForm                        // (Args..) of VALUES
)

// Form is an expression of the dialect that TiDB's AST has no node for. It is
// an ast.ExprNode, so it stands anywhere in TiDB's AST and TiDB's visitors pass
// through it.
type Form struct {
	ast.TexprNode
	Kind  FormKind
	Names []string
	Args  []ast.ExprNode
	Type  *TypeName // CastForm
}

var _ ast.ExprNode = (*Form)(nil)

// Accept implements ast.Node.
func (f *Form) Accept(v ast.Visitor) (ast.Node, bool) {
	node, skip := v.Enter(f)
	if skip {
		return v.Leave(node)
	}
	f = node.(*Form)
	for i, arg := range f.Args {
		changed, ok := arg.Accept(v)
		if !ok {
			return f, false
		}
		f.Args[i] = changed.(ast.ExprNode)
	}
	return v.Leave(f)
}

// Restore implements ast.Node. The user's text is what is kept, so there is
// nothing to restore.
func (f *Form) Restore(*format.RestoreCtx) error { return nil }

// Format implements ast.ExprNode.
func (f *Form) Format(io.Writer) {}
