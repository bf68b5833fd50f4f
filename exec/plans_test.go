package exec

import (
	"testing"

	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

var (
	kafkaFormat = catalog.Format{Name: "KAFKA", Unwrapped: true}
	jsonFormat  = catalog.Format{Name: "JSON"}
)

func schemaOf(key []int, changes bool, columns ...plan.Column) plan.Schema {
	return plan.Schema{Columns: columns, Key: key, Changes: changes, WindowStart: -1, WindowEnd: -1}
}

func columnOf(name string, t *types.Type) plan.Column { return plan.Column{Name: name, Type: t} }

func fieldOf(c plan.Column, at int) plan.Field {
	return plan.Field{Name: c.Name, Type: c.Type, Column: at}
}

// ordersSource reads ORDERS (ID STRING KEY, REGION STRING, AMOUNT BIGINT).
func ordersSource(topic string) *plan.Source {
	id, region, amount := columnOf("ID", types.String), columnOf("REGION", types.String), columnOf("AMOUNT", types.Bigint)
	return &plan.Source{
		Name: "ORDERS", Topic: topic,
		KeyFormat: kafkaFormat, KeyFields: []plan.Field{fieldOf(id, 0)},
		ValueFormat: jsonFormat, ValueFields: []plan.Field{fieldOf(region, 1), fieldOf(amount, 2)},
		Pseudo: plan.NoPseudo, Output: schemaOf([]int{0}, false, id, region, amount),
	}
}

func must[T any](t testing.TB) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// filterQuery is SELECT ID, REGION, AMOUNT * 2 AS DOUBLED FROM ORDERS WHERE AMOUNT > 100.
func filterQuery(t testing.TB) *plan.Query {
	source := ordersSource("orders")
	amount := expr.NewColumn(2, "AMOUNT", types.Bigint)
	condition := must[expr.Expr](t)(expr.NewCompare(">", amount, expr.NewLiteral(int64(100), types.Bigint)))
	doubled := must[expr.Expr](t)(expr.NewArithmetic("*", amount, expr.NewLiteral(int64(2), types.Bigint)))
	columns := []plan.Column{columnOf("ID", types.String), columnOf("REGION", types.String), columnOf("DOUBLED", types.Bigint)}
	project := &plan.Project{
		Input: &plan.Filter{Input: source, Condition: condition},
		Columns: []plan.NamedExpr{
			{Name: "ID", Expr: expr.NewColumn(0, "ID", types.String)},
			{Name: "REGION", Expr: expr.NewColumn(1, "REGION", types.String)},
			{Name: "DOUBLED", Expr: doubled},
		},
		Output: schemaOf([]int{0}, false, columns...),
	}
	return planOf("CSAS_BIG_1", "big", &plan.Subgraph{
		Root:   sinkOf(project, "big"),
		Inputs: []plan.Node{source},
	})
}

// sinkOf writes all columns: those of the key in KAFKA, the others in JSON.
func sinkOf(input plan.Node, topic string) *plan.Sink {
	schema := input.Schema()
	sink := &plan.Sink{Input: input, Name: topic, Topic: topic, KeyFormat: kafkaFormat, ValueFormat: jsonFormat}
	for i, c := range schema.Columns {
		switch {
		case i == schema.Key[0]:
			sink.Key = append(sink.Key, fieldOf(c, i))
		case i != schema.WindowStart && i != schema.WindowEnd:
			sink.Value = append(sink.Value, fieldOf(c, i))
		}
	}
	return sink
}

func planOf(id, sink string, subgraphs ...*plan.Subgraph) *plan.Query {
	for i, g := range subgraphs {
		g.ID = i
	}
	return &plan.Query{
		ID: id, Statement: "statement of " + id, Group: "_millrace_test_query_" + id,
		Subgraphs: subgraphs, SinkTopic: sink,
	}
}

// groupQuery is SELECT REGION, COUNT(*), SUM(AMOUNT) FROM ORDERS GROUP BY REGION.
func groupQuery(t testing.TB, window *plan.Window) *plan.Query {
	source := ordersSource("orders")
	const id = "CTAS_TOTALS_2"
	const prefix = "_millrace_test_query_" + id
	split := &plan.RepartitionSink{
		Input: source, Topic: prefix + "-group-repartition", KeyFormat: kafkaFormat,
		Key: []plan.Field{fieldOf(source.Output.Columns[1], 1)},
	}
	grouped := &plan.RepartitionSource{Topic: split.Topic, Output: source.Output}
	grouped.Output.Key = []int{1}
	aggregate := &plan.Aggregate{
		Input: grouped, Groups: []int{1}, Window: window, Store: "group",
		Calls: []plan.AggregateCall{
			{Function: "COUNT", Type: types.Bigint, Name: "COUNT(*)"},
			{Function: "SUM", Arguments: []int{2}, Inputs: []*types.Type{types.Bigint}, Type: types.Bigint, Name: "SUM(AMOUNT)"},
		},
		Output: schemaOf([]int{0}, true, columnOf("REGION", types.String)),
	}
	retention := int64(0)
	if window != nil {
		retention = window.Size + window.Grace
		aggregate.Output.Window = &catalog.KeyWindow{Kind: window.Kind, Size: window.Size}
		aggregate.Output.WindowStart, aggregate.Output.WindowEnd = 1, 2
		aggregate.Output.Columns = append(aggregate.Output.Columns, columnOf("WINDOWSTART", types.Bigint), columnOf("WINDOWEND", types.Bigint))
	}
	aggregate.Output.KeepsBefore = true
	aggregate.Output.Columns = append(aggregate.Output.Columns, columnOf("N", types.Bigint), columnOf("TOTAL", types.Bigint))
	q := planOf(id, "totals",
		&plan.Subgraph{Root: split, Inputs: []plan.Node{source}},
		&plan.Subgraph{
			Root: sinkOf(aggregate, "totals"), Inputs: []plan.Node{grouped},
			Stores: []plan.Store{{Name: "group", Windowed: window != nil, Changelog: prefix + "-group-changelog", Retention: retention}},
		})
	q.Repartitions = []plan.Repartition{{Topic: split.Topic, PartitionsOf: "orders"}}
	return q
}

// joinQuery is SELECT * FROM ORDERS LEFT JOIN CUSTOMERS ON ORDERS.ID = CUSTOMERS.ID.
func joinQuery(t testing.TB) *plan.Query {
	source := ordersSource("orders")
	id, name := columnOf("CID", types.String), columnOf("NAME", types.String)
	table := &plan.Source{
		Name: "CUSTOMERS", Topic: "customers",
		KeyFormat: kafkaFormat, KeyFields: []plan.Field{fieldOf(id, 0)},
		ValueFormat: jsonFormat, ValueFields: []plan.Field{fieldOf(name, 1)},
		Pseudo: plan.NoPseudo, Store: "customers", Output: schemaOf([]int{0}, true, id, name),
	}
	table.Output.KeepsBefore = true
	join := &plan.StreamTableJoin{
		Kind: plan.LeftJoin, Left: source, Right: table, LeftKey: []int{0},
		Output: schemaOf([]int{0}, false, append(append([]plan.Column{}, source.Output.Columns...), table.Output.Columns...)...),
	}
	q := planOf("CSAS_NAMED_3", "named", &plan.Subgraph{
		Root: sinkOf(join, "named"), Inputs: []plan.Node{source, table},
		Stores: []plan.Store{{Name: "customers", Changelog: "_millrace_test_query_CSAS_NAMED_3-customers-changelog"}},
	})
	q.CoPartitioned = [][]string{{"orders", "customers"}}
	return q
}
