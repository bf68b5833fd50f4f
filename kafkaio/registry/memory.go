package registry

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Memory is a registry in memory. Ids count from 1.
type Memory struct {
	mutex    sync.Mutex
	schemas  map[int32]Schema
	subjects map[string][]int32 // ids, oldest first
	next     int32
}

// NewMemory is an empty registry.
func NewMemory() *Memory {
	return &Memory{schemas: map[int32]Schema{}, subjects: map[string][]int32{}, next: 1}
}

// Latest implements Registry.
func (m *Memory) Latest(_ context.Context, subject string) (int32, Schema, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	ids := m.subjects[subject]
	if len(ids) == 0 {
		return 0, Schema{}, fmt.Errorf("subject %s: %w", subject, ErrUnknown)
	}
	id := ids[len(ids)-1]
	return id, m.schemas[id], nil
}

// Schema implements Registry.
func (m *Memory) Schema(_ context.Context, id int32) (Schema, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	schema, ok := m.schemas[id]
	if !ok {
		return Schema{}, fmt.Errorf("schema id %d: %w", id, ErrUnknown)
	}
	return schema, nil
}

// Register implements Registry.
func (m *Memory) Register(_ context.Context, subject string, schema Schema) (int32, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	id := m.find(schema)
	if id == 0 {
		for m.taken(m.next) {
			m.next++
		}
		id = m.next
	}
	m.put(id, subject, schema)
	return id, nil
}

// Put registers a schema under a certain id, as recorded inputs need it. A
// schema that had the id is replaced.
func (m *Memory) Put(id int32, subject string, schema Schema) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.put(id, subject, schema)
}

func (m *Memory) taken(id int32) bool {
	_, taken := m.schemas[id]
	return taken
}

func (m *Memory) put(id int32, subject string, schema Schema) {
	m.schemas[id] = schema
	ids := m.subjects[subject]
	if !slices.Contains(ids, id) {
		m.subjects[subject] = append(ids, id)
	}
}

// find is the least id of an equal schema, 0 if there is none.
func (m *Memory) find(schema Schema) int32 {
	found := int32(0)
	for id, other := range m.schemas {
		if other.Kind == schema.Kind && other.Text == schema.Text && slices.Equal(other.References, schema.References) &&
			(found == 0 || id < found) {
			found = id
		}
	}
	return found
}

// Delete implements Registry.
func (m *Memory) Delete(_ context.Context, subject string) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.subjects, subject)
	return nil
}

// Has implements Registry.
func (m *Memory) Has(_ context.Context, subject string, id int32) (bool, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	ids := m.subjects[subject]
	return slices.Contains(ids, id) || id == 0 && len(ids) > 0, nil
}
