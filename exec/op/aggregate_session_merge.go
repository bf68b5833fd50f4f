package op

import (
	"encoding/binary"
	"fmt"

	"millrace/exec/column"
)

// mergedGroup is the state of a group, in the form of groupState, made of those
// of sessions and a row.
type mergedGroup struct {
	cells    []byte
	variable []byte

	current, other []byte
}

// make merges the sessions, by start, and then adds row i of the batch.
func (m *mergedGroup) make(g *groupState, joined []session, b *column.Batch, i int32) error {
	clear(m.cells)
	for c := range g.fixed {
		call := &g.fixed[c]
		for _, s := range joined {
			if err := call.Merge(m.cells, s.cells()); err != nil {
				return stepError(b, i, call.name, err)
			}
		}
		if err := call.Add(m.cells, call.after, int(i)); err != nil {
			return stepError(b, i, call.name, err)
		}
	}
	m.variable = m.variable[:0]
	for c := range g.variable {
		if err := m.makeVariable(g, joined, c, i); err != nil {
			return stepError(b, i, "", err)
		}
	}
	return nil
}

func (s session) cells() []byte { return s.table.Fixed(s.row)[sessionBounds:] }

func (m *mergedGroup) makeVariable(g *groupState, joined []session, c int, i int32) error {
	call := &g.variable[c]
	m.current = m.current[:0]
	for _, s := range joined {
		next, err := call.Merge(m.other[:0], m.current, g.part(s.cells(), s.table.Variable(s.row), c))
		if err != nil {
			return fmt.Errorf("%s: %w", call.name, err)
		}
		m.current, m.other = next, m.current
	}
	next, changed, err := call.Add(m.other[:0], m.current, call.after, int(i))
	if err != nil {
		return fmt.Errorf("%s: %w", call.name, err)
	}
	if changed {
		m.current, m.other = next, m.current
	}
	m.variable = append(m.variable, m.current...)
	binary.LittleEndian.PutUint32(m.cells[g.lengths+lengthBytes*c:], uint32(len(m.current)))
	return nil
}
