package format

import (
	"encoding/binary"

	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// avroFormat is the Avro binary encoding behind the id of the writer's schema
// in a registry: a zero byte, the id in 4 bytes, big-endian, and one value. The
// conventions for SQL types are those of Kafka Connect, so that its connectors
// and ksqlDB read what is written here, and the other way round.
type avroFormat struct{}

// avroHeader is how many bytes stand before the encoded value.
const avroHeader = 5

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

// appendAvroHeader appends what stands before a value of the schema with the id.
func appendAvroHeader(dst []byte, id int32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0), uint32(id))
}

// avroSchemaID is the id of a payload's schema, or what is wrong with it.
func avroSchemaID(payload []byte) (id int32, reason string) {
	switch {
	case len(payload) > 0 && payload[0] != 0:
		return 0, "the payload does not start with a zero byte and the id of a schema, as those of a schema registry do"
	case len(payload) < avroHeader:
		return 0, "the payload is too short to hold the id of a schema"
	}
	return int32(binary.BigEndian.Uint32(payload[1:])), ""
}
