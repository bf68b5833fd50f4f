package format

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"millrace/exec/column"
	"millrace/sql/types"
)

// addSeeds seeds a fuzz target with every line of the golden files.
func addSeeds(f *testing.F) {
	paths, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			f.Add([]byte(line))
		}
	}
}

// decodeOne decodes a payload three times, so that what the decoder remembers
// of the first is used, and expects the same outcome each time.
func decodeOne(t *testing.T, decoder Decoder, fields []Field, wanted []bool, payload []byte) (string, error) {
	payloads := [][]byte{payload, payload, payload}
	out := vectorsOf(fields, wanted, len(payloads))
	failed := make([]error, len(payloads))
	decoder.Decode(payloads, allRows(len(payloads)), out, &column.Arena{}, func(row int32, err error) {
		if _, ok := err.(*RecordError); !ok {
			t.Errorf("%q: %T is no *RecordError", payload, err)
		}
		failed[row] = err
	})
	for i := range failed {
		if (failed[i] == nil) != (failed[0] == nil) || failed[i] != nil && failed[i].Error() != failed[0].Error() {
			t.Fatalf("%q: first %v, then %v", payload, failed[0], failed[i])
		}
		if failed[i] == nil && rowText(out, i) != rowText(out, 0) {
			t.Fatalf("%q: first %s, then %s", payload, rowText(out, 0), rowText(out, i))
		}
	}
	if failed[0] != nil {
		return "", failed[0]
	}
	return rowText(out, 0), nil
}

var fuzzedTypes = []Field{
	{"S", types.String},
	{"I", types.Integer},
	{"L", types.Bigint},
	{"D", types.Double},
	{"B", types.Boolean},
	{"N", types.DecimalOf(6, 2)},
	{"X", types.Bytes},
	{"T", types.Time},
	{"A", types.ArrayOf(types.ArrayOf(types.Bigint))},
	{"M", types.MapOf(types.String, types.StructOf(types.Field{Name: "V", Type: types.String}))},
	{"C", types.StructOf(types.Field{Name: "X", Type: types.Double}, types.Field{Name: "Y", Type: types.ArrayOf(types.String)})},
}

// FuzzJSON compares what is accepted with encoding/json. Values are compared
// by the round trip tests.
func FuzzJSON(f *testing.F) {
	addSeeds(f)
	text := []Field{{"S", types.String}}
	bare := jsonFormat{}.NewDecoder(Spec{Unwrapped: true}, text, nil)
	none := jsonFormat{}.NewDecoder(Spec{}, nil, nil)
	typed := jsonFormat{}.NewDecoder(Spec{}, fuzzedTypes, nil)
	f.Fuzz(func(t *testing.T, payload []byte) {
		valid := json.Valid(payload) && utf8.Valid(payload) && depthOf(payload) <= maxJSONDepth
		if shown, err := decodeOne(t, bare, text, nil, payload); (err == nil) != valid {
			t.Fatalf("%q: valid is %t, but read %s, %v", payload, valid, shown, err)
		}
		first := strings.TrimLeft(string(payload), " \t\r\n")
		row := valid && (first[0] == '{' || first[0] == 'n')
		if _, err := decodeOne(t, none, nil, nil, payload); (err == nil) != row {
			t.Fatalf("%q: a row is %t, but %v", payload, row, err)
		}
		if shown, err := decodeOne(t, typed, fuzzedTypes, nil, payload); err == nil && !row {
			t.Fatalf("%q: no row, but read %s", payload, shown)
		}
	})
}

// depthOf counts the brackets of valid JSON that are open at once.
func depthOf(payload []byte) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(payload); i++ {
		switch c := payload[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

func FuzzDelimited(f *testing.F) {
	addSeeds(f)
	fields := fuzzedTypes[:8]
	decoder := delimitedFormat{}.NewDecoder(Spec{}, fields, nil)
	three := []Field{{"A", types.String}, {"B", types.String}, {"C", types.String}}
	texts := delimitedFormat{}.NewDecoder(Spec{}, three, nil)
	f.Fuzz(func(t *testing.T, payload []byte) {
		_, err := decodeOne(t, decoder, fields, nil, payload)
		if err == nil && strings.Count(string(payload), ",") < len(fields)-1 {
			t.Fatalf("%q has too few fields", payload)
		}
		shown, err := decodeOne(t, texts, three, nil, payload)
		if err != nil {
			return
		}
		out := vectorsOf(three, nil, 1)
		texts.Decode([][]byte{payload}, []int32{0}, out, &column.Arena{}, func(_ int32, err error) { t.Fatal(err) })
		line, _, err := delimitedFormat{}.NewEncoder(Spec{}, three).Append(nil, out, 0)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decodeOne(t, texts, three, nil, line); err != nil || again != shown {
			t.Fatalf("%q reads %s, written as %q reads %s, %v", payload, shown, line, again, err)
		}
	})
}

func FuzzKafka(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, kind := range []*types.Type{types.Integer, types.Bigint, types.Double, types.String, types.Bytes} {
			fields := []Field{{"C", kind}}
			if _, err := decodeOne(t, kafkaFormat{}.NewDecoder(Spec{}, fields, nil), fields, nil, payload); err != nil {
				continue
			}
			out := vectorsOf(fields, nil, 1)
			setBinary(out[0], 0, payload)
			again, _, _ := kafkaFormat{}.NewEncoder(Spec{}, fields).Append(nil, out, 0)
			if string(again) != string(payload) {
				t.Fatalf("%s %x is written as %x", kind, payload, again)
			}
		}
	})
}

func FuzzInternal(f *testing.F) {
	addSeeds(f)
	decoder := internalFormat{}.NewDecoder(Spec{}, fuzzedTypes, nil)
	rows := vectorsOf(fuzzedTypes, nil, 1)
	seed := []byte(`{"S":"s","I":1,"L":2,"D":3,"B":true,"N":4,"X":"AQID","T":5,"A":[[1,2],null],"M":{"k":{"V":"v"}},"C":{"X":1,"Y":["y"]}}`)
	jsonFormat{}.NewDecoder(Spec{}, fuzzedTypes, nil).Decode([][]byte{seed}, []int32{0}, rows, &column.Arena{},
		func(_ int32, err error) { f.Fatal(err) })
	f.Add(column.AppendRow(nil, rows, 0))
	f.Fuzz(func(t *testing.T, payload []byte) {
		_, _ = decodeOne(t, decoder, fuzzedTypes, nil, payload)
	})
}
