package session_test

import (
	"context"
	"errors"
	"testing"

	"millrace/exec/session"
	"millrace/kafkaio"
	"millrace/kafkaio/memory"
	"millrace/kafkaio/registry"
	"millrace/planner/plan"
)

const schemaDeclarations = `
CREATE STREAM s (k INT KEY, a INT, b INT) WITH (KAFKA_TOPIC='s', PARTITIONS=1, FORMAT='AVRO');
CREATE STREAM o WITH (KEY_FORMAT='KAFKA') AS SELECT k, a FROM s;`

// undeletable is a registry that cannot be asked to delete.
type undeletable struct{ *registry.Memory }

func (undeletable) Delete(context.Context, string) error { return registry.ErrUnavailable }

func expectSubject(t *testing.T, r registry.Registry, subject string, want bool) {
	t.Helper()
	has, err := r.Has(t.Context(), subject, 0)
	if err != nil || has != want {
		t.Errorf("subject %s is there: %t, %v; expected %t", subject, has, err, want)
	}
}

func TestDropDeletesNothingWithoutTheRegistry(t *testing.T) {
	engine, schemas := &recorder{}, undeletable{registry.NewMemory()}
	s := newSession(t, session.Options{Engine: engine, Registry: schemas})
	if err := s.Script(t.Context(), schemaDeclarations, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Script(t.Context(), "DROP STREAM o DELETE TOPIC;", nil); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("the drop ended with %v", err)
	}
	engine.expect(t, "start CSAS_O_1 to 1 columns")
	if _, there := s.Catalog().Source("O"); !there {
		t.Error("the stream is gone")
	}
	if err := s.Script(t.Context(), "DROP STREAM o;", nil); err != nil {
		t.Error("the topic and its schemas stay:", err)
	}
	expectSubject(t, schemas, "O-value", true)
	expectSubject(t, schemas, "s-key", true)
}

func TestRefusedDropDeletesNoSchema(t *testing.T) {
	schemas := registry.NewMemory()
	s := newSession(t, session.Options{Engine: &recorder{}, Registry: schemas})
	if err := s.Script(t.Context(), schemaDeclarations+"DROP STREAM s DELETE TOPIC;", nil); err == nil {
		t.Error("a stream that a query reads was dropped")
	}
	expectSubject(t, schemas, "s-key", true)
	expectSubject(t, schemas, "s-value", true)
}

// choosy is an engine that does not like the topics of queries.
type choosy struct {
	*recorder
	fault error
}

func (c *choosy) CheckTopics(context.Context, *plan.Query) error { return c.fault }

func TestRefusedStatementsRegisterNothing(t *testing.T) {
	engine, schemas := &choosy{recorder: &recorder{}}, registry.NewMemory()
	s := newSession(t, session.Options{Engine: engine, Registry: schemas})
	script := schemaDeclarations + `
		CREATE STREAM r (k INT KEY, a INT) WITH (KAFKA_TOPIC='r', PARTITIONS=1, KEY_FORMAT='KAFKA', VALUE_FORMAT='AVRO');
		ALTER STREAM r ADD COLUMN b INT;`
	if err := s.Script(t.Context(), script, nil); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"O-value", "r-value"} {
		if err := schemas.Delete(t.Context(), subject); err != nil {
			t.Fatal(err)
		}
	}
	expectRefusal := func(statement string) {
		t.Helper()
		if err := s.Script(t.Context(), statement, nil); err == nil {
			t.Errorf("%s was not refused", statement)
		}
		expectSubject(t, schemas, "P-value", false)
		expectSubject(t, schemas, "O-value", false)
		expectSubject(t, schemas, "r-value", false)
	}
	expectRefusal("CREATE OR REPLACE STREAM o WITH (KEY_FORMAT='KAFKA') AS SELECT k, b FROM s;")
	engine.fault = errors.New("the topic has other partitions")
	expectRefusal("CREATE STREAM p AS SELECT k, a FROM s;")
	expectRefusal("INSERT INTO r SELECT k, a, b FROM s;")
	engine.expect(t, "start CSAS_O_1 to 1 columns")
	engine.fault = nil
	if err := s.Script(t.Context(), "INSERT INTO r SELECT k, a, b FROM s;", nil); err != nil {
		t.Fatal(err)
	}
	expectSubject(t, schemas, "r-value", true)
}

func TestRowsWithoutTheirTopicRegisterNothing(t *testing.T) {
	schemas := registry.NewMemory()
	log := memory.New()
	s := session.New(session.Options{Log: log, Service: "test", Registry: schemas, Now: func() int64 { return 0 }})
	script := "CREATE STREAM s (k INT KEY, a INT) WITH (KAFKA_TOPIC='s', PARTITIONS=1, FORMAT='AVRO'); ALTER STREAM s ADD COLUMN b INT;"
	if err := s.Script(t.Context(), script, nil); err != nil {
		t.Fatal(err)
	}
	if err := schemas.Delete(t.Context(), "s-value"); err != nil {
		t.Fatal(err)
	}
	if err := log.DeleteTopic(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if err := s.Script(t.Context(), "INSERT INTO s VALUES (1, 1, 1);", nil); !errors.Is(err, kafkaio.ErrUnknownTopic) {
		t.Errorf("INSERT ended with %v", err)
	}
	expectSubject(t, schemas, "s-value", false)
}
