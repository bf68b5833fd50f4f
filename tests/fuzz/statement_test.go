package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"millrace/exec/fn"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// statements writes statements against what a catalog holds.
type statements struct {
	*choices
	catalog *catalog.Catalog
	schemas []schema // of the registry
	names   int
	// before, if not 0, leaves queries only sources that were named before it,
	// so that no circle of queries feeds itself without end.
	before int
	number map[string]int // of each name, in the order of naming
}

func (s *statements) name() string {
	s.names++
	name := fmt.Sprintf("R%d", s.names)
	if s.chance(12) {
		name = fmt.Sprintf("ö.%d `x", s.names)
	}
	if s.number == nil {
		s.number = map[string]int{}
	}
	s.number[name] = s.names
	return types.QuoteName(name)
}

// next is one statement.
func (s *statements) next() string {
	if len(s.catalog.Sources()) == 0 {
		return s.declare()
	}
	switch s.n(14) {
	case 0:
		return s.declare()
	case 1, 2, 3:
		return fmt.Sprintf("CREATE STREAM %s%s AS %s;", s.name(), s.withFormat(), s.query(false))
	case 4, 5, 6:
		return fmt.Sprintf("CREATE TABLE %s%s AS %s;", s.name(), s.withFormat(), s.query(true))
	case 7:
		return s.insertValues()
	case 8:
		return s.insertQuery()
	case 9:
		return fmt.Sprintf("EXPLAIN %s;", s.query(s.chance(2)))
	case 10:
		return s.pick("SET 'auto.offset.reset'='earliest';", "DROP STREAM R1;", "DROP TABLE IF EXISTS R2 DELETE TOPIC;",
			"CREATE TYPE ADDRESS AS STRUCT<A INT, B ARRAY<STRING>>;", "UNSET 'ksql.sink.partitions';", "DEFINE x = 'y';",
			"DROP FUNCTION IF EXISTS TWICE;", "SHOW QUERIES EXTENDED;", "DESCRIBE TABLES EXTENDED;", "PAUSE ALL; RESUME ALL;",
			s.change(), s.change(), s.change())
	case 11:
		return s.look()
	case 12:
		e := &expressions{choices: s.choices, scope: []variable{{"A", types.Bigint}, {"B", types.String}}}
		return fmt.Sprintf("CREATE OR REPLACE FUNCTION TWICE(A BIGINT, B STRING) RETURNS %s AS %s;", e.typeName(), e.anything(2))
	}
	return s.declare()
}

func (s *statements) withFormat() string {
	if s.n(3) < 2 {
		return ""
	}
	return " WITH (" + s.pick("FORMAT='JSON'", "VALUE_FORMAT='DELIMITED'", "KEY_FORMAT='JSON'", "WRAP_SINGLE_VALUE=FALSE", "PARTITIONS=1",
		"KEY_FORMAT='DELIMITED'", "TIMESTAMP='I'", "VALUE_FORMAT='KAFKA'", "FORMAT='AVRO'", "FORMAT='JSON_SR'", "FORMAT='PROTOBUF'",
		"VALUE_FORMAT='PROTOBUF_NOSR', VALUE_PROTOBUF_NULLABLE_REPRESENTATION='WRAPPER'", "VALUE_FORMAT='AVRO', VALUE_SCHEMA_FULL_NAME='a.B'",
		"VALUE_FORMAT='PROTOBUF', VALUE_PROTOBUF_NULLABLE_REPRESENTATION='OPTIONAL'", s.schemaID("KEY"), s.schemaID("VALUE")) + ")"
}

// schemaID names a schema of the registry, mostly one that is there and in its
// format.
func (s *statements) schemaID(side string) string {
	format, id := s.pick("AVRO", "JSON_SR", "PROTOBUF"), 1+s.n(9)
	if id <= len(s.schemas) && !s.chance(12) {
		format = s.schemas[id-1].format
	}
	return fmt.Sprintf("%[1]s_FORMAT='%[2]s', %[1]s_SCHEMA_ID=%[3]d", side, format, id)
}

// change is a statement that changes what was declared, or its rows.
func (s *statements) change() string {
	source := s.source()
	name, kind := types.QuoteName(source.Name), string(source.Kind)
	e := expressions{choices: s.choices}
	switch s.n(3) {
	case 0:
		return fmt.Sprintf("ALTER %s %s ADD COLUMN N%d %s;", kind, name, s.n(9), e.typeName())
	case 1:
		key := variable{"K", types.String}
		if len(source.Key) > 0 {
			key = variable{types.QuoteName(source.Key[0].Name), source.Key[0].Type}
		}
		return fmt.Sprintf("DELETE FROM %s WHERE %s = %s;", name, key.text, e.literal(key.t.String()))
	}
	return fmt.Sprintf("CREATE OR REPLACE %s %s%s AS %s;", kind, name, s.withFormat(), s.query(kind == "TABLE"))
}

// look is a statement that shows something.
func (s *statements) look() string {
	text, _ := strings.CutSuffix(s.query(s.chance(3)), " EMIT CHANGES")
	if s.chance(3) {
		text = "SELECT * FROM " + types.QuoteName(s.source().Name)
	}
	return text + s.pick("", "", " LIMIT 3") + ";"
}

func (s *statements) source() *catalog.Source {
	all := s.catalog.Sources()
	if s.before > 0 {
		all = slices.DeleteFunc(all, func(source *catalog.Source) bool { return s.number[source.Name] >= s.before })
	}
	return all[s.n(len(all))]
}

// sourceOf is mostly one of a kind that queries can read.
func (s *statements) sourceOf(kind catalog.Kind) *catalog.Source {
	for range 3 {
		found := s.source()
		if found.Kind == kind && (kind == catalog.Stream || found.Window == nil) {
			return found
		}
	}
	return s.source()
}

func (s *statements) insertQuery() string {
	target := s.source()
	first := slices.MinFunc(s.catalog.Sources(), func(a, b *catalog.Source) int { return s.number[a.Name] - s.number[b.Name] })
	if target == first {
		return s.insertValues()
	}
	s.before = s.number[target.Name]
	defer func() { s.before = 0 }()
	return fmt.Sprintf("INSERT INTO %s %s;", types.QuoteName(target.Name), s.query(s.chance(3)))
}

func (s *statements) declare() string {
	kind, key := "STREAM", "KEY"
	if s.chance(3) {
		kind, key = s.pick("TABLE", "TABLE", "SOURCE TABLE"), "PRIMARY KEY"
	}
	if len(s.schemas) > 0 && s.n(3) > 0 {
		return s.declareBySchema(kind, key)
	}
	e := expressions{choices: s.choices}
	columns := []string{"K " + s.pick("STRING", "STRING", "INTEGER", "BIGINT", "DOUBLE", "DECIMAL(9,2)", "STRUCT<X INT, Y STRING>") + " " + key}
	if kind == "STREAM" && s.chance(6) {
		columns = nil
	}
	if s.chance(8) {
		columns = append(columns, "K2 "+s.pick("STRING", "BIGINT")+" "+key)
	}
	columns = append(columns, "I INTEGER", "S STRING", "Z BIGINT")
	for i := range s.n(6) {
		columns = append(columns, fmt.Sprintf("C%d %s", i, e.typeName()))
	}
	with := s.pick("FORMAT='JSON'", "FORMAT='JSON'", "VALUE_FORMAT='JSON'", "KEY_FORMAT='JSON', VALUE_FORMAT='DELIMITED'", "FORMAT='JSON', TIMESTAMP='Z'",
		"FORMAT='AVRO'", "FORMAT='JSON_SR'", "FORMAT='PROTOBUF'", "KEY_FORMAT='AVRO', VALUE_FORMAT='PROTOBUF_NOSR'",
		"KEY_FORMAT='JSON', VALUE_FORMAT='PROTOBUF', VALUE_PROTOBUF_NULLABLE_REPRESENTATION='OPTIONAL'",
		"KEY_FORMAT='PROTOBUF', VALUE_FORMAT='JSON_SR', TIMESTAMP='Z', KEY_PROTOBUF_NULLABLE_REPRESENTATION='WRAPPER'")
	if s.chance(8) {
		with += s.windowType()
	}
	name := s.name()
	return fmt.Sprintf("CREATE %s %s (%s) WITH (KAFKA_TOPIC='t%d', PARTITIONS=1, %s);", kind, name, strings.Join(columns, ", "), s.names, with)
}

func (s *statements) windowType() string {
	return s.pick(", WINDOW_TYPE='TUMBLING', WINDOW_SIZE='10 SECONDS'", ", WINDOW_TYPE='SESSION'", ", WINDOW_TYPE='SLIDING', WINDOW_SIZE='10 SECONDS'",
		", WINDOW_TYPE='HOPPING', WINDOW_SIZE='10 SECONDS'")
}

// declareBySchema takes columns from schemas of the registry.
func (s *statements) declareBySchema(kind, key string) string {
	at := s.n(len(s.schemas))
	topic, format := s.schemas[at].topic, s.schemas[at].format
	with := fmt.Sprintf("KAFKA_TOPIC='%s', PARTITIONS=1, VALUE_FORMAT='%s'", topic, format)
	columns := ""
	switch s.n(4) {
	case 0:
		columns = fmt.Sprintf("(K %s %s) ", s.pick("STRING", "BIGINT"), key)
		with += ", KEY_FORMAT='JSON'"
	case 1:
		columns = fmt.Sprintf("(ROWKEY %s %s) ", s.pick("STRING", "INTEGER"), key)
		with += s.pick(", KEY_FORMAT='AVRO'", ", KEY_FORMAT='JSON_SR'", ", KEY_FORMAT='PROTOBUF'")
	case 2:
		with += fmt.Sprintf(", KEY_FORMAT='%s'", format)
	case 3:
		with = fmt.Sprintf("KAFKA_TOPIC='%s', PARTITIONS=1, %s, %s", topic, s.schemaID("KEY"), s.schemaID("VALUE"))
	}
	with += s.pick("", "", "", ", VALUE_SCHEMA_FULL_NAME='M1'", ", WRAP_SINGLE_VALUE=FALSE", ", TIMESTAMP='I'")
	if s.chance(10) {
		with += s.windowType()
	}
	return fmt.Sprintf("CREATE %s %s %sWITH (%s);", kind, s.name(), columns, with)
}

// query is a SELECT.
func (s *statements) query(aggregate bool) string {
	left := s.sourceOf(catalog.Stream)
	if aggregate && s.chance(4) {
		left = s.sourceOf(catalog.Table)
	}
	scope := columnsOf(left, "")
	from := types.QuoteName(left.Name)
	if s.n(3) == 2 && len(s.catalog.Sources()) > 1 {
		right := s.sourceOf(catalog.Table)
		if right == left {
			right = s.source()
		}
		scope = append(columnsOf(left, "L."), columnsOf(right, "R.")...)
		from = s.join(left, right)
	}
	e := &expressions{choices: s.choices, scope: scope}
	if aggregate {
		return s.aggregation(e, from, left.Kind == catalog.Stream)
	}
	text := "SELECT " + s.items(e) + " FROM " + from
	if s.chance(3) {
		text += " WHERE " + e.of("BOOLEAN", 2)
	}
	if s.chance(4) {
		text += " PARTITION BY " + s.pick(e.anything(1), e.of("STRING", 1), "NULL", e.of("BIGINT", 0)+", "+e.of("STRING", 0))
	}
	return text + " EMIT CHANGES"
}

func columnsOf(source *catalog.Source, prefix string) []variable {
	var out []variable
	for _, c := range append(append([]catalog.Column{}, source.Key...), source.Value...) {
		out = append(out, variable{prefix + types.QuoteName(c.Name), c.Type})
	}
	return append(out, variable{prefix + "ROWTIME", types.Bigint}, variable{prefix + "ROWOFFSET", types.Bigint})
}

func (s *statements) join(left, right *catalog.Source) string {
	kind := s.pick("JOIN", "LEFT JOIN", "JOIN", "LEFT JOIN", "FULL OUTER JOIN", "RIGHT JOIN")
	within := ""
	if left.Kind == catalog.Stream && right.Kind == catalog.Stream && s.n(5) > 0 {
		within = s.pick(" WITHIN 10 SECONDS", " WITHIN (1 SECOND, 0 SECONDS) GRACE PERIOD 0 SECONDS", " WITHIN 1 DAY")
	}
	r := expressions{choices: s.choices, scope: columnsOf(right, "R.")}
	of := r.scope[0]
	if s.chance(6) {
		of = r.scope[s.n(len(r.scope))]
	}
	l := expressions{choices: s.choices, scope: columnsOf(left, "L.")}
	return fmt.Sprintf("%s L %s %s R%s ON %s = %s", types.QuoteName(left.Name), kind, types.QuoteName(right.Name), within, l.of(of.t.String(), s.n(2)), of.text)
}

func (s *statements) items(e *expressions) string {
	var items []string
	if s.n(3) == 0 {
		items = append(items, "*")
	} else {
		for _, v := range e.scope[:min(len(e.scope), 1)] {
			items = append(items, v.text)
		}
	}
	for i := range s.n(4) {
		item := e.anything(2)
		if s.chance(8) {
			item = s.pick("EXPLODE(ARRAY[1, 2])", "CUBE_EXPLODE(ARRAY['a'])", "EXPLODE("+e.of("ARRAY<STRING>", 1)+")")
		}
		items = append(items, fmt.Sprintf("%s AS X%d", item, i))
	}
	if len(items) == 0 {
		return "*"
	}
	return strings.Join(items, ", ")
}

// aggregation is a query with GROUP BY.
func (s *statements) aggregation(e *expressions, from string, stream bool) string {
	group := e.anything(s.n(2))
	groups, items := group, group+" AS G"
	if s.chance(4) {
		second := e.anything(1)
		groups, items = group+", "+second, group+" AS G, "+second+" AS H"
	}
	for i := range 1 + s.n(3) {
		items += fmt.Sprintf(", %s AS X%d", s.aggregate(e), i)
	}
	text := fmt.Sprintf("SELECT %s FROM %s", items, from)
	window := stream && s.n(3) > 0 || s.chance(20)
	if window {
		text += " WINDOW " + s.window()
	}
	if s.chance(4) {
		text += " WHERE " + e.of("BOOLEAN", 1)
	}
	text += " GROUP BY " + groups
	if s.chance(4) {
		text += fmt.Sprintf(" HAVING %s > %s", s.aggregate(e), e.of("BIGINT", 0))
	}
	if window && s.chance(2) {
		return text + " EMIT FINAL"
	}
	return text + " EMIT CHANGES"
}

func (s *statements) window() string {
	switch s.n(5) {
	case 0, 1:
		return "SESSION (" + s.pick("5 SECONDS", "3 SECONDS, GRACE PERIOD 1 SECOND", "1 SECOND, GRACE PERIOD 0 SECONDS", "3 SECONDS, RETENTION 1 HOUR",
			"0 SECONDS, GRACE PERIOD 1 SECOND", "100000000 DAYS") + ")"
	case 2, 3:
		return "SLIDING (SIZE " + s.pick("5 SECONDS", "5 SECONDS, GRACE PERIOD 1 SECOND", "1 MILLISECOND, GRACE PERIOD 0 SECONDS", "3 SECONDS, RETENTION 1 DAY",
			"0 SECONDS", "100000000 DAYS") + ")"
	}
	return s.pick("TUMBLING (SIZE 10 SECONDS)", "HOPPING (SIZE 10 SECONDS, ADVANCE BY 3 SECONDS)",
		"TUMBLING (SIZE 1 MILLISECOND, GRACE PERIOD 0 SECONDS)", "TUMBLING (SIZE 100000000 DAYS)",
		"HOPPING (SIZE 1000 DAYS, ADVANCE BY 1 MILLISECOND)", "TUMBLING (SIZE 10 SECONDS, RETENTION 1 DAY, GRACE PERIOD 2 SECONDS)")
}

func (s *statements) aggregate(e *expressions) string {
	all := fn.Aggregates()
	a := all[s.n(len(all))]
	form := a.Forms[s.n(len(a.Forms))]
	start := strings.IndexByte(form, '(')
	if start < 0 || strings.Contains(form, "*") {
		return "COUNT(*)"
	}
	parameters := splitParameters(strings.TrimSuffix(form[start+1:], ")"))
	literals := a.Literals(len(parameters))
	var arguments []string
	for i, p := range parameters {
		switch {
		case i >= len(parameters)-literals:
			arguments = append(arguments, s.pick("1", "3", "TRUE", "1000"))
		case e.chance(10) || len(strings.TrimSuffix(p, "..")) == 1:
			arguments = append(arguments, e.anything(1))
		default:
			arguments = append(arguments, e.argument(p, p, 1))
		}
	}
	text := a.Name + "(" + s.pick("", "", "", "DISTINCT ") + strings.Join(arguments, ", ") + ")"
	if s.chance(4) {
		text += " FILTER (WHERE " + e.of("BOOLEAN", 1) + ")"
	}
	return text
}

func (s *statements) insertValues() string {
	source := s.source()
	e := expressions{choices: s.choices}
	var names, values []string
	for _, c := range append(append([]catalog.Column{}, source.Key...), source.Value...) {
		if s.chance(6) {
			continue
		}
		names = append(names, types.QuoteName(c.Name))
		values = append(values, e.of(c.Type.String(), 1))
	}
	if s.chance(4) {
		names, values = append(names, "ROWTIME"), append(values, s.pick("0", "-5", "1000", "9223372036854775807"))
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s);", types.QuoteName(source.Name), strings.Join(names, ", "), strings.Join(values, ", "))
}
