package session

import (
	"testing"

	"millrace/planner/catalog"
	"millrace/sql/types"
)

func TestCells(t *testing.T) {
	kafka := func(t *types.Type) *catalog.Source {
		return &catalog.Source{KeyFormat: catalog.Format{Name: "KAFKA"}, Key: []catalog.Column{{Name: "K", Type: t}}}
	}
	windowed := func(kind catalog.WindowKind, size int64) *catalog.Source {
		s := kafka(types.String)
		s.Window = &catalog.KeyWindow{Kind: kind, Size: size}
		return s
	}
	p := &printer{schemas: newSchemaReader(nil)}
	for _, test := range []struct {
		name   string
		key    string
		source *catalog.Source
		want   any
	}{
		{"integer", "\xff\xff\xff\xfe", kafka(types.Integer), int64(-2)},
		{"bigint", "\x00\x00\x00\x01\x00\x00\x00\x00", kafka(types.Bigint), int64(1 << 32)},
		{"double", "\x3f\xf8\x00\x00\x00\x00\x00\x00", kafka(types.Double), "1.5"},
		{"wrong length", "\x00\x01", kafka(types.Integer), "0x0001"},
		{"text", "grüße\n", kafka(types.String), "grüße\n"},
		{"not UTF-8", "\xc3(", kafka(types.String), "0xC328"},
		{"empty", "", kafka(types.String), ""},
		{"time window", "a\x00\x00\x00\x00\x00\x00\x00\x0a", windowed(catalog.Tumbling, 5), "a [10, 15]"},
		{
			"session", "a\x00\x00\x00\x00\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x0a", windowed(catalog.Session, 0),
			"a [10, 12]",
		},
		{"key without its window", "a", windowed(catalog.Session, 0), "a"},
	} {
		if got := p.keyCell([]byte(test.key), test.source); got != test.want {
			t.Errorf("%s: %v, not %v", test.name, got, test.want)
		}
	}
	if got := p.keyCell(nil, windowed(catalog.Session, 0)); got != nil {
		t.Errorf("null key: %v", got)
	}
}
