package fuzz

import (
	"context"
	"errors"
	"testing"

	"millrace/exec/session"
	"millrace/kafkaio"
	"millrace/kafkaio/memory"
	"millrace/sql/types"
)

// mostStatements bounds a script.
const mostStatements = 8

// FuzzPlan plans random statements: none panics, and each refusal is a
// *types.Error with a position.
func FuzzPlan(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := session.New(session.Options{Log: memory.New(), Service: "fuzz", Now: func() int64 { return 0 }})
		g := &statements{choices: &choices{data}, catalog: s.Catalog()}
		for range mostStatements {
			text := g.next()
			err := s.Script(context.Background(), text, nil)
			var user *types.Error
			if err != nil && !errors.Is(err, kafkaio.ErrUnknownTopic) && (!errors.As(err, &user) || !user.Position.Known()) {
				t.Fatalf("%s\nwas refused with %T: %v", text, err, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
