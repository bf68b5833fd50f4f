// Package conformance is the suite that every implementation of
// registry.Registry passes. It makes subjects with names of its own, so that it
// may run on a registry in use.
package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"millrace/kafkaio/registry"
)

// Run runs the suite on the registry that open gives, a new one or one shared
// by all tests.
func Run(t *testing.T, open func(t *testing.T) registry.Registry) {
	tests := []struct {
		name string
		run  func(*env)
	}{
		{"nothing there", nothingThere},
		{"register and read", registerAndRead},
		{"every kind", everyKind},
		{"a subject's newest schema", newest},
		{"a schema keeps its id", keepsID},
		{"one schema in two subjects", twoSubjects},
		{"references", references},
		{"delete a subject", deleteSubject},
		{"names of subjects", subjectNames},
		{"concurrent use", concurrent},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.run(&env{T: t, ctx: t.Context(), registry: open(t), prefix: "conformance-" + rand.Text()[:8]})
		})
	}
}

// env is one test with a registry and names that no one else has.
type env struct {
	*testing.T
	ctx      context.Context
	registry registry.Registry
	prefix   string
}

func (e *env) subject(name string) string { return e.prefix + "-" + name }

// schema is a JSON Schema that only this test has; different names give
// different ones.
func (e *env) schema(name string) registry.Schema {
	return registry.Schema{Kind: registry.JSON, Text: fmt.Sprintf(`{"title":%q,"type":"object"}`, e.subject(name))}
}

func (e *env) register(subject string, schema registry.Schema) int32 {
	e.Helper()
	id, err := e.registry.Register(e.ctx, subject, schema)
	if err != nil {
		e.Fatalf("register a schema of %s: %v", subject, err)
	}
	return id
}

// expectLatest asks for the newest schema of a subject.
func (e *env) expectLatest(subject string, id int32, schema registry.Schema) {
	e.Helper()
	gotID, got, err := e.registry.Latest(e.ctx, subject)
	if err != nil || gotID != id || !equal(got, schema) {
		e.Errorf("the newest schema of %s is %d %+v, %v; expected %d %+v", subject, gotID, got, err, id, schema)
	}
}

func (e *env) expectSchema(id int32, schema registry.Schema) {
	e.Helper()
	got, err := e.registry.Schema(e.ctx, id)
	if err != nil || !equal(got, schema) {
		e.Errorf("schema %d is %+v, %v; expected %+v", id, got, err, schema)
	}
}

func (e *env) expectHas(subject string, id int32, expected bool) {
	e.Helper()
	has, err := e.registry.Has(e.ctx, subject, id)
	if err != nil || has != expected {
		e.Errorf("subject %s has schema %d: %t, %v; expected %t", subject, id, has, err, expected)
	}
}

func equal(a, b registry.Schema) bool {
	return a.Kind == b.Kind && a.Text == b.Text && slices.Equal(a.References, b.References)
}

func nothingThere(e *env) {
	subject := e.subject("value")
	if _, _, err := e.registry.Latest(e.ctx, subject); !errors.Is(err, registry.ErrUnknown) {
		e.Errorf("the newest schema of an unknown subject: %v", err)
	}
	for _, id := range []int32{2147483647, 0, -1} {
		if _, err := e.registry.Schema(e.ctx, id); !errors.Is(err, registry.ErrUnknown) {
			e.Errorf("schema %d, which is unknown: %v", id, err)
		}
	}
	e.expectHas(subject, 0, false)
	e.expectHas(subject, 1, false)
	e.expectHas(subject, 2147483647, false)
}

func registerAndRead(e *env) {
	subject, schema := e.subject("value"), e.schema("a")
	id := e.register(subject, schema)
	if id <= 0 {
		e.Errorf("id %d is not positive", id)
	}
	e.expectLatest(subject, id, schema)
	e.expectSchema(id, schema)
	e.expectHas(subject, id, true)
	e.expectHas(subject, 0, true)
	e.expectHas(e.subject("key"), id, false)
}

func everyKind(e *env) {
	name := "R" + e.prefix[len(e.prefix)-8:]
	for _, schema := range []registry.Schema{
		{Kind: registry.Avro, Text: `{"type":"record","name":"` + name + `","fields":[]}`},
		{Kind: registry.Protobuf, Text: "syntax = \"proto3\";\nmessage " + name + " {}\n"},
		{Kind: registry.JSON, Text: `{"title":"` + name + ` & <ä>","type":"object"}`},
	} {
		subject := e.subject(string(schema.Kind))
		id := e.register(subject, schema)
		e.expectLatest(subject, id, schema)
		e.expectSchema(id, schema)
	}
}

func newest(e *env) {
	subject, first, second := e.subject("value"), e.schema("a"), e.schema("b")
	a := e.register(subject, first)
	e.expectLatest(subject, a, first)
	b := e.register(subject, second)
	if a == b {
		e.Errorf("two schemas have id %d", a)
	}
	e.expectLatest(subject, b, second)
	e.expectSchema(a, first)
	e.expectHas(subject, a, true)
	e.expectHas(subject, b, true)
}

func keepsID(e *env) {
	subject, first, second := e.subject("value"), e.schema("a"), e.schema("b")
	a := e.register(subject, first)
	if again := e.register(subject, first); again != a {
		e.Errorf("registered again, schema %d has id %d", a, again)
	}
	b := e.register(subject, second)
	if again := e.register(subject, first); again != a {
		e.Errorf("registered after another, schema %d has id %d", a, again)
	}
	e.expectLatest(subject, b, second)
}

func twoSubjects(e *env) {
	schema := e.schema("a")
	a := e.register(e.subject("key"), schema)
	b := e.register(e.subject("value"), schema)
	if a != b {
		e.Errorf("one schema has ids %d and %d", a, b)
	}
	e.expectLatest(e.subject("value"), a, schema)
	e.expectHas(e.subject("key"), a, true)
	e.expectHas(e.subject("value"), a, true)
}

func references(e *env) {
	inner, middle := e.schema("inner"), e.schema("middle")
	e.register(e.subject("inner"), inner)
	first := registry.Reference{Name: "inner.json", Text: inner.Text, Subject: e.subject("inner"), Version: 1}
	middle.References = []registry.Reference{first}
	e.register(e.subject("middle"), middle)
	outer := registry.Schema{Kind: registry.JSON, Text: `{"$ref":"middle.json","title":"` + e.prefix + `"}`}
	plain := e.register(e.subject("value"), outer)
	outer.References = []registry.Reference{
		first, {Name: "middle.json", Text: middle.Text, Subject: e.subject("middle"), Version: 1},
	}
	id := e.register(e.subject("value"), outer)
	if id == plain {
		e.Errorf("a schema with references has the id of the one without, %d", id)
	}
	e.expectLatest(e.subject("value"), id, outer)
	e.expectSchema(id, outer)
}

func deleteSubject(e *env) {
	subject, first, second := e.subject("value"), e.schema("a"), e.schema("b")
	a := e.register(subject, first)
	b := e.register(subject, second)
	e.register(e.subject("key"), first)
	for range 2 { // the second time there is nothing
		if err := e.registry.Delete(e.ctx, subject); err != nil {
			e.Fatalf("delete the subject %s: %v", subject, err)
		}
		if _, _, err := e.registry.Latest(e.ctx, subject); !errors.Is(err, registry.ErrUnknown) {
			e.Errorf("the newest schema of a deleted subject: %v", err)
		}
		e.expectHas(subject, 0, false)
		e.expectHas(subject, a, false)
		e.expectHas(e.subject("key"), a, true)
		e.expectLatest(e.subject("key"), a, first)
		e.expectSchema(a, first)
		e.expectSchema(b, second)
	}
	if again := e.register(subject, first); again != a {
		e.Errorf("registered again, schema %d has id %d", a, again)
	}
	e.expectLatest(subject, a, first)
	e.expectHas(subject, b, false)
}

func subjectNames(e *env) {
	schema := e.schema("a")
	for _, name := range []string{"x", "X", "with.dots_and-dashes", "with blank", "with/slash", "ä%2F?#&"} {
		id := e.register(e.subject(name), schema)
		e.expectLatest(e.subject(name), id, schema)
		e.expectHas(e.subject(name), id, true)
	}
	e.expectHas(e.subject("with"), 0, false)
}

func concurrent(e *env) {
	const goroutines, schemas = 4, 8
	ids := make([][]int32, goroutines)
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for i := range schemas {
				id, err := e.registry.Register(e.ctx, e.subject(fmt.Sprint(i)), e.schema(fmt.Sprint(i)))
				if err != nil {
					e.Errorf("goroutine %d: %v", g, err)
					return
				}
				ids[g] = append(ids[g], id)
				if _, err := e.registry.Schema(e.ctx, id); err != nil {
					e.Errorf("goroutine %d, schema %d: %v", g, id, err)
				}
			}
		})
	}
	group.Wait()
	for g := range goroutines {
		if !slices.Equal(ids[g], ids[0]) {
			e.Errorf("goroutine %d has ids %v, goroutine 0 has %v", g, ids[g], ids[0])
		}
	}
	seen := slices.Clone(ids[0])
	slices.Sort(seen)
	if len(slices.Compact(seen)) != schemas {
		e.Errorf("ids are doubled: %v", ids[0])
	}
}
