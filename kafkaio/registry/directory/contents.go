package directory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"millrace/kafkaio/registry"
)

const (
	fileName = "schemas.json"
	format   = "millrace schema registry"
	version  = 1
)

// contents is the file: the schemas by ascending id, and for each subject the
// ids of its schemas, the oldest first.
type contents struct {
	Format   string             `json:"format"`
	Version  int                `json:"version"`
	Schemas  []entry            `json:"schemas"`
	Subjects map[string][]int32 `json:"subjects"`
}

type entry struct {
	ID         int32         `json:"id"`
	Kind       registry.Kind `json:"kind"`
	Text       string        `json:"text"`
	References []reference   `json:"references,omitempty"`
}

type reference struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Subject string `json:"subject,omitempty"`
	Version int    `json:"version,omitempty"`
}

// readContents reads the file; one that is not there is an empty registry.
func readContents(path string) (contents, error) {
	state := contents{Format: format, Version: version, Subjects: map[string][]int32{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return contents{}, err
	}
	var stored contents
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&stored); err != nil {
		return contents{}, fmt.Errorf("%s is damaged or not a schema registry: %w", path, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return contents{}, fmt.Errorf("%s is damaged: there is more behind its end", path)
	}
	if err := stored.check(); err != nil {
		return contents{}, fmt.Errorf("%s: %w", path, err)
	}
	if stored.Subjects == nil {
		stored.Subjects = state.Subjects
	}
	return stored, nil
}

func (c *contents) check() error {
	if c.Format != format {
		return errors.New("the file is not a schema registry")
	}
	if c.Version != version {
		return fmt.Errorf("the schema registry has version %d, and this program reads version %d", c.Version, version)
	}
	last := int32(0)
	for _, schema := range c.Schemas {
		if schema.ID <= last {
			return fmt.Errorf("the schema registry is damaged: id %d stands behind id %d", schema.ID, last)
		}
		last = schema.ID
	}
	for _, subject := range slices.Sorted(maps.Keys(c.Subjects)) {
		for _, id := range c.Subjects[subject] {
			if c.schema(id) == nil {
				return fmt.Errorf("the schema registry is damaged: subject %s has id %d, which is missing", subject, id)
			}
		}
	}
	return nil
}

// schema is the entry of an id, nil if there is none.
func (c *contents) schema(id int32) *entry {
	at, ok := slices.BinarySearchFunc(c.Schemas, id, func(e entry, id int32) int { return int(e.ID) - int(id) })
	if !ok {
		return nil
	}
	return &c.Schemas[at]
}

// with is the contents with a schema as the newest of a subject, nil if the
// subject has it already, and the schema's id.
func (c *contents) with(subject string, schema registry.Schema) (int32, *contents, error) {
	added := entryOf(schema)
	next := contents{Format: format, Version: version, Schemas: slices.Clone(c.Schemas), Subjects: maps.Clone(c.Subjects)}
	at := slices.IndexFunc(c.Schemas, func(e entry) bool {
		return e.Kind == added.Kind && e.Text == added.Text && slices.Equal(e.References, added.References)
	})
	if at < 0 {
		last := int32(0)
		if n := len(c.Schemas); n > 0 {
			last = c.Schemas[n-1].ID
		}
		if last == math.MaxInt32 {
			return 0, nil, fmt.Errorf("%w: all ids are taken", registry.ErrRefused)
		}
		added.ID = last + 1
		next.Schemas = append(next.Schemas, added)
	} else {
		added = c.Schemas[at]
	}
	if slices.Contains(c.Subjects[subject], added.ID) {
		return added.ID, nil, nil
	}
	next.Subjects[subject] = append(slices.Clone(c.Subjects[subject]), added.ID)
	return added.ID, &next, nil
}

func entryOf(schema registry.Schema) entry {
	e := entry{Kind: schema.Kind, Text: schema.Text}
	for _, r := range schema.References {
		e.References = append(e.References, reference(r))
	}
	return e
}

func (e *entry) value() registry.Schema {
	schema := registry.Schema{Kind: e.Kind, Text: e.Text}
	for _, r := range e.References {
		schema.References = append(schema.References, registry.Reference(r))
	}
	return schema
}

// write replaces the file at path. The new one is on disk before it takes the
// name, and the name is before write returns.
func (c *contents) write(path string) error {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(c); err != nil {
		return err
	}
	next := path + ".next"
	if err := writeSynced(next, buf.Bytes()); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func writeSynced(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}
