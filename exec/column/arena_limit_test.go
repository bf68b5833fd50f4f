package column

import (
	"strings"
	"testing"

	"millrace/sql/types"
)

// tooLarge tells whether taking memory exceeded the limit.
func tooLarge(take func()) (exceeded bool) {
	defer func() {
		if fault := recover(); fault != nil {
			if fault != any(ErrBatchTooLarge) {
				panic(fault)
			}
			exceeded = true
		}
	}()
	take()
	return false
}

func TestArenaLimit(t *testing.T) {
	const limit = 1 << 20
	small, large := strings.Repeat("x", 100), strings.Repeat("x", 100<<10)
	for name, take := range map[string]func(a *Arena){
		"small copies": func(a *Arena) { a.Copy(small) },
		"large copies": func(a *Arena) { a.Copy(large) },
		"appended":     func(a *Arena) { a.Keep(append(a.Tail(len(large)), large...)) },
		"outgrown":     func(a *Arena) { a.Keep(append(a.Tail(10), large...)) },
	} {
		a := &Arena{Limit: limit}
		for round := range 3 {
			if tooLarge(func() { take(a) }) {
				t.Errorf("%s: the first exceeds the limit in round %d", name, round)
			}
			if !tooLarge(func() {
				for range limit/50 + 1 {
					take(a)
				}
			}) {
				t.Errorf("%s: no limit in round %d", name, round)
			}
			if a.Taken() < limit {
				t.Errorf("%s: %d bytes are counted", name, a.Taken())
			}
			a.Reset()
		}
	}
}

func TestElementsAreBounded(t *testing.T) {
	v := New(types.Boolean, 0)
	if tooLarge(func() { v.Extend(maxElements - 1) }) {
		t.Error("as many as fit are too many")
	}
	if !tooLarge(func() { v.Extend(2) }) || v.Len() != maxElements-1 {
		t.Error("there is no bound")
	}
}
