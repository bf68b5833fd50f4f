package state

import (
	"errors"
	"fmt"
	"math"
)

// ErrCorrupt says that a changelog record, a key or the local copy is not what
// this package wrote. The local copy is of no use then and the state must be
// restored from the changelog; if that is corrupt, the query cannot go on.
var ErrCorrupt = errors.New("corrupt state")

// ErrFull says that a table outgrew what it can address.
var ErrFull = errors.New("the table is full")

const maxVariable = math.MaxUint32 / 2

func (t *Table) full() error {
	return fmt.Errorf("store %s, window %d: %w", t.store.name, t.window, ErrFull)
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ErrCorrupt)...)
}
