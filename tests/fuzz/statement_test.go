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
	switch s.n(12) {
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
			"CREATE TYPE ADDRESS AS STRUCT<A INT, B ARRAY<STRING>>;", "UNSET 'ksql.sink.partitions';", "DEFINE x = 'y';")
	}
	return s.declare()
}

func (s *statements) withFormat() string {
	if s.n(3) < 2 {
		return ""
	}
	return " WITH (" + s.pick("FORMAT='JSON'", "VALUE_FORMAT='DELIMITED'", "KEY_FORMAT='JSON'", "WRAP_SINGLE_VALUE=FALSE", "PARTITIONS=1",
		"KEY_FORMAT='DELIMITED'", "TIMESTAMP='I'", "VALUE_FORMAT='KAFKA'") + ")"
}

func (s *statements) source() *catalog.Source {
	all := s.catalog.Sources()
	if s.before > 0 {
		all = slices.DeleteFunc(all, func(source *catalog.Source) bool { return s.number[source.Name] >= s.before })
	}
	return all[s.n(len(all))]
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
		kind, key = "TABLE", "PRIMARY KEY"
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
	with := s.pick("FORMAT='JSON'", "FORMAT='JSON'", "VALUE_FORMAT='JSON'", "KEY_FORMAT='JSON', VALUE_FORMAT='DELIMITED'", "FORMAT='JSON', TIMESTAMP='Z'")
	if kind == "STREAM" && s.chance(8) {
		with += s.pick(", WINDOW_TYPE='TUMBLING', WINDOW_SIZE='10 SECONDS'", ", WINDOW_TYPE='SESSION'")
	}
	name := s.name()
	return fmt.Sprintf("CREATE %s %s (%s) WITH (KAFKA_TOPIC='t%d', PARTITIONS=1, %s);", kind, name, strings.Join(columns, ", "), s.names, with)
}

// query is a SELECT.
func (s *statements) query(aggregate bool) string {
	left := s.source()
	scope := columnsOf(left, "")
	from := types.QuoteName(left.Name)
	if s.n(3) == 2 && len(s.catalog.Sources()) > 1 {
		right := s.source()
		if right == left {
			right = s.source()
		}
		scope = append(columnsOf(left, "L."), columnsOf(right, "R.")...)
		from = s.join(left, right)
	}
	e := &expressions{choices: s.choices, scope: scope}
	if aggregate {
		return s.aggregation(e, from)
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
	kind := s.pick("JOIN", "LEFT JOIN", "FULL OUTER JOIN", "RIGHT JOIN")
	within := ""
	if left.Kind == catalog.Stream && right.Kind == catalog.Stream && s.n(5) > 0 {
		within = s.pick(" WITHIN 10 SECONDS", " WITHIN (1 SECOND, 0 SECONDS) GRACE PERIOD 0 SECONDS", " WITHIN 1 DAY")
	}
	on := func(source *catalog.Source, prefix string) string {
		if len(source.Key) > 0 && s.n(4) < 3 {
			return prefix + types.QuoteName(source.Key[0].Name)
		}
		e := expressions{choices: s.choices, scope: columnsOf(source, prefix)}
		return e.anything(1)
	}
	return fmt.Sprintf("%s L %s %s R%s ON %s = %s", types.QuoteName(left.Name), kind, types.QuoteName(right.Name), within, on(left, "L."), on(right, "R."))
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
func (s *statements) aggregation(e *expressions, from string) string {
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
	window := s.n(3) == 2
	if window {
		text += " WINDOW " + s.pick("TUMBLING (SIZE 10 SECONDS)", "HOPPING (SIZE 10 SECONDS, ADVANCE BY 3 SECONDS)", "SESSION (5 SECONDS)",
			"TUMBLING (SIZE 1 MILLISECOND, GRACE PERIOD 0 SECONDS)", "TUMBLING (SIZE 100000000 DAYS)", "SESSION (0 SECONDS, GRACE PERIOD 1 SECOND)",
			"HOPPING (SIZE 1000 DAYS, ADVANCE BY 1 MILLISECOND)", "TUMBLING (SIZE 10 SECONDS, RETENTION 1 DAY, GRACE PERIOD 2 SECONDS)")
	}
	if s.chance(4) {
		text += " WHERE " + e.of("BOOLEAN", 1)
	}
	text += " GROUP BY " + groups
	if s.chance(4) {
		text += fmt.Sprintf(" HAVING %s > %s", s.aggregate(e), e.of("BIGINT", 0))
	}
	if window && s.chance(3) {
		return text + " EMIT FINAL"
	}
	return text + " EMIT CHANGES"
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
