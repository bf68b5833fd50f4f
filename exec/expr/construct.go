package expr

import (
	"strings"

	"millrace/sql/types"
)

// Array is ARRAY[..].
type Array struct {
	Elements []Expr
	T        *types.Type
}

// NewArray is ARRAY[elements]. The elements take one common type; without
// elements, or with NULLs only, there is none and it is refused.
func NewArray(elements []Expr) (Expr, error) {
	elements = append([]Expr{}, elements...)
	elem, err := unify("ARRAY", elements)
	if err != nil {
		return nil, err
	}
	if elem.Kind == types.KindNull {
		return nil, types.Errorf(types.CodeType, "ARRAY needs an element that is not NULL").
			WithHint("CAST one to a type")
	}
	return &Array{Elements: elements, T: types.ArrayOf(elem)}, nil
}

// Type is ARRAY of the common type.
func (n *Array) Type() *types.Type { return n.T }

func (n *Array) String() string { return "ARRAY[" + listText(n.Elements) + "]" }

func (n *Array) children() []Expr { return n.Elements }

func (n *Array) replace(c []Expr) Expr { return &Array{Elements: c, T: n.T} }

func (n *Array) same(other Expr) bool { _, ok := other.(*Array); return ok }

func (n *Array) precedence() int { return precedencePrimary }

// Map is MAP(..); of equal keys the last counts.
type Map struct {
	Keys, Values []Expr
	T            *types.Type
}

// NewMap is MAP(key := value, ..). Keys take one common type and values
// another; a map without entries, or with only NULL keys or values, is refused.
func NewMap(keys, values []Expr) (Expr, error) {
	if len(keys) != len(values) {
		return nil, types.Errorf(types.CodeType, "MAP needs a value for each key")
	}
	keys, values = append([]Expr{}, keys...), append([]Expr{}, values...)
	key, err := unify("MAP", keys)
	if err != nil {
		return nil, err
	}
	value, err := unify("MAP", values)
	if err != nil {
		return nil, err
	}
	if key.Kind == types.KindNull || value.Kind == types.KindNull {
		return nil, types.Errorf(types.CodeType, "MAP needs a key and a value that are not NULL").
			WithHint("CAST one to a type")
	}
	return &Map{Keys: keys, Values: values, T: types.MapOf(key, value)}, nil
}

// Type is MAP of the common types.
func (n *Map) Type() *types.Type { return n.T }

func (n *Map) String() string {
	entries := make([]string, len(n.Keys))
	for i, key := range n.Keys {
		entries[i] = key.String() + " := " + n.Values[i].String()
	}
	return "MAP(" + strings.Join(entries, ", ") + ")"
}

func (n *Map) children() []Expr {
	list := make([]Expr, 0, 2*len(n.Keys))
	for i, key := range n.Keys {
		list = append(list, key, n.Values[i])
	}
	return list
}

func (n *Map) replace(c []Expr) Expr {
	r := &Map{T: n.T}
	for i := 0; i+1 < len(c); i += 2 {
		r.Keys, r.Values = append(r.Keys, c[i]), append(r.Values, c[i+1])
	}
	return r
}

func (n *Map) same(other Expr) bool { _, ok := other.(*Map); return ok }

func (n *Map) precedence() int { return precedencePrimary }

// Struct is STRUCT(..).
type Struct struct {
	Values []Expr
	T      *types.Type
}

// NewStruct is STRUCT(name := value, ..). Names must differ, and a value must
// have a type.
func NewStruct(names []string, values []Expr) (Expr, error) {
	if len(names) == 0 || len(names) != len(values) {
		return nil, types.Errorf(types.CodeType, "STRUCT needs fields with names and values")
	}
	fields := make([]types.Field, len(names))
	seen := map[string]bool{}
	for i, name := range names {
		if seen[name] {
			return nil, types.Errorf(types.CodeName, "the STRUCT has two fields %s", nameText(name))
		}
		seen[name] = true
		if values[i].Type().Kind == types.KindNull {
			return nil, types.Errorf(types.CodeType, "the field %s has no type", nameText(name)).
				WithHint("CAST the NULL to a type")
		}
		fields[i] = types.Field{Name: name, Type: values[i].Type()}
	}
	return &Struct{Values: values, T: types.StructOf(fields...)}, nil
}

// Type is STRUCT with the names and the types of the values.
func (n *Struct) Type() *types.Type { return n.T }

func (n *Struct) String() string {
	fields := make([]string, len(n.Values))
	for i, value := range n.Values {
		fields[i] = nameText(n.T.Fields[i].Name) + " := " + value.String()
	}
	return "STRUCT(" + strings.Join(fields, ", ") + ")"
}

func (n *Struct) children() []Expr { return n.Values }

func (n *Struct) replace(c []Expr) Expr { return &Struct{Values: c, T: n.T} }

func (n *Struct) same(other Expr) bool { _, ok := other.(*Struct); return ok }

func (n *Struct) precedence() int { return precedencePrimary }
