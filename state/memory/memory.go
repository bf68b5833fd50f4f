// Package memory is a byte store in memory, for tests and for runs that need no
// local copy. A Disk keeps what its stores wrote after they are closed.
package memory

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"millrace/state"
)

// ErrOpen says that a directory's store is open already.
var ErrOpen = errors.New("the store is open")

// Disk holds the content of directories. It is safe for concurrent use.
type Disk struct {
	mutex       sync.Mutex
	directories map[string]*store
}

// NewDisk is an empty disk.
func NewDisk() *Disk { return &Disk{directories: map[string]*store{}} }

// Open opens or makes the store of a directory, for state.Options.
func (d *Disk) Open(directory string) (state.Backend, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	old := d.directories[directory]
	if old == nil {
		old = &store{values: map[string][]byte{}}
	}
	if old.open {
		return nil, fmt.Errorf("%s: %w", directory, ErrOpen)
	}
	s := &store{values: old.values, open: true}
	d.directories[directory] = s
	return s, nil
}

// Remove forgets a directory that is not open.
func (d *Disk) Remove(directory string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.directories, directory)
}

type store struct {
	mutex  sync.RWMutex
	values map[string][]byte // a value is never changed in place
	open   bool
}

var _ state.Backend = (*store)(nil)

func (s *store) Get(keys [][]byte, yield func(n int, value []byte) error) error {
	found := make([][]byte, len(keys))
	s.mutex.RLock()
	for n, key := range keys {
		found[n] = s.values[string(key)]
	}
	s.mutex.RUnlock()
	for n, value := range found {
		if value == nil {
			continue
		}
		if err := yield(n, value); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) Range(from, to []byte, yield func(key, value []byte) (bool, error)) error {
	s.mutex.RLock()
	values := maps.Clone(s.values)
	s.mutex.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key := []byte(name)
		if bytes.Compare(key, from) < 0 || to != nil && bytes.Compare(key, to) >= 0 {
			continue
		}
		if more, err := yield(key, values[name]); !more || err != nil {
			return err
		}
	}
	return nil
}

func (s *store) Write(b *state.Batch) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return b.Each(func(key, value []byte, deleted bool) error {
		if deleted {
			delete(s.values, string(key))
		} else {
			s.values[string(key)] = append([]byte{}, value...)
		}
		return nil
	})
}

func (s *store) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.open = false
	return nil
}
