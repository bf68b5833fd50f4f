package expr

import (
	"strings"

	"millrace/sql/types"
)

// Field is a member of a STRUCT; it is null if the STRUCT is.
type Field struct {
	X     Expr
	Index int
}

// NewField is x->name.
func NewField(x Expr, name string) (Expr, error) {
	t := x.Type()
	if t.Kind != types.KindStruct {
		return nil, types.Errorf(types.CodeType, "-> needs a STRUCT, not %s", t)
	}
	i := t.FieldIndex(name)
	if i < 0 {
		names := make([]string, len(t.Fields))
		for k, field := range t.Fields {
			names[k] = nameText(field.Name)
			if strings.EqualFold(field.Name, name) {
				return nil, types.Errorf(types.CodeName, "the STRUCT has no field %s", nameText(name)).
					WithHint("did you mean %s?", nameText(field.Name))
			}
		}
		return nil, types.Errorf(types.CodeName, "the STRUCT has no field %s", nameText(name)).
			WithHint("its fields are %s", strings.Join(names, ", "))
	}
	return &Field{X: x, Index: i}, nil
}

func (n *Field) field() types.Field { return n.X.Type().Fields[n.Index] }

// Name is the field's name.
func (n *Field) Name() string { return n.field().Name }

// Type is the field's type.
func (n *Field) Type() *types.Type { return n.field().Type }

func (n *Field) String() string {
	return operand(n.X, precedencePostfix) + "->" + nameText(n.Name())
}

func (n *Field) children() []Expr { return []Expr{n.X} }

func (n *Field) replace(c []Expr) Expr { return &Field{X: c[0], Index: n.Index} }

func (n *Field) same(other Expr) bool {
	o, ok := other.(*Field)
	return ok && o.Index == n.Index
}

func (n *Field) precedence() int { return precedencePostfix }

// Subscript is an element of an ARRAY, counted from 1 or with a negative index
// from the end, or the value of a key of a MAP; null where there is none.
type Subscript struct {
	X, Index Expr
}

// NewSubscript is x[index].
func NewSubscript(x, index Expr) (Expr, error) {
	t := x.Type()
	switch t.Kind {
	case types.KindArray:
		if isNull(index) {
			index = typedNull(types.Integer)
		}
		if kind := index.Type().Kind; kind != types.KindInteger && kind != types.KindBigint {
			return nil, types.Errorf(types.CodeType, "an ARRAY's index is an INTEGER, not %s", index.Type())
		}
	case types.KindMap:
		converted, err := Coerce(index, t.Key)
		if err != nil {
			return nil, types.Errorf(types.CodeType, "the MAP's key is %s, not %s", t.Key, index.Type())
		}
		index = converted
	default:
		return nil, types.Errorf(types.CodeType, "[] needs an ARRAY or a MAP, not %s", t)
	}
	return &Subscript{X: x, Index: index}, nil
}

// Type is the type of the elements.
func (n *Subscript) Type() *types.Type { return n.X.Type().Elem }

func (n *Subscript) String() string {
	return operand(n.X, precedencePostfix) + "[" + n.Index.String() + "]"
}

func (n *Subscript) children() []Expr { return []Expr{n.X, n.Index} }

func (n *Subscript) replace(c []Expr) Expr { return &Subscript{X: c[0], Index: c[1]} }

func (n *Subscript) same(other Expr) bool { _, ok := other.(*Subscript); return ok }

func (n *Subscript) precedence() int { return precedencePostfix }
