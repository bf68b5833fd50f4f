package format

import (
	"encoding/json"
	"strings"

	"github.com/twmb/avro"
)

// maxDefaultRecords is how many objects the defaults of a schema may hold, those
// of maps apart: a default's own missing fields have their defaults, which
// doubles the values of a few nested records to any number.
const maxDefaultRecords = 30

// avroParser parses a schema and, before it, those that it refers to. Names may
// hold any letters, as Java's implementation allows.
//
// A schema whose defaults are invalid or too many is read without them: only
// those who write by it need them. Registries hold such schemas from before
// defaults were checked.
type avroParser struct {
	cache   avro.SchemaCache
	records int // in the defaults so far
}

func (p *avroParser) parse(text string) (*avro.Schema, error) {
	text = quotedAvro(text)
	var tree any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&tree) != nil {
		return p.cache.Parse(text, avro.WithLaxNames(nil)) // which says what is wrong
	}
	var fault error
	if p.records += defaultRecords(tree); p.records <= maxDefaultRecords {
		schema, err := p.cache.Parse(text, avro.WithLaxNames(nil))
		if err == nil || !dropDefaults(tree) {
			return schema, err
		}
		fault = err
	} else {
		dropDefaults(tree)
	}
	bare, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	schema, err := p.cache.Parse(string(bare), avro.WithLaxNames(nil))
	if err != nil && fault != nil {
		return nil, fault
	}
	return schema, err
}

// fieldsOfAvro calls visit with each field in the JSON text of a schema.
func fieldsOfAvro(tree any, visit func(field map[string]any)) {
	switch tree := tree.(type) {
	case []any:
		for _, element := range tree {
			fieldsOfAvro(element, visit)
		}
	case map[string]any:
		fields, _ := tree["fields"].([]any)
		for _, field := range fields {
			if field, ok := field.(map[string]any); ok {
				visit(field)
			}
		}
		for _, member := range tree {
			fieldsOfAvro(member, visit)
		}
	}
}

// dropDefaults takes the defaults of all fields out of a schema, if there are any.
func dropDefaults(tree any) (dropped bool) {
	fieldsOfAvro(tree, func(field map[string]any) {
		if _, ok := field["default"]; ok {
			delete(field, "default")
			dropped = true
		}
	})
	return dropped
}

// defaultRecords counts the objects in the defaults of a schema that are not the
// map which is a default itself.
func defaultRecords(tree any) (count int) {
	fieldsOfAvro(tree, func(field map[string]any) {
		objects := countObjects(field["default"])
		if kind, ok := field["type"].(map[string]any); ok && kind["type"] == avroMap && objects > 0 {
			objects--
		}
		count += objects
	})
	return count
}

func countObjects(tree any) (count int) {
	switch tree := tree.(type) {
	case []any:
		for _, element := range tree {
			count += countObjects(element)
		}
	case map[string]any:
		count = 1
		for _, member := range tree {
			count += countObjects(member)
		}
	}
	return count
}
