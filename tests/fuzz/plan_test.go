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

// mostStatements bounds a script; about half of them are refused.
const mostStatements = 14

// FuzzPlan plans random statements: none panics, and each refusal is a
// *types.Error with a position.
func FuzzPlan(f *testing.F) {
	addSeeds(f)
	f.Fuzz(planScript)
}

func planScript(t *testing.T, data []byte) {
	c := &choices{data}
	schemas := newSchemas(c)
	s := session.New(session.Options{Log: memory.New(), Service: "fuzz", Registry: registryOf(schemas), Now: func() int64 { return 0 }})
	g := &statements{choices: c, catalog: s.Catalog(), schemas: schemas}
	for range mostStatements {
		text := g.next()
		err := s.Script(context.Background(), text, nil)
		var user *types.Error
		if err != nil && !errors.Is(err, kafkaio.ErrUnknownTopic) && (!errors.As(err, &user) || !user.Position.Known()) {
			t.Fatalf("%s%s\nwas refused with %T: %v", schemaText(schemas), text, err, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
