// Package types holds what every layer shares about SQL values: types,
// decimals, the text forms of values, and the error that users see. It imports
// nothing of the project.
package types

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is a type without its parameters.
type Kind uint8

// The kinds. KindNull is the kind of a bare NULL literal only; no column has it.
const (
	KindNull Kind = iota
	KindBoolean
	KindInteger
	KindBigint
	KindDouble
	KindDecimal
	KindString
	KindBytes
	KindDate
	KindTime
	KindTimestamp
	KindArray
	KindMap
	KindStruct
)

// Field is a named member of a STRUCT.
type Field struct {
	Name string
	Type *Type
}

// Type is a SQL type. Types are immutable and compared with Equal; those
// without parameters are the package's variables.
type Type struct {
	Kind      Kind
	Precision int     // DECIMAL
	Scale     int     // DECIMAL
	Key       *Type   // MAP
	Elem      *Type   // ARRAY element, MAP value
	Fields    []Field // STRUCT
}

// The types without parameters.
var (
	Null      = &Type{Kind: KindNull}
	Boolean   = &Type{Kind: KindBoolean}
	Integer   = &Type{Kind: KindInteger}
	Bigint    = &Type{Kind: KindBigint}
	Double    = &Type{Kind: KindDouble}
	String    = &Type{Kind: KindString}
	Bytes     = &Type{Kind: KindBytes}
	Date      = &Type{Kind: KindDate}
	Time      = &Type{Kind: KindTime}
	Timestamp = &Type{Kind: KindTimestamp}
)

// MaxPrecision is the most digits a DECIMAL holds.
const MaxPrecision = 38

// DecimalOf is DECIMAL(precision, scale).
func DecimalOf(precision, scale int) *Type {
	return &Type{Kind: KindDecimal, Precision: precision, Scale: scale}
}

// ArrayOf is ARRAY<elem>.
func ArrayOf(elem *Type) *Type { return &Type{Kind: KindArray, Elem: elem} }

// MapOf is MAP<key, value>.
func MapOf(key, value *Type) *Type { return &Type{Kind: KindMap, Key: key, Elem: value} }

// StructOf is STRUCT<fields>.
func StructOf(fields ...Field) *Type { return &Type{Kind: KindStruct, Fields: fields} }

// Equal tells whether a and b are the same type, field names included.
func Equal(a, b *Type) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case KindDecimal:
		return a.Precision == b.Precision && a.Scale == b.Scale
	case KindArray:
		return Equal(a.Elem, b.Elem)
	case KindMap:
		return Equal(a.Key, b.Key) && Equal(a.Elem, b.Elem)
	case KindStruct:
		return slices.EqualFunc(a.Fields, b.Fields, func(x, y Field) bool {
			return x.Name == y.Name && Equal(x.Type, y.Type)
		})
	}
	return true
}

// Numeric tells whether t is INTEGER, BIGINT, DOUBLE or DECIMAL.
func (t *Type) Numeric() bool {
	return t.Kind == KindInteger || t.Kind == KindBigint || t.Kind == KindDouble || t.Kind == KindDecimal
}

// Temporal tells whether t is DATE, TIME or TIMESTAMP.
func (t *Type) Temporal() bool {
	return t.Kind == KindDate || t.Kind == KindTime || t.Kind == KindTimestamp
}

// Nested tells whether t is ARRAY, MAP or STRUCT.
func (t *Type) Nested() bool { return t.Kind >= KindArray }

// Contains tells whether t or a type inside it satisfies f.
func (t *Type) Contains(f func(*Type) bool) bool {
	if f(t) {
		return true
	}
	if t.Key != nil && t.Key.Contains(f) || t.Elem != nil && t.Elem.Contains(f) {
		return true
	}
	return slices.ContainsFunc(t.Fields, func(field Field) bool { return field.Type.Contains(f) })
}

// FieldIndex is the position of the field called name, or -1.
func (t *Type) FieldIndex(name string) int {
	return slices.IndexFunc(t.Fields, func(f Field) bool { return f.Name == name })
}

var kindNames = [...]string{
	"NULL", "BOOLEAN", "INTEGER", "BIGINT", "DOUBLE", "DECIMAL", "STRING", "BYTES",
	"DATE", "TIME", "TIMESTAMP", "ARRAY", "MAP", "STRUCT",
}

// String is the name of the kind in SQL.
func (k Kind) String() string { return kindNames[k] }

// String is the type in SQL, as schemas print it.
func (t *Type) String() string {
	switch t.Kind {
	case KindDecimal:
		return "DECIMAL(" + strconv.Itoa(t.Precision) + ", " + strconv.Itoa(t.Scale) + ")"
	case KindArray:
		return "ARRAY<" + t.Elem.String() + ">"
	case KindMap:
		return "MAP<" + t.Key.String() + ", " + t.Elem.String() + ">"
	case KindStruct:
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = QuoteName(f.Name) + " " + f.Type.String()
		}
		return "STRUCT<" + strings.Join(fields, ", ") + ">"
	}
	return t.Kind.String()
}

// QuoteName is name in back quotes, as schemas and messages print it.
func QuoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
