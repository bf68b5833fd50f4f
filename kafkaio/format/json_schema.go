package format

import (
	"millrace/exec/column"
	"millrace/kafkaio/registry"
)

// jsonSchemaFormat is JSON behind the id of a JSON Schema in a registry: a zero
// byte, the id in 4 bytes, big-endian, and what the JSON format reads and
// writes. Readers need no schema for that; it tells others and inference what
// the JSON holds, by the conventions of Kafka Connect's converter.
type jsonSchemaFormat struct {
	jsonFormat
}

func (jsonSchemaFormat) Kind() registry.Kind { return registry.JSON }

func (jsonSchemaFormat) Registered() bool { return true }

func (f jsonSchemaFormat) NewDecoder(spec Spec, fields []Field, wanted []bool) Decoder {
	inner := f.jsonFormat.NewDecoder(spec, fields, wanted).(*jsonDecoder)
	inner.entryMaps = true
	return &jsonSchemaDecoder{inner: inner}
}

// jsonSchemaDecoder reads what stands behind the header.
type jsonSchemaDecoder struct {
	inner *jsonDecoder
	texts [][]byte
	rows  []int32
}

func (d *jsonSchemaDecoder) Decode(
	payloads [][]byte, rows []int32, out []*column.Vector, arena *column.Arena, bad func(int32, error),
) {
	if len(d.texts) < len(payloads) {
		d.texts = make([][]byte, len(payloads))
	}
	d.rows = d.rows[:0]
	for _, row := range rows {
		if _, reason := schemaID(payloads[row]); reason != "" {
			bad(row, &RecordError{Reason: reason})
			continue
		}
		d.texts[row] = payloads[row][schemaHeader:]
		d.rows = append(d.rows, row)
	}
	d.inner.Decode(d.texts, d.rows, out, arena, bad)
	clear(d.texts)
}
