package task

import "millrace/planner/plan"

// A task that materialises a table has no changelog and no committed position:
// at a start it reads the table's topic again, from the position of the local
// copy or from the begin. Rows are absolute, so that reading some of them twice
// changes nothing.

// rereads tells whether the task is such a one.
func (t *Task) rereads() bool {
	_, ok := t.config.Subgraph.Root.(*plan.Materialize)
	return ok
}

// restoredFrom is the topic that a store is filled from at a start.
func (t *Task) restoredFrom(s plan.Store) string {
	if s.Changelog == "" && len(t.inputs) > 0 {
		return t.inputs[0].Topic
	}
	return s.Changelog
}

// placeAgain sets the input to where the local copy ends, if the topic still
// has that position, and drops the copy otherwise.
func (t *Task) placeAgain(start Start) error {
	for _, in := range t.inputs {
		held := start.Ranges[in.TopicPartition]
		from := held.Start
		for _, s := range t.stores {
			switch {
			case s.from == unknown:
			case s.from >= held.Start && s.from <= held.HighWatermark:
				from = s.from
			default:
				if err := t.dropMisplaced(s, in.Topic, held); err != nil {
					return err
				}
				from = held.Start
			}
		}
		in.start(from, from)
	}
	return nil
}

// readPositions are the positions that the stores have all rows up to.
func (t *Task) readPositions() map[string]int64 {
	positions := make(map[string]int64, len(t.stores))
	for _, in := range t.inputs {
		for _, s := range t.stores {
			positions[s.plan.Name] = in.committed
		}
	}
	return positions
}

// Rows counts the rows in the task's stores; whole is false where some of them
// are in the local copy only, which are not counted.
func (t *Task) Rows() (rows int64, whole bool) {
	whole = true
	for _, s := range t.stores {
		n, all := s.store.Rows()
		rows, whole = rows+n, whole && all
	}
	return rows, whole
}
