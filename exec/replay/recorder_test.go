package replay

import (
	"testing"

	"millrace/kafkaio/registry"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// A payload that follows no schema is given as text, and is no error.
func TestForeignPayload(t *testing.T) {
	schemas := registry.NewMemory()
	schemas.Put(1, "s-value", registry.Schema{Kind: registry.Avro, Text: `{"type":"record","name":"R","fields":[{"name":"A","type":"int"}]}`})
	source := &catalog.Source{
		Name: "S", Topic: "s", Value: []catalog.Column{{Name: "A", Type: types.Integer}},
		ValueFormat: catalog.Format{Name: "AVRO", SchemaID: 1},
	}
	r := NewRecorder(schemas)
	for payload, want := range map[string]string{
		"\x00\x00\x00\x00\x01\x04": `{"A":2}`,
		`{"A":3}`:                  `{"A":3}`,
		"text":                     `"text"`,
		"\x00\x00\x00\x00\x09\x04": `"\u0000\u0000\u0000\u0000\t\u0004"`,
		"\x00\x00\x00\x00\x01":     `"\u0000\u0000\u0000\u0000\u0001"`,
		"":                         `""`,
	} {
		if got, err := r.decode([]byte(payload), source, false); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v, not %s", payload, got, err, want)
		}
	}
}
