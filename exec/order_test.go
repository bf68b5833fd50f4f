package exec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"millrace/exec"
	"millrace/exec/session"
	"millrace/kafkaio"
	"millrace/kafkaio/memory"
)

// TestWindowsBehindARepartitionLoseNothing feeds rows in the order of their
// times to several partitions, and groups them by another column in windows
// without grace. The partitions are read side by side by any number of workers,
// but no row may come late, also behind a join that repartitions first.
func TestWindowsBehindARepartitionLoseNothing(t *testing.T) {
	const rows, partitions = 4000, 5
	for _, workers := range []int{1, 2, 3} {
		for name, query := range map[string]string{
			"group": `CREATE TABLE result AS SELECT color, COUNT(*) AS n FROM s
				WINDOW TUMBLING (SIZE 1 SECOND, GRACE PERIOD 0 SECONDS) GROUP BY color;`,
			"join and group": `CREATE TABLE result AS SELECT t.name, COUNT(*) AS n FROM s JOIN t ON s.color = t.color
				WINDOW TUMBLING (SIZE 1 SECOND, GRACE PERIOD 0 SECONDS) GROUP BY t.name;`,
		} {
			t.Run(fmt.Sprintf("%s, %d workers", name, workers), func(t *testing.T) {
				log := memory.New()
				e := exec.New(log, exec.Options{Service: "test", Workers: workers})
				s := session.New(session.Options{Log: log, Engine: e, Service: "test", Now: func() int64 { return 0 }})
				run(t, s, `
					CREATE STREAM s (id INT KEY, color STRING) WITH (KAFKA_TOPIC='s', PARTITIONS=5, VALUE_FORMAT='JSON');
					CREATE TABLE t (color STRING PRIMARY KEY, name STRING) WITH (KAFKA_TOPIC='t', PARTITIONS=2, VALUE_FORMAT='JSON');
					INSERT INTO t (color, name, ROWTIME) VALUES ('c0', 'red', 0), ('c1', 'green', 0), ('c2', 'blue', 0), ('c3', 'red', 0);`)
				feedColors(t, log, rows, partitions)
				run(t, s, query)
				if err := e.RunUntilEnd(context.Background()); err != nil {
					t.Fatal(err)
				}
				if status := e.Status("CTAS_RESULT_1"); status.Late != 0 || status.Cause != nil {
					t.Errorf("%d rows are late, the query's cause of failure is %v", status.Late, status.Cause)
				}
				if got := countRows(t, log); got != rows {
					t.Errorf("the windows count %d rows, want %d", got, rows)
				}
				if err := e.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func run(t *testing.T, s *session.Session, script string) {
	t.Helper()
	if err := s.Script(context.Background(), script, nil); err != nil {
		t.Fatal(err)
	}
}

// feedColors writes rows 10 ms apart; runs of them go to one partition each, so
// that the partitions are far apart when one is read ahead of the others.
func feedColors(t *testing.T, log kafkaio.Log, rows, partitions int) {
	t.Helper()
	ctx := context.Background()
	p := log.NewProducer(kafkaio.ProducerOptions{TransactionalID: "feed"})
	if err := p.Init(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		to := kafkaio.TopicPartition{Topic: "s", Partition: int32(i / 7 % partitions)}
		value := fmt.Appendf(nil, `{"COLOR":"c%d"}`, i%4)
		if err := p.Append(ctx, to, 1_000_000+int64(i)*10, []byte{0, 0, byte(i >> 8), byte(i)}, value, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Commit(ctx); err != nil {
		t.Fatal(err)
	}
}

// countRows adds up the last count of each window of the result.
func countRows(t *testing.T, log kafkaio.Log) int {
	t.Helper()
	ctx := context.Background()
	fetcher := log.NewFetcher(kafkaio.FetchOptions{})
	defer fetcher.Close()
	positions := map[kafkaio.TopicPartition]int64{}
	for partition := range int32(5) {
		positions[kafkaio.TopicPartition{Topic: "RESULT", Partition: partition}] = 0
	}
	fetcher.Assign(positions)
	last := map[string]int{}
	for {
		runs, err := fetcher.Poll(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) == 0 {
			break
		}
		for _, r := range runs {
			for i, key := range r.Keys {
				var row struct{ N int }
				if err := json.Unmarshal(r.Values[i], &row); err != nil {
					t.Fatal(err)
				}
				last[string(key)] = row.N
			}
			r.Release()
		}
	}
	total := 0
	for _, n := range last {
		total += n
	}
	return total
}
