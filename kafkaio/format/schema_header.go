package format

import "encoding/binary"

// schemaHeader is how many bytes stand before what a payload with a schema in a
// registry holds: a zero byte and the schema's id, big-endian.
const schemaHeader = 5

// SchemaID is the id of the schema that a payload names; ok is false where it
// does not start as those of a schema registry do.
func SchemaID(payload []byte) (id int32, ok bool) {
	id, reason := schemaID(payload)
	return id, reason == ""
}

// schemaID is the id of a payload's schema, or what is wrong with it.
func schemaID(payload []byte) (id int32, reason string) {
	switch {
	case len(payload) > 0 && payload[0] != 0:
		return 0, "the payload does not start with a zero byte and the id of a schema, as those of a schema registry do"
	case len(payload) < schemaHeader:
		return 0, "the payload is too short to hold the id of a schema"
	}
	return int32(binary.BigEndian.Uint32(payload[1:])), ""
}

// appendSchemaHeader appends what stands before the encoded row.
func appendSchemaHeader(dst []byte, id int32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0), uint32(id))
}
