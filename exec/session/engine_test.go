package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"millrace/exec/session"
	"millrace/kafkaio/memory"
	"millrace/planner/plan"
)

// recorder is an engine that notes what it is told, and fails as told.
type recorder struct {
	told []string
	fail string // a note that is an error
}

func (r *recorder) note(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	r.told = append(r.told, text)
	if text == r.fail {
		return errors.New("out of order")
	}
	return nil
}

func (r *recorder) Start(_ context.Context, q *plan.Query) error {
	if q.Materializes() {
		return r.note("start %s", q.ID)
	}
	return r.note("start %s to %d columns", q.ID, len(q.Subgraphs[0].Root.(*plan.Sink).Value))
}

func (r *recorder) Stop(_ context.Context, id string) error { return r.note("stop %s", id) }
func (r *recorder) Drop(_ context.Context, id string) error { return r.note("drop %s", id) }
func (r *recorder) Pause(id string) error                   { return r.note("pause %s", id) }
func (r *recorder) Resume(id string) error                  { return r.note("resume %s", id) }

const declarations = `
CREATE STREAM s (k INT KEY, a INT, b INT) WITH (KAFKA_TOPIC='s', PARTITIONS=1, VALUE_FORMAT='JSON');
CREATE STREAM o AS SELECT k, a FROM s;`

func newSession(t *testing.T, options session.Options) *session.Session {
	t.Helper()
	options.Log, options.Service, options.Now = memory.New(), "test", func() int64 { return 0 }
	s := session.New(options)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (r *recorder) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(r.told, want) {
		t.Errorf("the engine was told %q, not %q", r.told, want)
	}
}

func TestReplaceStopsThenStarts(t *testing.T) {
	engine := &recorder{}
	s := newSession(t, session.Options{Engine: engine})
	err := s.Script(t.Context(), declarations+"PAUSE CSAS_O_1; CREATE OR REPLACE STREAM o AS SELECT k, a, b FROM s;", nil)
	if err != nil {
		t.Fatal(err)
	}
	engine.expect(t, "start CSAS_O_1 to 1 columns", "pause CSAS_O_1", "stop CSAS_O_1", "start CSAS_O_1 to 2 columns", "pause CSAS_O_1")
}

func TestFailedReplacementLeavesTheOldQuery(t *testing.T) {
	engine := &recorder{fail: "start CSAS_O_1 to 2 columns"}
	s := newSession(t, session.Options{Engine: engine})
	err := s.Script(t.Context(), declarations+"CREATE OR REPLACE STREAM o AS SELECT k, a, b FROM s;", nil)
	if err == nil {
		t.Fatal("the replacement did not fail")
	}
	engine.expect(t, "start CSAS_O_1 to 1 columns", "stop CSAS_O_1", "start CSAS_O_1 to 2 columns", "start CSAS_O_1 to 1 columns")
	source, _ := s.Catalog().Source("O")
	if len(source.Value) != 1 {
		t.Errorf("O has the columns %s", source.Schema())
	}
}

func TestRefusedReplacementStopsNothing(t *testing.T) {
	engine := &recorder{}
	s := newSession(t, session.Options{Engine: engine})
	if err := s.Script(t.Context(), declarations+"CREATE OR REPLACE STREAM o AS SELECT k, b FROM s;", nil); err == nil {
		t.Fatal("the replacement was not refused")
	}
	engine.expect(t, "start CSAS_O_1 to 1 columns")
}

func TestTerminatedAndDroppedQueriesAreDropped(t *testing.T) {
	engine := &recorder{fail: "drop CSAS_P_1"}
	s := newSession(t, session.Options{Engine: engine})
	err := s.Script(t.Context(), declarations+`
		CREATE SOURCE TABLE t (k INT PRIMARY KEY, a INT) WITH (KAFKA_TOPIC='t', PARTITIONS=1, VALUE_FORMAT='JSON');
		TERMINATE CSAS_O_1; CREATE OR REPLACE STREAM o AS SELECT k, a, b FROM s; DROP STREAM o; DROP TABLE t;
		CREATE STREAM p AS SELECT k, a FROM s;
		DROP STREAM p;`, nil)
	if err == nil {
		t.Fatal("the last drop did not fail")
	}
	if _, there := s.Catalog().Query("CSAS_P_1"); !there {
		t.Error("a query that could not be dropped is gone, so that the drop cannot be done again")
	}
	engine.fail = ""
	if err := s.Script(t.Context(), "DROP STREAM p;", nil); err != nil {
		t.Fatal(err)
	}
	engine.expect(t, "start CSAS_O_1 to 1 columns", "start CST_T_1", "drop CSAS_O_1", "start CSAS_O_1 to 2 columns",
		"drop CSAS_O_1", "drop CST_T_1", "start CSAS_P_1 to 1 columns", "drop CSAS_P_1", "drop CSAS_P_1")
	if left := s.Catalog().Queries(); len(left) > 0 {
		t.Errorf("queries are left, the first is %s", left[0].ID)
	}
}

func TestPrintFollows(t *testing.T) {
	var rows [][]any
	enough := errors.New("enough")
	s := newSession(t, session.Options{Follow: true, PrintRow: func(row []any) error {
		if rows = append(rows, row); len(rows) == 3 {
			return enough
		}
		return nil
	}})
	script := declarations + "INSERT INTO s VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4); PRINT s FROM BEGINNING LIMIT 2;"
	if err := s.Script(t.Context(), script, nil); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[1][3] != int64(2) {
		t.Fatalf("LIMIT 2 gave %v", rows)
	}
	if err := s.Script(t.Context(), "PRINT s FROM BEGINNING;", nil); !errors.Is(err, enough) {
		t.Fatalf("PRINT without LIMIT ended with %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Script(ended, "PRINT s;", nil); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
