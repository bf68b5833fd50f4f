package format

import (
	"encoding/binary"
	"strings"

	"millrace/sql/types"
)

const (
	// bareKeyName and bareValueName are ksqlDB's names of a column that is the
	// whole key or value and that no one named.
	bareKeyName   = "ROWKEY"
	bareValueName = "ROWVAL"

	// maxAvroFields bounds the fields of the columns of a schema together: one of
	// a few lines can nest records into a type of any size.
	maxAvroFields = 10_000
)

// Infer implements SchemaFormat. The mapping is that of Kafka Connect: what it
// gives no type is left out.
func (avroFormat) Infer(spec Spec, key, exact bool) (fields []Field, bare bool, err error) {
	root, _, err := avroSpecSchema(spec)
	if err != nil {
		return nil, false, err
	}
	c := avroColumns{exact: exact, open: map[*avroType]bool{}}
	row, _ := root.nullable()
	t := c.sqlType(row)
	if c.err == nil && t == nil {
		c.err = types.Errorf(types.CodeStatement, "the schema, of type %s, has no field of a type that a column can have", row.shown())
	}
	if c.err != nil {
		return nil, false, c.err
	}
	switch {
	case key:
		return []Field{{Name: bareKeyName, Type: t}}, true, nil
	case spec.Unwrapped || row.kind != avroRecord && row.kind != avroUnion:
		return []Field{{Name: bareValueName, Type: t}}, true, nil
	}
	for _, field := range t.Fields {
		fields = append(fields, Field(field))
	}
	return fields, false, nil
}

// avroSpecSchema is the type of spec.Schema. Of a union it is the branch that
// spec.SchemaName names, and prefix what stands before its values.
func avroSpecSchema(spec Spec) (t *avroType, prefix []byte, err error) {
	if spec.Schema == nil {
		return nil, nil, types.Errorf(types.CodeStatement, "there is no Avro schema")
	}
	root, err := parseAvro(*spec.Schema)
	if err != nil {
		return nil, nil, types.Errorf(types.CodeStatement, "%v", err)
	}
	if _, null := root.nullable(); null >= 0 || spec.SchemaName == "" {
		return root, nil, nil
	}
	for i, branch := range root.branches {
		if branch.name == spec.SchemaName {
			return branch, binary.AppendVarint(nil, int64(i)), nil
		}
	}
	return root, nil, nil
}

// avroColumns maps Avro types to SQL types.
type avroColumns struct {
	exact bool               // keep the case of names
	open  map[*avroType]bool // the records around the type at hand
	count int                // fields so far
	err   error
}

// sqlType is the type of t without its null; nil if SQL has none.
func (c *avroColumns) sqlType(t *avroType) *types.Type {
	t, _ = t.nullable()
	if t.logical == logicalDecimal {
		// Connect's own default is 64 digits; values seldom have them.
		if precision := min(t.precision, types.MaxPrecision); t.scale >= 0 && t.scale <= precision {
			return types.DecimalOf(precision, t.scale)
		}
		return nil
	}
	switch t.kind {
	case avroBoolean:
		return types.Boolean
	case avroInt:
		return avroIntType(t)
	case avroLong:
		if t.logical == logicalTimestampMillis {
			return types.Timestamp
		}
		return types.Bigint
	case avroFloat, avroDouble:
		return types.Double
	case avroString, avroEnum:
		return types.String
	case avroBytes, avroFixed:
		return types.Bytes
	case avroArray, avroMap:
		return c.collection(t)
	case avroRecord:
		return c.structure(t)
	case avroUnion:
		return c.variants(t)
	}
	return nil
}

func avroIntType(t *avroType) *types.Type {
	switch t.logical {
	case logicalDate:
		return types.Date
	case logicalTimeMillis:
		return types.Time
	}
	return types.Integer
}

func (c *avroColumns) collection(t *avroType) *types.Type {
	if key, value, ok := t.entry(); ok && t.elem.mapEntry {
		kind, elem := c.sqlType(t.elem.fields[key].kind), c.sqlType(t.elem.fields[value].kind)
		if kind == nil || elem == nil || kind.Kind != types.KindString {
			return nil
		}
		return types.MapOf(kind, elem)
	}
	elem := c.sqlType(t.elem)
	switch {
	case elem == nil:
		return nil
	case t.kind == avroMap:
		return types.MapOf(types.String, elem)
	}
	return types.ArrayOf(elem)
}

// structure leaves out fields without a type, and those that would nest a
// record in itself.
func (c *avroColumns) structure(t *avroType) *types.Type {
	if c.open[t] || c.err != nil {
		return nil
	}
	c.open[t] = true
	defer delete(c.open, t)
	members := avroMembers{columns: c, of: t}
	for i := range t.fields {
		members.add(t.fields[i].name, t.fields[i].kind)
	}
	return members.sqlType()
}

// variants is the STRUCT that Connect makes of a union of several types: a
// field a branch, of which one is not null.
func (c *avroColumns) variants(t *avroType) *types.Type {
	if len(t.branches) == 1 {
		return c.sqlType(t.branches[0])
	}
	members := avroMembers{columns: c, of: t}
	for _, branch := range t.branches {
		members.add(branch.branchName(), branch)
	}
	return members.sqlType()
}

// avroMembers collects the fields of a STRUCT.
type avroMembers struct {
	columns *avroColumns
	of      *avroType
	fields  []types.Field
}

func (m *avroMembers) add(name string, kind *avroType) {
	c := m.columns
	if c.err != nil {
		return
	}
	if c.count++; c.count > maxAvroFields {
		c.err = types.Errorf(types.CodeStatement, "the schema has more than %d fields, those of nested records counted wherever they stand",
			maxAvroFields).WithHint("declare the columns that you need")
		return
	}
	t := c.sqlType(kind)
	if t == nil {
		return
	}
	if !c.exact {
		name = strings.ToUpper(name)
	}
	for _, field := range m.fields {
		if field.Name == name {
			c.err = types.Errorf(types.CodeName, "%s of the schema has two fields that are both named %s", m.of.shown(), types.QuoteName(name)).
				WithHint("declare the columns, or name the schema by its id, which keeps the case of names")
			return
		}
	}
	m.fields = append(m.fields, types.Field{Name: name, Type: t})
}

func (m *avroMembers) sqlType() *types.Type {
	if len(m.fields) == 0 || m.columns.err != nil {
		return nil
	}
	return types.StructOf(m.fields...)
}

// Fits implements SchemaFormat.
func (f avroFormat) Fits(spec Spec, key bool, fields []Field) error {
	return fitsColumns(f, spec, key, fields)
}
