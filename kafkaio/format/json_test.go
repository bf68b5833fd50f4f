package format

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"millrace/exec/column"
	"millrace/sql/types"
)

func decodeJSON(t *testing.T, fields []Field, wanted []bool, payload string) error {
	_, err := decodeOne(t, jsonFormat{}.NewDecoder(Spec{Name: "JSON"}, fields, wanted), fields, wanted, []byte(payload))
	return err
}

func TestJSONDepthLimit(t *testing.T) {
	deep := types.String
	for range 600 {
		deep = types.ArrayOf(deep)
	}
	structs := types.String
	for range 600 {
		structs = types.StructOf(types.Field{Name: "A", Type: structs})
	}
	places := map[string]struct {
		kind   *types.Type
		wanted bool
		open   string
		close  string
	}{
		"skipped arrays":  {types.String, false, "[", "]"},
		"skipped objects": {types.String, false, `{"a":`, "}"},
		"as text":         {types.String, true, "[", "]"},
		"as JSON text":    {types.String, true, `{"a":`, "}"},
		"typed arrays":    {deep, true, "[", "]"},
		"typed structs":   {structs, true, `{"a":`, "}"},
		"wrong type":      {types.Bigint, true, "[", "]"},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			fields, wanted := []Field{{"V", place.kind}}, []bool{place.wanted}
			nested := func(n int) string {
				return `{"v":` + strings.Repeat(place.open, n) + "null" + strings.Repeat(place.close, n) + "}"
			}
			err := decodeJSON(t, fields, wanted, nested(maxJSONDepth-1))
			if wrong := place.kind == types.Bigint; (err != nil) != wrong {
				t.Errorf("%d levels: %v", maxJSONDepth, err)
			}
			for _, n := range []int{maxJSONDepth, 100_000} {
				if err := decodeJSON(t, fields, wanted, nested(n)); err == nil || !strings.Contains(err.Error(), "deeper") {
					t.Errorf("%d levels: %v", n+1, err)
				}
			}
			if err := decodeJSON(t, fields, wanted, `{"v":`+strings.Repeat(place.open, 100_000)); err == nil {
				t.Error("open brackets are accepted")
			}
		})
	}
}

// TestJSONEveryPrefix cuts a row at every byte: no part of an object is one.
func TestJSONEveryPrefix(t *testing.T) {
	row := `{"s":"a\u00e4ö\n","i":-1,"l":1.5e3,"d":-0.25,"b":true,"n":"1.5","x":"AQID","t":1,` +
		`"a":[[1],null],"m":{"k":{"v":"w"}},"c":{"x":1e-3,"y":["z"]},"other":[{"u":[1.5,false,null]},"\\"]}`
	if err := decodeJSON(t, fuzzedTypes, nil, row); err != nil {
		t.Fatal(err)
	}
	for n := range len(row) {
		for _, wanted := range [][]bool{nil, make([]bool, len(fuzzedTypes))} {
			if decodeJSON(t, fuzzedTypes, wanted, row[:n]) == nil {
				t.Errorf("%s is accepted", row[:n])
			}
		}
	}
}

// TestJSONChangingLayouts mixes records of other orders, names and numbers of
// members, so that remembered names are wrong most of the time.
func TestJSONChangingLayouts(t *testing.T) {
	fields := []Field{{"A", types.Bigint}, {"B", types.Bigint}, {strings.Repeat("LONG", 50), types.Bigint}}
	decoder := jsonFormat{}.NewDecoder(Spec{}, fields, nil)
	var payloads [][]byte
	var expected []string
	for i := range 500 {
		var members []string
		for n := range i % 90 {
			members = append(members, fmt.Sprintf(`"other%d_%d":%d`, i%7, n, n))
		}
		at := 0
		if len(members) > 0 {
			at = i * 31 % len(members)
		}
		name := fields[i%3].Name
		if i%2 == 0 {
			name = strings.ToLower(name)
		}
		members = append(members[:at:at], append([]string{fmt.Sprintf(`"%s":%d`, name, i)}, members[at:]...)...)
		payloads = append(payloads, []byte("{"+strings.Join(members, ",")+"}"))
		row := []string{"null", "null", "null"}
		row[i%3] = fmt.Sprint(i)
		expected = append(expected, strings.Join(row, " | "))
	}
	out := vectorsOf(fields, nil, len(payloads))
	decoder.Decode(payloads, allRows(len(payloads)), out, &column.Arena{}, func(row int32, err error) {
		t.Errorf("%s: %v", payloads[row], err)
	})
	for i := range payloads {
		if got := rowText(out, i); got != expected[i] {
			t.Errorf("%s: %s, expected %s", payloads[i], got, expected[i])
		}
	}
}

func TestJSONLargeMapsKeepTheLastValue(t *testing.T) {
	kind := types.MapOf(types.String, types.MapOf(types.String, types.Bigint))
	fields := []Field{{"M", kind}}
	var inner, outer []string
	for i := range 100 {
		inner = append(inner, fmt.Sprintf(`"k%d":%d`, i%40, i))
	}
	for i := range 50 {
		outer = append(outer, fmt.Sprintf(`"o%d":{%s}`, i%25, strings.Join(inner, ",")))
	}
	out := vectorsOf(fields, nil, 1)
	jsonFormat{}.NewDecoder(Spec{}, fields, nil).Decode([][]byte{[]byte(`{"m":{` + strings.Join(outer, ",") + `}}`)},
		[]int32{0}, out, &column.Arena{}, func(_ int32, err error) { t.Fatal(err) })
	m := out[0]
	if m.Spans[0].Len != 25 {
		t.Fatalf("%d entries", m.Spans[0].Len)
	}
	for n := range m.Spans[0].Len {
		entry := m.Children[1]
		span := entry.Spans[m.Spans[0].Start+n]
		if span.Len != 40 {
			t.Fatalf("%d inner entries", span.Len)
		}
		for k := range span.Len {
			key, value := entry.Children[0].Texts[span.Start+k], entry.Children[1].Ints[span.Start+k]
			last := value >= 60 && value < 100 && key == fmt.Sprintf("k%d", value%40)
			if !last {
				t.Errorf("%s is %d", key, value)
			}
		}
	}
}

func TestJSONDecodeAllocatesNothing(t *testing.T) {
	payloads, rows, arena := orders(), allRows(benchmarkRows), &column.Arena{}
	decoder := jsonFormat{}.NewDecoder(Spec{}, orderFields, nil)
	out := vectorsOf(orderFields, nil, benchmarkRows)
	bad := func(_ int32, err error) { t.Error(err) }
	decode := func() {
		for _, v := range out {
			v.Reset(benchmarkRows)
		}
		arena.Reset()
		decoder.Decode(payloads, rows, out, arena, bad)
	}
	if n := testing.AllocsPerRun(10, decode); n > 0 {
		t.Errorf("%v allocations in %d rows", n, benchmarkRows)
	}
}

func TestJSONEncodeAllocatesNothing(t *testing.T) {
	payloads := orders()
	out := vectorsOf(orderFields, nil, benchmarkRows)
	jsonFormat{}.NewDecoder(Spec{}, orderFields, nil).Decode(payloads, allRows(benchmarkRows), out, &column.Arena{},
		func(_ int32, err error) { t.Error(err) })
	encoder := jsonFormat{}.NewEncoder(Spec{}, orderFields)
	buf := make([]byte, 0, 1<<20)
	encode := func() {
		for i := range benchmarkRows {
			if _, _, err := encoder.Append(buf, out, i); err != nil {
				t.Error(err)
			}
		}
	}
	if n := testing.AllocsPerRun(10, encode); n > 0 {
		t.Errorf("%v allocations in %d rows", n, benchmarkRows)
	}
}

// TestJSONInvalidText shows that a text from elsewhere cannot make a payload
// that no one can read.
func TestJSONInvalidText(t *testing.T) {
	fields := []Field{{"S", types.String}}
	in := vectorsOf(fields, nil, 2)
	in[0].SetText(0, "bad \xff\xfe end")
	in[0].SetText(1, "\xe2\x82 a longer text \" with a quote")
	encoder := jsonFormat{}.NewEncoder(Spec{}, fields)
	for i, expected := range []string{"{\"S\":\"bad \ufffd\ufffd end\"}", "{\"S\":\"\ufffd\ufffd a longer text \\\" with a quote\"}"} {
		payload, _, err := encoder.Append(nil, in, i)
		if err != nil || string(payload) != expected {
			t.Errorf("%s, %v, expected %s", payload, err, expected)
		}
	}
}

// TestJSONNullMapKey shows how an entry without a key is written.
func TestJSONNullMapKey(t *testing.T) {
	fields := []Field{{"M", types.MapOf(types.String, types.Integer)}}
	in := vectorsOf(fields, nil, 1)
	in[0].Children[0].Extend(1)
	in[0].Children[1].Extend(1)
	in[0].Children[1].SetInt(0, 7)
	in[0].SetSpan(0, 0, 1)
	payload, _, err := jsonFormat{}.NewEncoder(Spec{}, fields).Append(nil, in, 0)
	if err != nil || string(payload) != `{"M":{"null":7}}` {
		t.Errorf("%s, %v", payload, err)
	}
}

// TestJSONAgreesOnDamagedRows damages rows at random, from a fixed seed, and
// compares what is accepted with encoding/json.
func TestJSONAgreesOnDamagedRows(t *testing.T) {
	pieces := []string{
		`"`, `\`, `\u`, `\ud83d\ude00`, "{", "}", "[", "]", ":", ",", "null", "true", "-", "0", "1e5", ".5", "E+3",
		"12345678901234567890", "\x00", "\n", " ", "\xff", "é", "\xc3", `"s":`, `"B":null`, `,"d":-0.0`, `"A":[1,{"c":[]}]`,
	}
	seeds := []string{
		`{"s":"a\u00e4ö\n","i":-1,"l":1.5e3,"d":-0.25,"b":true,"n":"1.5","t":1,"a":[[1],null]}`,
		`{ "m" : {"k" : {"v":"w"}}, "c" : {"x":1e-3,"y":["z", 1]}, "other" : [ {"u":[1.5,false,null]}, "\\" ] }`,
	}
	random := rand.New(rand.NewPCG(3, 4))
	none := jsonFormat{}.NewDecoder(Spec{}, fuzzedTypes, make([]bool, len(fuzzedTypes)))
	typed := jsonFormat{}.NewDecoder(Spec{}, fuzzedTypes, nil)
	out, skipped := vectorsOf(fuzzedTypes, nil, 1), make([]*column.Vector, len(fuzzedTypes))
	var arena column.Arena
	for range 30_000 {
		row := seeds[random.IntN(len(seeds))]
		for range 1 + random.IntN(3) {
			at := random.IntN(len(row) + 1)
			end := min(len(row), at+random.IntN(4))
			row = row[:at] + pieces[random.IntN(len(pieces))] + row[end:]
		}
		valid := json.Valid([]byte(row)) && utf8.ValidString(row)
		object := valid && (strings.TrimLeft(row, " \n\r\t")[0] == '{' || strings.TrimSpace(row) == "null")
		var failed, mismatch error
		none.Decode([][]byte{[]byte(row)}, []int32{0}, skipped, &arena, func(_ int32, err error) { failed = err })
		if (failed == nil) != object {
			t.Fatalf("%q: an object is %t, but %v", row, object, failed)
		}
		for _, v := range out {
			v.Reset(1)
		}
		typed.Decode([][]byte{[]byte(row)}, []int32{0}, out, &arena, func(_ int32, err error) { mismatch = err })
		if mismatch == nil && !object {
			t.Fatalf("%q is accepted", row)
		}
		if mismatch != nil && object && mismatch.(*RecordError).Path == "" {
			t.Fatalf("%q: no column is named by %v", row, mismatch)
		}
	}
}
