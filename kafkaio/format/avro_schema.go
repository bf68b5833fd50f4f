package format

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/twmb/avro"

	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// The kinds of Avro types, by the specification's names.
const (
	avroNull    = "null"
	avroBoolean = "boolean"
	avroInt     = "int"
	avroLong    = "long"
	avroFloat   = "float"
	avroDouble  = "double"
	avroBytes   = "bytes"
	avroString  = "string"
	avroRecord  = "record"
	avroEnum    = "enum"
	avroArray   = "array"
	avroMap     = "map"
	avroUnion   = "union"
	avroFixed   = "fixed"
)

// The logical types that have a meaning here.
const (
	logicalDecimal         = "decimal"
	logicalDate            = "date"
	logicalTimeMillis      = "time-millis"
	logicalTimeMicros      = "time-micros"
	logicalTimestampMillis = "timestamp-millis"
	logicalTimestampMicros = "timestamp-micros"
	logicalTimestampNanos  = "timestamp-nanos"
)

// avroType is a type of a parsed schema, with names resolved: recursive types
// make a cyclic graph.
type avroType struct {
	kind             string
	name             string // full, of a record, enum or fixed
	logical          string
	precision, scale int // decimal
	size             int // fixed
	symbols          []string
	fields           []avroField
	elem             *avroType // items of an array, values of a map
	branches         []*avroType
	mapEntry         bool // a record that Connect wrote as an entry of a map
}

type avroField struct {
	name       string
	kind       *avroType
	value      any // the default, in the Go types of the Avro library
	hasDefault bool
}

var errAvroUnnamed = errors.New("a type is named that the schema does not define")

// parseAvro reads a schema with those that it refers to.
func parseAvro(schema registry.Schema) (*avroType, error) {
	if schema.Kind != registry.Avro {
		return nil, fmt.Errorf("the schema is of kind %s, not AVRO", schema.Kind)
	}
	var p avroParser
	for _, reference := range schema.References {
		if _, err := p.parse(reference.Text); err != nil {
			return nil, fmt.Errorf("the Avro schema %s does not parse: %w", reference.Name, err)
		}
	}
	parsed, err := p.parse(schema.Text)
	if err != nil {
		return nil, fmt.Errorf("the Avro schema does not parse: %w", err)
	}
	b := avroBuilder{named: map[string]*avroType{}}
	t, err := b.build(parsed.Root(), "")
	if err != nil {
		return nil, fmt.Errorf("the Avro schema does not parse: %w", err)
	}
	return t, nil
}

// quotedAvro is a schema's text where a primitive type may stand without quotes.
func quotedAvro(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed != "" && strings.Trim(trimmed, "abcdefghijklmnopqrstuvwxyz") == "" {
		return `"` + trimmed + `"`
	}
	return text
}

type avroBuilder struct{ named map[string]*avroType }

// build makes a type of a node inside a namespace.
func (b *avroBuilder) build(node *avro.SchemaNode, namespace string) (*avroType, error) {
	t := &avroType{kind: node.Type, logical: avroLogical(node), precision: node.Precision, scale: node.Scale}
	var err error
	switch node.Type {
	case avroNull, avroBoolean, avroInt, avroLong, avroFloat, avroDouble, avroBytes, avroString:
	case avroArray:
		t.elem, err = b.build(node.Items, namespace)
	case avroMap:
		t.elem, err = b.build(node.Values, namespace)
	case avroUnion:
		for i := range node.Branches {
			branch, err := b.build(&node.Branches[i], namespace)
			if err != nil {
				return nil, err
			}
			t.branches = append(t.branches, branch)
		}
	case avroRecord, "error", avroEnum, avroFixed:
		err = b.define(t, node)
	default:
		return b.lookup(node.Type, namespace)
	}
	return t, err
}

func (b *avroBuilder) define(t *avroType, node *avro.SchemaNode) error {
	t.name = node.Name
	namespace := node.Namespace
	if at := strings.LastIndexByte(node.Name, '.'); at >= 0 {
		namespace = node.Name[:at]
	} else if namespace != "" {
		t.name = namespace + "." + node.Name
	}
	t.symbols, t.size = node.Symbols, node.Size
	t.mapEntry = node.Props["connect.internal.type"] == "MapEntry" || t.name == "io.confluent.connect.avro.MapEntry"
	b.named[t.name] = t
	if node.Type == avroEnum || node.Type == avroFixed {
		return nil
	}
	t.kind = avroRecord
	for i := range node.Fields {
		field := &node.Fields[i]
		kind, err := b.build(&field.Type, namespace)
		if err != nil {
			return err
		}
		t.fields = append(t.fields, avroField{name: field.Name, kind: kind, value: field.Default, hasDefault: field.HasDefault})
	}
	return nil
}

func (b *avroBuilder) lookup(name, namespace string) (*avroType, error) {
	if t, ok := b.named[namespace+"."+name]; ok {
		return t, nil
	}
	if t, ok := b.named[name]; ok {
		return t, nil
	}
	return nil, fmt.Errorf("%s: %w", name, errAvroUnnamed)
}

// avroLogical is the logical type of a node; Connect's own name of a type says
// the same where the schema has no logicalType.
func avroLogical(node *avro.SchemaNode) string {
	logical := node.LogicalType
	if logical == "" {
		name, _ := node.Props["connect.name"].(string)
		switch strings.TrimPrefix(name, connectTypes) {
		case "Date":
			logical = logicalDate
		case "Time":
			logical = logicalTimeMillis
		case "Timestamp":
			logical = logicalTimestampMillis
		}
	}
	logical = strings.TrimPrefix(logical, "local-")
	if logicalBase[logical] == node.Type || logical == logicalDecimal && (node.Type == avroBytes || node.Type == avroFixed) {
		return logical
	}
	return ""
}

// logicalBase is the type that each logical type of a number stands on.
var logicalBase = map[string]string{
	logicalDate:            avroInt,
	logicalTimeMillis:      avroInt,
	logicalTimeMicros:      avroLong,
	logicalTimestampMillis: avroLong,
	logicalTimestampMicros: avroLong,
	logicalTimestampNanos:  avroLong,
}

// nullable takes the null out of a union of it and one type; null is its
// branch, -1 where t is no such union.
func (t *avroType) nullable() (inner *avroType, null int) {
	if t.kind == avroUnion && len(t.branches) == 2 {
		for i, branch := range t.branches {
			if branch.kind == avroNull && t.branches[1-i].kind != avroNull {
				return t.branches[1-i], i
			}
		}
	}
	return t, -1
}

// field is the place of a field by its exact name, else without case, or -1.
func (t *avroType) field(name string) int {
	found := -1
	for i := range t.fields {
		if t.fields[i].name == name {
			return i
		}
		if found < 0 && strings.EqualFold(t.fields[i].name, name) {
			found = i
		}
	}
	return found
}

// matches is for each of some columns the place of its field of a record, -1
// where there is none. Exact names come first, so that no other column takes a
// field from the one that has its very name.
func (t *avroType) matches(columns []types.Field) []int {
	places := make([]int, len(columns))
	taken := make([]bool, len(t.fields))
	for i, column := range columns {
		places[i] = slices.IndexFunc(t.fields, func(field avroField) bool { return field.name == column.Name })
		if places[i] >= 0 {
			taken[places[i]] = true
		}
	}
	for i, column := range columns {
		if places[i] >= 0 {
			continue
		}
		for k := range t.fields {
			if !taken[k] && strings.EqualFold(t.fields[k].name, column.Name) {
				places[i], taken[k] = k, true
				break
			}
		}
	}
	return places
}

// entry tells whether t is an array of records of a key and a value, which can
// stand for a map, and which fields these are. Writers put the key first.
func (t *avroType) entry() (key, value int, ok bool) {
	if t.kind != avroArray || len(t.elem.fields) != 2 {
		return 0, 0, false
	}
	key, value = t.elem.field("key"), t.elem.field("value")
	return key, value, key == 0 && value == 1
}

// branchName is how Connect names a branch of a union of several types.
func (t *avroType) branchName() string {
	if t.name != "" {
		return t.name[strings.LastIndexByte(t.name, '.')+1:]
	}
	return t.kind
}

// shown is the type for a message.
func (t *avroType) shown() string {
	if inner, null := t.nullable(); null >= 0 {
		return inner.shown()
	}
	switch {
	case t.name != "":
		return t.kind + " " + t.branchName()
	case t.logical != "":
		return t.kind + " (" + t.logical + ")"
	}
	return t.kind
}

// validAvroName tells whether name may be a field of a record. The letters are
// those of Unicode: Java's implementation takes them.
func validAvroName(name string) bool {
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != ""
}

func validAvroFullName(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if !validAvroName(part) {
			return false
		}
	}
	return true
}
