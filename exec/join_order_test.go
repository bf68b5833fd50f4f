package exec_test

import (
	"context"
	"slices"
	"testing"

	"millrace/exec"
	"millrace/exec/session"
	"millrace/kafkaio/memory"
)

// A stream that is repartitioned for a join meets the table by event time, also
// where all is there when the query starts and the table's rows are read sooner.
func TestJoinBehindRepartitionGoesByEventTime(t *testing.T) {
	log := memory.New()
	e := exec.New(log, exec.Options{Service: "test", Workers: 2})
	defer func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	s := session.New(session.Options{Log: log, Engine: e, Service: "test", Now: func() int64 { return 0 }})
	run(t, s, `
CREATE STREAM visits (id STRING KEY, city STRING) WITH (KAFKA_TOPIC = 'visits', PARTITIONS = 1, VALUE_FORMAT = 'JSON');
CREATE TABLE cities (city STRING PRIMARY KEY, country STRING) WITH (KAFKA_TOPIC = 'cities', PARTITIONS = 1, VALUE_FORMAT = 'JSON');
INSERT INTO cities (ROWTIME, city, country) VALUES (2000, 'Oslo', 'NO');
INSERT INTO visits (ROWTIME, id, city) VALUES (1000, 'early', 'Oslo'), (3000, 'late', 'Oslo');`)
	for range 10 {
		got := rowsOf(t, s, "SELECT id, country FROM visits v LEFT JOIN cities c ON v.city = c.city;")
		slices.Sort(got)
		if want := []string{"[early <nil>]", "[late NO]"}; !slices.Equal(got, want) {
			t.Fatalf("%q, not %q", got, want)
		}
	}
}
