package parser

import "testing"

func benchmark(b *testing.B, text string) {
	parser := New()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parser.parseScript(text, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCreateTableWithJoin(b *testing.B) { benchmark(b, joinStatement) }

func BenchmarkInsertValues(b *testing.B) {
	benchmark(b, "INSERT INTO rides (id, city, fare, started) VALUES (17, 'Rome', 12.50, '2024-01-01T00:00:00');")
}

func BenchmarkCreateStream(b *testing.B) {
	benchmark(b, "CREATE STREAM rides (id BIGINT KEY, city STRING, fare DECIMAL(10, 2)) WITH (kafka_topic='r', value_format='JSON');")
}
