package expr

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"millrace/exec/column"
	"millrace/exec/fn"
	"millrace/sql/types"
)

// ordinary has columns of ordinary values, by their kind of content.
var ordinary = []struct {
	name string
	t    *types.Type
	set  func(r *rand.Rand, v *column.Vector, i int)
}{
	{"P", types.Boolean, func(r *rand.Rand, v *column.Vector, i int) { v.SetBool(i, r.IntN(2) == 0) }},
	{"I", types.Integer, func(r *rand.Rand, v *column.Vector, i int) { v.SetInt(i, int64(1+r.IntN(8))) }},
	{"B", types.Bigint, func(r *rand.Rand, v *column.Vector, i int) { v.SetInt(i, r.Int64N(1e12)) }},
	{"D", types.Double, func(r *rand.Rand, v *column.Vector, i int) { v.SetDouble(i, float64(r.IntN(89999))/1000) }},
	{"N", types.DecimalOf(18, 4), func(r *rand.Rand, v *column.Vector, i int) {
		v.SetDecimal(i, types.DecimalFromInt(int64(r.IntN(899999))))
	}},
	{"X", types.DecimalOf(38, 10), func(r *rand.Rand, v *column.Vector, i int) {
		v.SetDecimal(i, types.Decimal{High: r.Int64N(1 << 40), Low: r.Uint64()})
	}},
	{"S", types.String, setPrinted("Order-%d from server %[1]d, open")},
	{"U", types.String, setPrinted("Grüße an den Käufer %d 😀")},
	{"Y", types.Bytes, setPrinted("bytes %d,\xff")},
	{"E", types.Date, func(r *rand.Rand, v *column.Vector, i int) { v.SetInt(i, int64(r.IntN(20000))) }},
	{"T", types.Time, func(r *rand.Rand, v *column.Vector, i int) { v.SetInt(i, r.Int64N(86_400_000)) }},
	{"M", types.Timestamp, func(r *rand.Rand, v *column.Vector, i int) { v.SetInt(i, 1577923200000+r.Int64N(1e11)) }},
	{"A", types.ArrayOf(types.Bigint), setElements},
	{"L", types.ArrayOf(types.String), setElements},
	{"K", types.MapOf(types.String, types.Bigint), setElements},
	{"R", types.StructOf(types.Field{Name: "F", Type: types.Integer}, types.Field{Name: "G", Type: types.String}), setStruct},
	{"FOUR", types.Bytes, setRandomBytes(4)},
	{"EIGHT", types.Bytes, setRandomBytes(8)},
	{"SIXTEEN", types.Bytes, setRandomBytes(16)},
	{"HEX", types.String, setPrinted("%08x%016[1]x")},
	{"BASE", types.String, func(r *rand.Rand, v *column.Vector, i int) {
		v.SetText(i, base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, r.Uint64())))
	}},
	{"DIGITS", types.String, setPrinted("%d")},
	{"LIST", types.String, setPrinted("a,bc,%d,x,a")},
	{"PAIRS", types.String, setPrinted("a=1;b=%d;c=x;a=2")},
	{"PERCENT", types.String, setPrinted("Stra%%C3%%9Fe+%d%%2F7")},
	{"URL", types.String, setPrinted("https://user:secret@shop.example.com:8443/items/%d/list?id=%[1]d&q=red+shoes%%21#top")},
	{"PATTERN", types.String, func(r *rand.Rand, v *column.Vector, i int) { v.SetText(i, []string{"ser.", "[0-9]+"}[r.IntN(2)]) }},
	{"UNICODE", types.String, setPrinted(`\u00e9\ud83d\ude00`)},
	{"STAMP", types.String, setPrinted("2024-02-03T04:05:06.789Z")},
	{"DAY", types.String, setPrinted("2024-02-03")},
	{"CLOCK", types.String, setPrinted("04:05:06")},
	{"DOCUMENT", types.String, setPrinted(`{"id": %d, "customer": {"name": "A. \"B\" C", "vip": true}, "items": [1, 2.5, {"x": null}]}`)},
	{"ITEMS", types.String, setPrinted(`[1, 2, 2.5, "a", null, %d]`)},
}

// setPrinted sets texts with a number in them; a format without one stays.
func setPrinted(format string) func(*rand.Rand, *column.Vector, int) {
	return func(r *rand.Rand, v *column.Vector, i int) {
		text := format
		if strings.Contains(format, "%") {
			text = fmt.Sprintf(format, r.IntN(1e6))
		}
		v.SetText(i, text)
	}
}

func setRandomBytes(n int) func(*rand.Rand, *column.Vector, int) {
	return func(r *rand.Rand, v *column.Vector, i int) {
		v.SetText(i, string(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, r.Uint64()), r.Uint64())[:n]))
	}
}

func setElements(r *rand.Rand, v *column.Vector, i int) {
	const count = 5
	start := 0
	for k, child := range v.Children {
		start = child.Extend(count)
		for n := range count {
			switch {
			case child.Type.Kind == types.KindBigint:
				child.SetInt(start+n, int64(r.IntN(6)))
			case k == 0 && v.Type.Kind == types.KindMap:
				child.SetText(start+n, fmt.Sprintf("k%d", n))
			default:
				child.SetText(start+n, string(rune('a'+r.IntN(5))))
			}
		}
	}
	v.SetSpan(i, start, count)
}

func setStruct(r *rand.Rand, v *column.Vector, i int) {
	v.Valid.Set(i)
	v.Children[0].SetInt(i, int64(r.IntN(100)))
	v.Children[1].SetText(i, "some text")
}

// ordinaryBatch has a full batch of ordinary values; one row in 16 is null.
func ordinaryBatch() (*column.Batch, map[string]*Column) {
	r := rand.New(rand.NewPCG(7, 8))
	b := &column.Batch{Len: column.MaxRows, Arena: new(column.Arena)}
	columns := map[string]*Column{}
	for index, c := range ordinary {
		v := column.New(c.t, b.Len)
		for i := range b.Len {
			if i%16 != 5 {
				c.set(r, v, i)
			}
		}
		b.Columns = append(b.Columns, v)
		columns[c.name] = NewColumn(index, c.name, c.t)
	}
	b.SelectAll()
	return b, columns
}

type measuredCall struct{ family, text, function string }

// measuredCalls reads testdata/calls.list.
func measuredCalls(t testing.TB) []measuredCall {
	content, err := os.ReadFile("testdata/calls.list")
	if err != nil {
		t.Fatal(err)
	}
	var calls []measuredCall
	family := ""
	for _, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		if name, ok := strings.CutPrefix(line, "family "); ok {
			family = name
		} else if !strings.HasPrefix(line, "#") {
			function, _, _ := strings.Cut(line, "(")
			calls = append(calls, measuredCall{family, line, function})
		}
	}
	return calls
}

type failureCount int

func (f *failureCount) RowError(*column.Batch, int, string, error) { *f++ }

func (m measuredCall) compile(t testing.TB, columns map[string]*Column, failures *failureCount) Kernel {
	e, err := parseTest(m.text, columns, fn.IsTable(m.function))
	if err != nil {
		t.Fatalf("%s: %v", m.text, err)
	}
	kernel, err := Compile(e, &Environment{Errors: failures})
	if err != nil {
		t.Fatalf("%s: %v", m.text, err)
	}
	return kernel
}

// BenchmarkCalls is the price list: what a row costs in the fastest batch, which
// hardly depends on what else the machine does, and its allocations.
//
//	go test ./exec/expr -run '^$' -bench 'Calls/json' -benchtime 200x
func BenchmarkCalls(b *testing.B) {
	batch, columns := ordinaryBatch()
	for _, m := range measuredCalls(b) {
		b.Run(m.family+"/"+strings.ReplaceAll(m.text, " ", ""), func(b *testing.B) {
			failures := failureCount(0)
			kernel := m.compile(b, columns, &failures)
			kernel.Eval(batch, batch.Selection)
			fastest := time.Duration(math.MaxInt64)
			b.ReportAllocs()
			for b.Loop() {
				batch.Arena.Reset()
				start := time.Now()
				kernel.Eval(batch, batch.Selection)
				fastest = min(fastest, time.Since(start))
			}
			b.ReportMetric(float64(fastest.Nanoseconds())/column.MaxRows, "ns/row")
		})
	}
}
