package state

import (
	"encoding/json"
	"fmt"
)

var positionKey = []byte{0}

// position is the record that ends a checkpoint round: the backend holds at
// least all that the changelogs say below these positions.
type position struct {
	Version int             `json:"version"`
	Stores  []storePosition `json:"stores"`
}

// storePosition describes one store; its index is the store's number in keys.
type storePosition struct {
	Name     string   `json:"name"`
	Fixed    int      `json:"fixed"`
	Windowed bool     `json:"windowed"`
	Position int64    `json:"position"`
	Topic    [16]byte `json:"topic"`
}

// readPosition reads the record; it is an error if there is none, since without
// it nothing tells what the copy lacks.
func readPosition(b Backend) (*position, error) {
	var p *position
	err := b.Get([][]byte{positionKey}, func(_ int, value []byte) error {
		p = new(position)
		if err := json.Unmarshal(value, p); err != nil {
			return corrupt("checkpoint position: %v", err)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, fmt.Errorf("the local state has no complete checkpoint")
	case p.Version != formatVersion:
		return nil, fmt.Errorf("the local state has format %d, this version has %d", p.Version, formatVersion)
	}
	return p, nil
}

// checkTopics refuses a copy of other topics than those that exist now.
func (p *position) checkTopics(current map[string][16]byte) error {
	for _, s := range p.Stores {
		if id, known := current[s.Name]; known && id != s.Topic {
			return fmt.Errorf("the changelog topic of store %s is another than that of the local state", s.Name)
		}
	}
	return nil
}

// checkStores refuses a copy of other stores than the task's.
func (p *position) checkStores(stores []*Store) error {
	if len(p.Stores) != len(stores) {
		return fmt.Errorf("the local state has %d stores, the task %d", len(p.Stores), len(stores))
	}
	for i, s := range p.Stores {
		if s.Name != stores[i].name || s.Fixed != stores[i].layout.Fixed || s.Windowed != stores[i].windowed {
			return fmt.Errorf("the local state of store %s has another layout", s.Name)
		}
	}
	return nil
}

// encodePosition is the record for the stores' changelog positions.
func (t *Task) encodePosition(positions map[string]int64) ([]byte, error) {
	p := position{Version: formatVersion}
	for _, s := range t.stores {
		p.Stores = append(p.Stores, storePosition{
			Name: s.name, Fixed: s.layout.Fixed, Windowed: s.windowed,
			Position: positions[s.name], Topic: t.options.TopicIDs[s.name],
		})
	}
	return json.Marshal(p)
}
