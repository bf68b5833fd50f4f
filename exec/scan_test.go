package exec_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"millrace/exec"
	"millrace/exec/session"
	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/kafkaio/memory"
	"millrace/sql/token"
	"millrace/state"
	statememory "millrace/state/memory"
)

// quietLog counts the topics that are made.
type quietLog struct {
	*memory.Log
	made int
}

func (l *quietLog) CreateTopic(ctx context.Context, spec kafkaio.TopicSpec) error {
	l.made++
	return l.Log.CreateTopic(ctx, spec)
}

// rowsOf are the rows that a SELECT gives, as text.
func rowsOf(t *testing.T, s *session.Session, statement string) []string {
	t.Helper()
	pieces, _, err := token.Split(statement)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Execute(context.Background(), pieces[0])
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	rows := make([]string, len(result.Tables[0].Rows))
	for i, row := range result.Tables[0].Rows {
		rows[i] = fmt.Sprint(row)
	}
	return rows
}

const scanned = `
	CREATE TABLE plain (k INT PRIMARY KEY, j STRING PRIMARY KEY, a BIGINT, b DECIMAL(9, 2), c DOUBLE, d DATE, e TIMESTAMP, f BOOLEAN,
		g ARRAY<STRUCT<x INT, y STRING>>, h MAP<STRING, INT>, s STRING) WITH (KAFKA_TOPIC='t', PARTITIONS=3, FORMAT='JSON');
	CREATE SOURCE TABLE kept (k INT PRIMARY KEY, j STRING PRIMARY KEY, a BIGINT, b DECIMAL(9, 2), c DOUBLE, d DATE, e TIMESTAMP, f BOOLEAN,
		g ARRAY<STRUCT<x INT, y STRING>>, h MAP<STRING, INT>, s STRING) WITH (KAFKA_TOPIC='t', FORMAT='JSON');`

// fill writes rows of all types, some of them twice, with nulls and deletes.
func fill(t *testing.T, s *session.Session, rows int) {
	t.Helper()
	var script strings.Builder
	for i := range rows {
		key := i * 7 % (rows - rows/4)
		fmt.Fprintf(&script, `INSERT INTO plain (ROWTIME, k, j, a, b, c, d, e, f, g, h, s) VALUES (%d, %d, 'j%d', %d, %d.5, %d.25,
			'2024-01-%02d', '2024-02-03T04:05:%02d.000', %t, ARRAY[STRUCT(x := %d, y := 'é')], MAP('m' := %d), 'text %d');`,
			i, key, key%5, i%10-3, i, i, i%28+1, i%60, i%2 == 0, i, i, i)
		if i%11 == 3 {
			fmt.Fprintf(&script, `INSERT INTO plain (ROWTIME, k, j) VALUES (%d, %d, 'null');`, i, i)
		}
		if i%13 == 5 {
			fmt.Fprintf(&script, `DELETE FROM plain WHERE k = %d AND j = 'j%d';`, key, key%5)
		}
	}
	run(t, s, script.String())
}

// A SELECT gives the same rows from the store of a SOURCE TABLE as by reading
// the topic, for any number of workers, and where rows are on disk only.
func TestScanAgreesWithQuery(t *testing.T) {
	for name, options := range map[string]exec.Options{
		"manual": {}, "one worker": {Workers: 1}, "three workers": {Workers: 3},
		"spilled": {Workers: 1, StateDirectory: t.TempDir(), OpenBackend: opener(), MemoryBudget: 1, CheckpointInterval: -1},
	} {
		t.Run(name, func(t *testing.T) {
			log := &quietLog{Log: memory.New()}
			options.Service = "test"
			var faults atomic.Int64
			options.Events.RowError = func(task.RowError) { faults.Add(1) }
			e := exec.New(log, options)
			s := session.New(session.Options{Log: log, Engine: e, Service: "test", Now: func() int64 { return 0 }})
			run(t, s, scanned)
			fill(t, s, 300)
			for _, query := range []string{
				"SELECT * FROM %s;",
				"SELECT a, ROWTIME AS t, ROWPARTITION AS p, j AS jj FROM %s WHERE k > 20 AND f;",
				"SELECT g[1]->x AS x, h['m'] + 1 AS m, 10 / a AS q FROM %s;",
				"SELECT s FROM %s WHERE s IS NULL;",
				"SELECT k FROM %s WHERE 10 / a > 1;",
				"SELECT k FROM %s WHERE FALSE;",
			} {
				before := faults.Load()
				want := rowsOf(t, s, fmt.Sprintf(query, "plain"))
				read, made := faults.Load()-before, log.made
				got := rowsOf(t, s, fmt.Sprintf(query, "kept"))
				slices.Sort(want)
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s gives %d rows, not %d:\n%s\nwant\n%s", query, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if log.made != made {
					t.Errorf("%s made %d topics", query, log.made-made)
				}
				if strings.Contains(query, "10 / a") && (read == 0 || faults.Load() == before+read) {
					t.Errorf("%s: %d errors of rows by reading, %d by looking", query, read, faults.Load()-before-read)
				}
			}
			if limited := rowsOf(t, s, "SELECT k FROM kept LIMIT 3;"); len(limited) != 3 {
				t.Errorf("LIMIT 3 gives %q", limited)
			}
			made := log.made
			for _, query := range []string{"SELECT COUNT(*) AS n FROM kept GROUP BY 1;", "SELECT ROWOFFSET AS o FROM kept LIMIT 1;"} {
				if rows := rowsOf(t, s, query); len(rows) == 0 || log.made == made {
					t.Errorf("%s gives %q from a store", query, rows)
				}
			}
			run(t, s, "PAUSE CST_KEPT_1;")
			fill(t, s, 8)
			if paused, all := rowsOf(t, s, "SELECT k FROM kept;"), rowsOf(t, s, "SELECT k FROM plain;"); len(paused) != len(all) {
				t.Errorf("a paused table has %d rows, not %d", len(paused), len(all))
			}
			if err := e.Close(context.Background()); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func opener() func(string) (state.Backend, error) { return statememory.NewDisk().Open }

// The rows are in the order of the time of their last changes.
func TestScanOrder(t *testing.T) {
	log := memory.New()
	e := exec.New(log, exec.Options{Service: "test"})
	s := session.New(session.Options{Log: log, Engine: e, Service: "test", Now: func() int64 { return 0 }})
	run(t, s, `
		CREATE TABLE plain (k INT PRIMARY KEY, v INT) WITH (KAFKA_TOPIC='t', PARTITIONS=2, VALUE_FORMAT='JSON');
		CREATE SOURCE TABLE kept (k INT PRIMARY KEY, v INT) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');
		INSERT INTO plain (ROWTIME, k, v) VALUES (5, 1, 1), (3, 2, 2), (1, 3, 3), (9, 2, 4), (7, 4, 5);`)
	want := []string{"[3]", "[1]", "[5]", "[4]"}
	if got := rowsOf(t, s, "SELECT v FROM kept;"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
