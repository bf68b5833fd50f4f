package crash

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"millrace/tests/kafka/reader"
)

// avroAsJSON are the records with their values as JSON, decoded by the one
// schema that the registry in the data folder has under a subject. It shares no
// code with the program's own formats.
func (w *world) avroAsJSON(subject string, records []reader.Record) []reader.Record {
	w.t.Helper()
	id, schema := w.schemaOf(subject)
	out := slices.Clone(records)
	for i, r := range records {
		fault := func(err error) { w.t.Fatalf("%s at offset %d: %v", subject, r.Offset, err) }
		if len(r.Value) < 5 || r.Value[0] != 0 || binary.BigEndian.Uint32(r.Value[1:]) != id {
			fault(fmt.Errorf("%x is not of schema %d", r.Value, id))
		}
		value, rest, err := decodeAvro(schema, r.Value[5:])
		if err != nil || len(rest) > 0 {
			fault(fmt.Errorf("%x: %w, %d bytes are left", r.Value, err, len(rest)))
		}
		if out[i].Value, err = json.Marshal(value); err != nil {
			fault(err)
		}
	}
	return out
}

// schemaOf is the only schema of a subject: runs that are repeated must not make
// another.
func (w *world) schemaOf(subject string) (id uint32, schema any) {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.folder, "data", "schemas", "schemas.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	var registry struct {
		Schemas []struct {
			ID   uint32
			Text string
		}
		Subjects map[string][]uint32
	}
	if err := json.Unmarshal(text, &registry); err != nil {
		w.t.Fatal(err)
	}
	ids := registry.Subjects[subject]
	if len(ids) != 1 || len(registry.Schemas) != 1 || registry.Schemas[0].ID != ids[0] {
		w.t.Fatalf("subject %s has not one schema: %s", subject, text)
	}
	if err := json.Unmarshal([]byte(registry.Schemas[0].Text), &schema); err != nil {
		w.t.Fatal(err)
	}
	return ids[0], schema
}

var errShort = errors.New("the value ends early")

// decodeAvro reads a value of a schema of records, unions, numbers and texts.
func decodeAvro(schema any, data []byte) (value any, rest []byte, err error) {
	switch s := schema.(type) {
	case []any:
		branch, rest, err := decodeLong(data)
		if err != nil || branch < 0 || branch >= int64(len(s)) {
			return nil, nil, fmt.Errorf("branch %d of %v: %w", branch, s, err)
		}
		return decodeAvro(s[branch], rest)
	case map[string]any:
		if s["type"] != "record" {
			return decodeAvro(s["type"], data)
		}
		row := map[string]any{}
		for _, field := range s["fields"].([]any) {
			f := field.(map[string]any)
			if row[f["name"].(string)], data, err = decodeAvro(f["type"], data); err != nil {
				return nil, nil, err
			}
		}
		return row, data, nil
	}
	switch schema {
	case "null":
		return nil, data, nil
	case "int", "long":
		return decodeLongValue(data)
	case "string":
		size, rest, err := decodeLong(data)
		if err != nil || size < 0 || size > int64(len(rest)) {
			return nil, nil, errShort
		}
		return string(rest[:size]), rest[size:], nil
	}
	return nil, nil, fmt.Errorf("schema %v is not one that is expected", schema)
}

func decodeLongValue(data []byte) (any, []byte, error) {
	n, rest, err := decodeLong(data)
	return n, rest, err
}

// decodeLong reads a zigzag varint.
func decodeLong(data []byte) (int64, []byte, error) {
	n, size := binary.Varint(data)
	if size <= 0 {
		return 0, nil, errShort
	}
	return n, data[size:], nil
}
