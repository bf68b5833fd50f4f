// Package directory is a registry in a folder, for a broker that runs inside
// the process and has no registry beside it.
package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	"millrace/kafkaio/registry"
)

// Registry keeps all schemas in one file, which is replaced as a whole: after
// a crash at any point it is the one before or the one after a registration.
// The file is looked at before each answer that could have changed, so that
// what another process has registered in between is seen. Two processes must
// not register at the same time: one of the registrations could be lost.
type Registry struct {
	path string

	mutex sync.Mutex
	state contents
	read  os.FileInfo // of the file that state is from; nil if there was none
}

// Open opens the registry in the folder, which is made if it is not there. A
// file that is not a registry's, or one that is cut off, is an error.
func Open(folder string) (*Registry, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("open the schema registry: %w", err)
	}
	r := &Registry{path: filepath.Join(folder, fileName)}
	if err := r.load(); err != nil {
		return nil, err
	}
	return r, nil
}

// load takes over the file's contents; the error is an ErrUnavailable. The
// caller holds the mutex or is alone.
//
// A file that is still the same is not read: a topic may hold any number of
// payloads whose ids are unknown, and each asks.
func (r *Registry) load() error {
	there, err := os.Stat(r.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", registry.ErrUnavailable, err)
	}
	if there != nil && r.read != nil && os.SameFile(there, r.read) &&
		there.Size() == r.read.Size() && there.ModTime().Equal(r.read.ModTime()) {
		return nil
	}
	state, err := readContents(r.path)
	if err != nil {
		return fmt.Errorf("%w: %w", registry.ErrUnavailable, err)
	}
	r.state, r.read = state, there
	return nil
}

// Latest implements registry.Registry.
func (r *Registry) Latest(_ context.Context, subject string) (int32, registry.Schema, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.load(); err != nil {
		return 0, registry.Schema{}, err
	}
	ids := r.state.Subjects[subject]
	if len(ids) == 0 {
		return 0, registry.Schema{}, fmt.Errorf("subject %s: %w", subject, registry.ErrUnknown)
	}
	id := ids[len(ids)-1]
	return id, r.state.schema(id).value(), nil
}

// Schema implements registry.Registry.
func (r *Registry) Schema(_ context.Context, id int32) (registry.Schema, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found := r.state.schema(id)
	if found == nil {
		if err := r.load(); err != nil {
			return registry.Schema{}, err
		}
		found = r.state.schema(id)
	}
	if found == nil {
		return registry.Schema{}, fmt.Errorf("schema id %d: %w", id, registry.ErrUnknown)
	}
	return found.value(), nil
}

// Register implements registry.Registry.
func (r *Registry) Register(_ context.Context, subject string, schema registry.Schema) (int32, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.load(); err != nil {
		return 0, err
	}
	if !storable(subject, schema) {
		return 0, fmt.Errorf("%w of subject %q: it is not valid UTF-8", registry.ErrRefused, subject)
	}
	id, next, err := r.state.with(subject, schema)
	if next == nil {
		return id, err
	}
	if err := next.write(r.path); err != nil {
		return 0, fmt.Errorf("register a schema of %s: %w", subject, err)
	}
	r.state = *next
	return id, nil
}

// Delete implements registry.Registry.
func (r *Registry) Delete(_ context.Context, subject string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.load(); err != nil {
		return err
	}
	if _, there := r.state.Subjects[subject]; !there {
		return nil
	}
	next := r.state
	next.Subjects = maps.Clone(r.state.Subjects)
	delete(next.Subjects, subject)
	if err := next.write(r.path); err != nil {
		return fmt.Errorf("delete the schemas of %s: %w", subject, err)
	}
	r.state = next
	return nil
}

// storable tells whether all texts are UTF-8, as the file is.
func storable(subject string, schema registry.Schema) bool {
	texts := []string{subject, string(schema.Kind), schema.Text}
	for _, r := range schema.References {
		texts = append(texts, r.Name, r.Text, r.Subject)
	}
	return !slices.ContainsFunc(texts, func(text string) bool { return !utf8.ValidString(text) })
}

// Has implements registry.Registry.
func (r *Registry) Has(_ context.Context, subject string, id int32) (bool, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.load(); err != nil {
		return false, err
	}
	ids := r.state.Subjects[subject]
	return slices.Contains(ids, id) || id == 0 && len(ids) > 0, nil
}
