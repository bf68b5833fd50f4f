package format

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// FuzzAvroPayload decodes any bytes by a schema of every kind of type, whole and
// skipped: what one reader accepts, the other and the transcoder do too.
func FuzzAvroPayload(f *testing.F) {
	spec, payload := fuzzedAvro(f)
	f.Add(payload[schemaHeader:])
	for n := schemaHeader; n < len(payload); n += 3 {
		f.Add(payload[schemaHeader:n])
		f.Add(append(bytes.Clone(payload[schemaHeader:n]), 0xff, 0xff, 0xff, 0xff, 0x0f))
	}
	wanted := make([]bool, len(fuzzedTypes))
	whole, skipped := avroFormat{}.NewDecoder(spec, fuzzedTypes, nil), avroFormat{}.NewDecoder(spec, fuzzedTypes, wanted)
	transcoder, err := avroFormat{}.NewTranscoder(spec, false, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		payload := append([]byte{0, 0, 0, 0, 7}, value...)
		shown, err := decodeOne(t, whole, fuzzedTypes, nil, payload)
		_, skipErr := decodeOne(t, skipped, fuzzedTypes, wanted, payload)
		text, printErr := transcoder.ToJSON(nil, payload)
		if err == nil && (skipErr != nil || printErr != nil) {
			t.Fatalf("%x is read as %s, but skipped with %v, printed with %v", payload, shown, skipErr, printErr)
		}
		if _, err := parseOrderedJSON(text); printErr == nil && err != nil {
			t.Fatalf("%x is printed as %q: %v", payload, text, err)
		}
	})
}

// FuzzAvroSchema takes any text as a schema and any bytes as a value of it. What
// is read into the inferred columns and can be written is read as the same again.
func FuzzAvroSchema(f *testing.F) {
	for _, text := range goldenAvroSchemas(f) {
		f.Add(text, []byte{0, 2, 4, 6, 2, 97, 0, 0, 0, 0})
	}
	f.Fuzz(func(t *testing.T, text string, value []byte) {
		schema := registry.Schema{Kind: registry.Avro, Text: text}
		spec := Spec{Name: "AVRO", Schema: &schema, SchemaID: 1, Schemas: avroSchemas{1: text}}
		fields, bare, err := avroFormat{}.Infer(spec, false, true)
		if err != nil {
			if _, ok := err.(*types.Error); !ok {
				t.Fatalf("%T is no *types.Error", err)
			}
			return
		}
		spec.Unwrapped = bare
		if err := (avroFormat{}).Fits(spec, false, fields); err != nil {
			t.Fatalf("%s: the inferred columns do not fit: %v", text, err)
		}
		payload := append([]byte{0, 0, 0, 0, 1}, value...)
		decoder := avroFormat{}.NewDecoder(spec, fields, nil)
		shown, err := decodeOne(t, decoder, fields, nil, payload)
		if transcoder, err := (avroFormat{}).NewTranscoder(spec, false, nil); err == nil {
			_, _ = transcoder.ToJSON(nil, payload)
		}
		if err != nil {
			return
		}
		out := vectorsOf(fields, nil, 1)
		decoder.Decode([][]byte{payload}, []int32{0}, out, &column.Arena{}, func(_ int32, err error) { t.Fatal(err) })
		written, null, err := avroFormat{}.NewEncoder(spec, fields).Append(nil, out, 0)
		if err != nil || null {
			return
		}
		if again, err := decodeOne(t, decoder, fields, nil, written); err != nil || again != shown {
			t.Fatalf("%s: %x is read as %s, written as %x and read as %s, %v", text, payload, shown, written, again, err)
		}
	})
}

// goldenAvroSchemas are the schemas of the golden files.
func goldenAvroSchemas(t testing.TB) []string {
	paths, err := filepath.Glob("testdata/avro/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	var schemas []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\nschema id=") {
			_, schema, _ := strings.Cut(part, "\n")
			schema, _, _ = strings.Cut(schema, "\n----")
			schemas = append(schemas, schema)
		}
	}
	return schemas
}
