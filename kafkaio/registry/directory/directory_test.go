package directory

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/kafkaio/registry"
	"millrace/kafkaio/registry/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) registry.Registry { return open(t, t.TempDir()) })
}

func TestConformanceReopened(t *testing.T) {
	folder := t.TempDir()
	conformance.Run(t, func(t *testing.T) registry.Registry { return open(t, folder) })
}

func open(t *testing.T, folder string) *Registry {
	t.Helper()
	r, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func schema(n int) registry.Schema {
	return registry.Schema{
		Kind: registry.JSON, Text: fmt.Sprintf(`{"title":"%d"}`, n),
		References: []registry.Reference{{Name: "a", Text: "{}", Subject: "a-value", Version: n}},
	}
}

func register(t *testing.T, r *Registry, subject string, schema registry.Schema) int32 {
	t.Helper()
	id, err := r.Register(t.Context(), subject, schema)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestReopenKeepsEverything(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "made", "by", "open")
	first := register(t, open(t, folder), "a-value", schema(1))
	second := register(t, open(t, folder), "a-value", schema(2))
	r := open(t, folder)
	if id, latest, err := r.Latest(t.Context(), "a-value"); err != nil || id != second || latest.Text != schema(2).Text {
		t.Errorf("latest: %d %+v %v", id, latest, err)
	}
	if s, err := r.Schema(t.Context(), first); err != nil || s.References[0] != schema(1).References[0] {
		t.Errorf("schema: %+v %v", s, err)
	}
}

func TestReopenFindsNothingDeleted(t *testing.T) {
	folder := t.TempDir()
	r := open(t, folder)
	id := register(t, r, "a-value", schema(1))
	register(t, r, "b-value", schema(2))
	other := open(t, folder)
	if err := r.Delete(t.Context(), "a-value"); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Registry{"the same": r, "another": other, "reopened": open(t, folder)} {
		if _, _, err := r.Latest(t.Context(), "a-value"); !errors.Is(err, registry.ErrUnknown) {
			t.Errorf("%s: latest: %v", name, err)
		}
		if has, err := r.Has(t.Context(), "b-value", 0); err != nil || !has {
			t.Errorf("%s: another subject: %t, %v", name, has, err)
		}
		if _, err := r.Schema(t.Context(), id); err != nil {
			t.Errorf("%s: schema %d: %v", name, id, err)
		}
	}
}

func TestSeesWhatAnotherRegisters(t *testing.T) {
	folder := t.TempDir()
	mine, other := open(t, folder), open(t, folder)
	a := register(t, other, "a-value", schema(1))
	if _, err := mine.Schema(t.Context(), a); err != nil {
		t.Error(err)
	}
	b := register(t, mine, "a-value", schema(2))
	if id, _, err := other.Latest(t.Context(), "a-value"); err != nil || id != b || a == b {
		t.Errorf("latest %d, %v; registered %d and then %d", id, err, a, b)
	}
}

// TestSameFileIsNotReadAgain damages the file in a way that only reading shows.
func TestSameFileIsNotReadAgain(t *testing.T) {
	r := open(t, t.TempDir())
	register(t, r, "a-value", schema(1))
	if _, err := r.Schema(t.Context(), 7); !errors.Is(err, registry.ErrUnknown) {
		t.Fatalf("an unknown id: %v", err)
	}
	info, err := os.Stat(r.path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, r.path, bytes.Repeat([]byte{'x'}, int(info.Size())))
	if err := os.Chtimes(r.path, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Schema(t.Context(), 7); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("the same file was read again: %v", err)
	}
	if err := os.Chtimes(r.path, time.Time{}, info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Schema(t.Context(), 7); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("the changed file was not read: %v", err)
	}
}

// TestCrash leaves what a crash at each point of a write leaves: any beginning
// of the new file beside the old one.
func TestCrash(t *testing.T) {
	folder := t.TempDir()
	r := open(t, folder)
	register(t, r, "a-value", schema(1))
	before, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	register(t, r, "a-value", schema(2))
	after, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(after) + 1 {
		writeFile(t, r.path, before)
		writeFile(t, r.path+".next", after[:n])
		if id := register(t, open(t, folder), "a-value", schema(2)); id != 2 {
			t.Fatalf("after a crash at byte %d the second schema has id %d", n, id)
		}
		if again, err := os.ReadFile(r.path); err != nil || !bytes.Equal(again, after) {
			t.Fatalf("after a crash at byte %d: %v, %s", n, err, again)
		}
	}
}

func writeFile(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTornFile(t *testing.T) {
	folder := t.TempDir()
	r := open(t, folder)
	register(t, r, "a-value", schema(1))
	whole, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	whole = bytes.TrimSpace(whole)
	for n := range len(whole) {
		writeFile(t, r.path, whole[:n])
		if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), r.path) {
			t.Fatalf("%d bytes of the file: %v", n, err)
		}
		if _, _, err := r.Latest(t.Context(), "a-value"); !errors.Is(err, registry.ErrUnavailable) {
			t.Fatalf("%d bytes of the file: the open registry answers with %v", n, err)
		}
	}
}

func TestForeignFile(t *testing.T) {
	for text, reason := range map[string]string{
		``:                                 "damaged",
		`null`:                             "not a schema registry",
		`[1]`:                              "not a schema registry",
		`{"a":`:                            "damaged",
		"\x00\x01":                         "damaged",
		`{"format":"another","version":1}`: "not a schema registry",
		`{"format":"millrace schema registry","version":2}`:                                "version 2",
		`{"format":"millrace schema registry","version":1} {}`:                             "behind its end",
		`{"format":"millrace schema registry","version":1,"subjects":{"a-value":[1]}}`:     "id 1, which is missing",
		`{"format":"millrace schema registry","version":1,"schemas":[{"id":2},{"id":2}]}`:  "id 2 stands behind id 2",
		`{"format":"millrace schema registry","version":1,"schemas":[{"id":0}]}`:           "id 0 stands behind id 0",
		`{"format":"millrace schema registry","version":1,"schemas":[{"id":99999999999}]}`: "damaged",
	} {
		folder := t.TempDir()
		writeFile(t, filepath.Join(folder, fileName), []byte(text))
		if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v; expected %q", text, err, reason)
		}
	}
}

func TestEmptyContentsTakesSchemas(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, fileName), []byte(`{"format":"millrace schema registry","version":1}`))
	if id := register(t, open(t, folder), "a-value", schema(1)); id != 1 {
		t.Errorf("id %d", id)
	}
}

func TestRefusesWhatItCannotStore(t *testing.T) {
	r := open(t, t.TempDir())
	for _, bad := range []registry.Schema{
		{Kind: registry.JSON, Text: "\xff"},
		{Kind: registry.JSON, Text: "{}", References: []registry.Reference{{Name: "\xff"}}},
	} {
		if _, err := r.Register(t.Context(), "a-value", bad); !errors.Is(err, registry.ErrRefused) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestAllIDsTaken(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, fileName),
		[]byte(`{"format":"millrace schema registry","version":1,"schemas":[{"id":2147483647,"kind":"JSON","text":"{}"}]}`))
	if _, err := open(t, folder).Register(t.Context(), "a-value", schema(1)); !errors.Is(err, registry.ErrRefused) {
		t.Error(err)
	}
	if id := register(t, open(t, folder), "a-value", registry.Schema{Kind: registry.JSON, Text: "{}"}); id != 2147483647 {
		t.Errorf("id %d", id)
	}
}

func TestFolderIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	writeFile(t, path, nil)
	if _, err := Open(path); err == nil {
		t.Error("a file is opened as a folder")
	}
}

func FuzzReadContents(f *testing.F) {
	f.Add([]byte(`{"format":"millrace schema registry","version":1,"schemas":[{"id":1,"kind":"JSON","text":"{}"}],"subjects":{"a":[1]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), fileName)
		writeFile(t, path, text)
		state, err := readContents(path)
		if err != nil {
			return
		}
		_, next, err := state.with("new", registry.Schema{Kind: registry.JSON, Text: "{}"})
		if err != nil || next == nil {
			return
		}
		if err := next.check(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
