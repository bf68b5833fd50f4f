package format

import (
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// avroFormat is the Avro binary encoding behind the id of the writer's schema
// in a registry: a zero byte, the id in 4 bytes, big-endian, and one value. The
// conventions for SQL types are those of Kafka Connect, so that its connectors
// and ksqlDB read what is written here, and the other way round.
type avroFormat struct{}

func (avroFormat) Check(spec Spec, key bool, fields []Field) error {
	if err := (jsonFormat{}).Check(spec, key, fields); err != nil {
		return err
	}
	if spec.SchemaName != "" && !validAvroFullName(spec.SchemaName) {
		return types.Errorf(types.CodeProperty, "%s is no full name of an Avro record", types.QuoteName(spec.SchemaName)).
			WithHint("give names of letters, digits and _ with points between, such as com.example.Order")
	}
	for _, field := range fields {
		if !spec.Unwrapped && !validAvroName(field.Name) {
			return invalidAvroName(field, field.Name)
		}
		if name, ok := invalidNestedName(field.Type); ok {
			return invalidAvroName(field, name)
		}
	}
	return nil
}

func invalidAvroName(field Field, name string) error {
	where := "column " + types.QuoteName(field.Name)
	if name != field.Name {
		where = "field " + types.QuoteName(name) + " of " + where
	}
	return types.Errorf(types.CodeName, "%s has a name that Avro does not allow", where).
		WithHint("a name starts with a letter or _, and goes on with letters, digits and _")
}

// invalidNestedName finds a field of a STRUCT inside t whose name Avro refuses.
func invalidNestedName(t *types.Type) (name string, found bool) {
	t.Contains(func(inner *types.Type) bool {
		for _, field := range inner.Fields {
			if !found && !validAvroName(field.Name) {
				name, found = field.Name, true
			}
		}
		return found
	})
	return name, found
}

func (avroFormat) Wraps() bool { return true }

func (avroFormat) Kind() registry.Kind { return registry.Avro }

func (avroFormat) Registered() bool { return true }

func (avroFormat) NewDecoder(spec Spec, fields []Field, wanted []bool) Decoder {
	return newAvroDecoder(spec, fields, wanted)
}

func (avroFormat) NewEncoder(spec Spec, fields []Field) Encoder {
	return newAvroEncoder(spec, fields)
}

func (avroFormat) NewTranscoder(spec Spec, key bool, fields []Field) (Transcoder, error) {
	return newAvroTranscoder(spec, key, fields)
}
