package registry_test

import (
	"errors"
	"testing"

	"millrace/kafkaio/registry"
	"millrace/kafkaio/registry/conformance"
)

func TestMemory(t *testing.T) {
	conformance.Run(t, func(*testing.T) registry.Registry { return registry.NewMemory() })
}

func TestOverlay(t *testing.T) {
	conformance.Run(t, func(*testing.T) registry.Registry { return registry.NewOverlay(nil) })
	base := registry.NewMemory()
	conformance.Run(t, func(*testing.T) registry.Registry { return registry.NewOverlay(base) })

	text := registry.Schema{Kind: registry.JSON, Text: `{"type":"string"}`}
	below, err := base.Register(t.Context(), "a-value", text)
	if err != nil || below != 1 {
		t.Fatalf("id %d, %v: the overlay has registered below", below, err)
	}
	o := registry.NewOverlay(base)
	if id, schema, err := o.Latest(t.Context(), "a-value"); err != nil || id != below || schema.Text != text.Text {
		t.Errorf("the schema below is %d %q, %v", id, schema.Text, err)
	}
	above, err := o.Register(t.Context(), "a-value", registry.Schema{Kind: registry.JSON, Text: `{"type":"number"}`})
	if err != nil {
		t.Fatal(err)
	}
	if id, _, err := o.Latest(t.Context(), "a-value"); err != nil || id != above {
		t.Errorf("the newest schema is %d, %v; expected %d", id, err, above)
	}
	for id, want := range map[int32]bool{below: true, above: true, above + 1: false} {
		if has, err := o.Has(t.Context(), "a-value", id); err != nil || has != want {
			t.Errorf("has %d: %t, %v", id, has, err)
		}
	}
	if has, err := base.Has(t.Context(), "a-value", above); err != nil || has {
		t.Errorf("the registry below has it too: %v", err)
	}
	if err := o.Delete(t.Context(), "a-value"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.Latest(t.Context(), "a-value"); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("a deleted subject: %v", err)
	}
	if has, err := o.Has(t.Context(), "a-value", below); err != nil || has {
		t.Errorf("a deleted subject has schema %d: %v", below, err)
	}
	if _, err := o.Schema(t.Context(), below); err != nil {
		t.Error("its schema by id:", err)
	}
	if has, err := base.Has(t.Context(), "a-value", below); err != nil || !has {
		t.Errorf("the registry below has lost it: %v", err)
	}
}

func TestPut(t *testing.T) {
	m := registry.NewMemory()
	old := registry.Schema{Kind: registry.JSON, Text: `{"type":"string"}`}
	m.Put(2, "a-value", old)
	m.Put(1, "b-value", registry.Schema{Kind: registry.JSON, Text: `{"type":"integer"}`})
	id, err := m.Register(t.Context(), "a-value", registry.Schema{Kind: registry.JSON, Text: `{"type":"number"}`})
	if err != nil || id != 3 {
		t.Errorf("the next free id is %d, %v; expected 3", id, err)
	}
	if id, err = m.Register(t.Context(), "c-value", old); err != nil || id != 2 {
		t.Errorf("a schema that was put has id %d, %v; expected 2", id, err)
	}
	m.Put(2, "a-value", registry.Schema{Kind: registry.JSON, Text: `{"type":"boolean"}`})
	if schema, err := m.Schema(t.Context(), 2); err != nil || schema.Text != `{"type":"boolean"}` {
		t.Errorf("schema 2 is %q, %v", schema.Text, err)
	}
}

func TestSubject(t *testing.T) {
	if key, value := registry.Subject("orders", true), registry.Subject("orders", false); key != "orders-key" || value != "orders-value" {
		t.Errorf("subjects %s and %s", key, value)
	}
}
