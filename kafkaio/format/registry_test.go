package format

import (
	"slices"
	"testing"
)

func TestRegistry(t *testing.T) {
	if names := Names(); !slices.Equal(names, []string{"AVRO", "DELIMITED", "JSON", "JSON_SR", "KAFKA", "NONE", "PROTOBUF", "PROTOBUF_NOSR"}) {
		t.Errorf("formats %v", names)
	}
	for _, name := range append(Names(), internalName) {
		f, ok := Lookup(name)
		if !ok || f.Wraps() != slices.Contains([]string{"AVRO", "JSON", "JSON_SR"}, name) {
			t.Errorf("%s: found %t", name, ok)
		}
	}
	if _, ok := Lookup("CSV"); ok {
		t.Error("CSV is found")
	}
}

func TestParseDelimiter(t *testing.T) {
	for text, expected := range map[string]string{";": ";", "tab": "\t", "SPACE": " ", "€": "€"} {
		if got, err := parseDelimiter(text); err != nil || got != expected {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", " ", "\t", "\n", `"`, "||", "\xff"} {
		if _, err := parseDelimiter(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
