package op

import (
	"strconv"
	"strings"

	"millrace/exec/expr"
	"millrace/exec/fn"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

var kinds = map[string]*types.Type{
	"BOOLEAN": types.Boolean, "INTEGER": types.Integer, "BIGINT": types.Bigint, "DOUBLE": types.Double,
	"STRING": types.String, "DECIMAL": types.DecimalOf(5, 2), "TIMESTAMP": types.Timestamp,
}

// schemaOf reads `name TYPE key, name TYPE, ..`.
func schemaOf(text string) plan.Schema {
	s := plan.Schema{WindowStart: -1, WindowEnd: -1}
	for i, part := range strings.Split(text, ", ") {
		words := strings.Fields(part)
		s.Columns = append(s.Columns, plan.Column{Name: words[0], Type: kinds[words[1]]})
		if len(words) > 2 {
			s.Key = append(s.Key, i)
		}
	}
	return s
}

func stream(columns string) *plan.Source {
	return &plan.Source{Name: "S", Topic: "s", Output: schemaOf(columns)}
}

// table is a table that is kept in a store and hands on the rows before changes.
func table(columns string) *plan.Source {
	s := &plan.Source{Name: "T", Topic: "t", Store: "T", Output: schemaOf(columns)}
	s.Output.Changes, s.Output.KeepsBefore = true, true
	return s
}

func columnOf(n plan.Node, name string) int {
	for i, c := range n.Schema().Columns {
		if c.Name == name {
			return i
		}
	}
	panic("no column " + name)
}

func columnExpr(n plan.Node, name string) expr.Expr {
	i := columnOf(n, name)
	return expr.NewColumn(i, name, n.Schema().Columns[i].Type)
}

func number(n int64) expr.Expr { return expr.NewLiteral(n, types.Integer) }

func must(e expr.Expr, err error) expr.Expr {
	if err != nil {
		panic(err)
	}
	return e
}

// filterOf keeps rows in which a column is greater than a number.
func filterOf(input plan.Node, name string, least int64) *plan.Filter {
	return &plan.Filter{Input: input, Condition: must(expr.NewCompare(">", columnExpr(input, name), number(least)))}
}

// projectOf computes the key columns under their names and some more.
func projectOf(input plan.Node, columns ...plan.NamedExpr) *plan.Project {
	schema := input.Schema()
	p := &plan.Project{Input: input, Output: schema}
	p.Output.Columns, p.Output.Key = nil, nil
	var all []plan.NamedExpr
	for _, c := range schema.Key {
		p.Output.Key = append(p.Output.Key, len(all))
		all = append(all, plan.NamedExpr{Name: schema.Columns[c].Name, Expr: columnExpr(input, schema.Columns[c].Name)})
	}
	p.Columns = append(all, columns...)
	for _, c := range p.Columns {
		p.Output.Columns = append(p.Output.Columns, plan.Column{Name: c.Name, Type: c.Expr.Type()})
	}
	return p
}

// withCondition adds the columns G and A, and P, which is A > 2.
func withCondition(input plan.Node) *plan.Project {
	return projectOf(input,
		plan.NamedExpr{Name: "G", Expr: columnExpr(input, "G")},
		plan.NamedExpr{Name: "A", Expr: columnExpr(input, "A")},
		plan.NamedExpr{Name: "P", Expr: must(expr.NewCompare(">", columnExpr(input, "A"), number(2)))})
}

func tumbling(size, grace int64) *plan.Window {
	return &plan.Window{Kind: catalog.Tumbling, Size: size, Advance: size, Grace: grace}
}

func hopping(size, advance, grace int64) *plan.Window {
	return &plan.Window{Kind: catalog.Hopping, Size: size, Advance: advance, Grace: grace}
}

func sliding(size, grace int64) *plan.Window {
	return &plan.Window{Kind: catalog.Sliding, Size: size, Grace: grace}
}

func sessions(gap, grace int64) *plan.Window {
	return &plan.Window{Kind: catalog.Session, Gap: gap, Grace: grace}
}

// aggregateOf groups by columns; calls read `COUNT`, `SUM A`, `TOPK A 2`, `SUM A
// DISTINCT`, `SUM A IF P`.
func aggregateOf(input plan.Node, groups string, window *plan.Window, calls ...string) *plan.Aggregate {
	a := &plan.Aggregate{Input: input, Window: window, Store: "AGG"}
	a.Output = plan.Schema{Changes: true, KeepsBefore: true, WindowStart: -1, WindowEnd: -1}
	add := func(name string, t *types.Type) int {
		a.Output.Columns = append(a.Output.Columns, plan.Column{Name: name, Type: t})
		return len(a.Output.Columns) - 1
	}
	for _, name := range strings.Split(groups, ", ") {
		c := columnOf(input, name)
		a.Groups = append(a.Groups, c)
		a.Output.Key = append(a.Output.Key, add(name, input.Schema().Columns[c].Type))
	}
	if window != nil {
		a.Output.Window = &catalog.KeyWindow{Kind: window.Kind, Size: window.Size}
		a.Output.WindowStart, a.Output.WindowEnd = add("WINDOWSTART", types.Bigint), add("WINDOWEND", types.Bigint)
	}
	for _, text := range calls {
		words := strings.Fields(text)
		call := plan.AggregateCall{Function: words[0], Name: strings.Join(words, " ")}
		for k, name := range words[1:] {
			if name == "DISTINCT" {
				call.Distinct = true
				continue
			}
			if name == "IF" {
				call.Filtered, call.Filter = true, columnOf(input, words[k+2])
				break
			}
			if n, err := strconv.ParseInt(name, 10, 64); err == nil {
				call.Constants = append(call.Constants, number(n))
				continue
			}
			c := columnOf(input, name)
			call.Arguments = append(call.Arguments, c)
			call.Inputs = append(call.Inputs, input.Schema().Columns[c].Type)
		}
		s, err := resolveCall(&call, fn.StreamUse)
		if err != nil {
			panic(err)
		}
		call.Type = s.Result
		a.Calls = append(a.Calls, call)
		add(call.Name, s.Result)
	}
	return a
}

func final(a *plan.Aggregate) *plan.Aggregate {
	a.Final = true
	return a
}

func joinOf(kind plan.JoinKind, left plan.Node, key string, right *plan.Source) *plan.StreamTableJoin {
	j := &plan.StreamTableJoin{Kind: kind, Left: left, Right: right, LeftKey: []int{columnOf(left, key)}}
	j.Output = left.Schema()
	j.Output.Columns = nil
	for _, side := range []plan.Node{left, right} {
		j.Output.Columns = append(j.Output.Columns, side.Schema().Columns...)
	}
	return j
}

// subgraphOf puts a sink on a tree of nodes and lists its inputs and stores.
func subgraphOf(root plan.Node) *plan.Subgraph {
	g := &plan.Subgraph{Root: &plan.Sink{Input: root, Name: "OUTPUT", Topic: "output"}}
	var walk func(plan.Node)
	walk = func(n plan.Node) {
		for _, input := range n.Inputs() {
			walk(input)
		}
		switch n := n.(type) {
		case *plan.Source:
			g.Inputs = append(g.Inputs, n)
			if n.Store != "" {
				g.Stores = append(g.Stores, plan.Store{Name: n.Store})
			}
		case *plan.Aggregate:
			g.Stores = append(g.Stores, plan.Store{Name: n.Store, Windowed: n.Window != nil})
		}
	}
	walk(g.Root)
	return g
}

const (
	streamColumns = "K INTEGER key, G STRING, A INTEGER"
	tableColumns  = "K INTEGER key, G STRING, A INTEGER"
)

// plans are the subgraphs that the text files run.
var plans = map[string]func() *plan.Subgraph{
	"stream filter": func() *plan.Subgraph { return subgraphOf(filterOf(stream(streamColumns), "A", 2)) },
	"table filter":  func() *plan.Subgraph { return subgraphOf(filterOf(table(tableColumns), "A", 2)) },
	"stream projection": func() *plan.Subgraph {
		s := stream(streamColumns)
		return subgraphOf(projectOf(s,
			plan.NamedExpr{Name: "TWICE", Expr: must(expr.NewArithmetic("*", columnExpr(s, "A"), number(2)))},
			plan.NamedExpr{Name: "G", Expr: columnExpr(s, "G")},
			plan.NamedExpr{Name: "ONE", Expr: number(1)},
			plan.NamedExpr{Name: "INVERSE", Expr: must(expr.NewArithmetic("/", number(100), columnExpr(s, "A")))}))
	},
	"table projection": func() *plan.Subgraph {
		t := table(tableColumns)
		return subgraphOf(projectOf(t,
			plan.NamedExpr{Name: "INVERSE", Expr: must(expr.NewArithmetic("/", number(100), columnExpr(t, "A")))}))
	},
	"table": func() *plan.Subgraph { return subgraphOf(table(tableColumns)) },
	"count": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "G", nil, "COUNT", "COUNT A", "SUM A", "MIN A", "MAX A"))
	},
	"texts": func() *plan.Subgraph {
		s := stream("K INTEGER key, G STRING, A STRING, B STRING")
		return subgraphOf(aggregateOf(s, "K", nil, "MIN A", "COUNT", "MAX B", "MAX A"))
	},
	"sum": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "K", nil, "SUM A", "COUNT"))
	},
	"decimal sum": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream("K INTEGER key, A DECIMAL"), "K", nil, "SUM A"))
	},
	"double groups": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream("K INTEGER key, G DOUBLE"), "G", nil, "COUNT"))
	},
	"two groups": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "G, K", nil, "SUM A"))
	},
	"tumbling": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "K", tumbling(10, 5), "COUNT", "SUM A"))
	},
	"tumbling texts": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "K", tumbling(10, 5), "MAX G", "SUM A"))
	},
	"hopping": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "K", hopping(10, 4, 3), "COUNT", "MAX A"))
	},
	"final tumbling": func() *plan.Subgraph {
		return subgraphOf(final(aggregateOf(stream(streamColumns), "K", tumbling(10, 5), "COUNT", "SUM A")))
	},
	"final hopping": func() *plan.Subgraph {
		return subgraphOf(final(aggregateOf(stream(streamColumns), "K", hopping(10, 4, 3), "COUNT", "MAX A")))
	},
	"sliding": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "K", sliding(10, 5), "COUNT", "SUM A", "MAX G"))
	},
	"sliding numbers": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "K", sliding(8, 0), "COUNT", "SUM A"))
	},
	"sliding lists": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(withCondition(stream(streamColumns)), "K", sliding(12, 20),
			"COLLECT_LIST A", "MAX A", "LATEST_BY_OFFSET G", "COLLECT_LIST A IF P"))
	},
	"sliding having": func() *plan.Subgraph {
		return subgraphOf(filterOf(aggregateOf(stream(streamColumns), "K", sliding(10, 5), "SUM A"), "SUM A", 2))
	},
	"final sliding": func() *plan.Subgraph {
		return subgraphOf(final(aggregateOf(stream(streamColumns), "K", sliding(10, 3), "COUNT", "SUM A", "MAX G")))
	},
	"final having": func() *plan.Subgraph {
		return subgraphOf(filterOf(final(aggregateOf(stream(streamColumns), "K", tumbling(10, 0), "SUM A")), "SUM A", 2))
	},
	"having": func() *plan.Subgraph {
		return subgraphOf(filterOf(aggregateOf(stream(streamColumns), "K", nil, "SUM A"), "SUM A", 2))
	},
	"windowed having projection": func() *plan.Subgraph {
		a := aggregateOf(stream(streamColumns), "K", tumbling(10, 5), "SUM A")
		p := projectOf(filterOf(a, "SUM A", 2),
			plan.NamedExpr{Name: "WINDOWSTART", Expr: columnExpr(a, "WINDOWSTART")},
			plan.NamedExpr{Name: "WINDOWEND", Expr: columnExpr(a, "WINDOWEND")},
			plan.NamedExpr{Name: "TWICE", Expr: must(expr.NewArithmetic("*", columnExpr(a, "SUM A"), number(2)))})
		p.Output.WindowStart, p.Output.WindowEnd = 1, 2
		return subgraphOf(p)
	},
	"table aggregation": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(table(tableColumns), "G", nil, "COUNT", "SUM A", "AVG A"))
	},
	"lists": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "K", nil,
			"COLLECT_LIST A", "MIN A", "TOPK A G 2", "HISTOGRAM G", "LATEST_BY_OFFSET G", "CORRELATION A K", "COUNT_DISTINCT G"))
	},
	"table lists": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(table(tableColumns), "G", nil,
			"COLLECT_SET A", "MIN A", "MAX A", "TOPK A K 2", "LATEST_BY_OFFSET A", "EARLIEST_BY_OFFSET A 2", "COUNT_DISTINCT A", "ATTR A"))
	},
	"regrouped table aggregation": func() *plan.Subgraph {
		t := table(tableColumns)
		p := &plan.Project{Input: t, Output: schemaOf("G STRING key, A INTEGER")}
		p.Output.Changes, p.Output.KeepsBefore = true, true
		for _, name := range []string{"G", "A"} {
			p.Columns = append(p.Columns, plan.NamedExpr{Name: name, Expr: columnExpr(t, name)})
		}
		return subgraphOf(aggregateOf(p, "G", nil, "COUNT", "SUM A"))
	},
	"filtered table aggregation": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(filterOf(table(tableColumns), "A", 2), "G", nil, "COUNT", "SUM A"))
	},
	"filtered calls": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(withCondition(stream(streamColumns)), "K", nil,
			"COUNT", "COUNT IF P", "SUM A IF P", "MAX G IF P", "SUM A DISTINCT IF P"))
	},
	"filtered hopping calls": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(withCondition(stream(streamColumns)), "K", hopping(10, 4, 3), "COUNT IF P", "MAX G IF P"))
	},
	"final filtered calls": func() *plan.Subgraph {
		return subgraphOf(final(aggregateOf(withCondition(stream(streamColumns)), "K", tumbling(10, 5), "COUNT IF P", "SUM A DISTINCT")))
	},
	"filtered calls of a table": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(withCondition(table(tableColumns)), "G", nil,
			"COUNT", "COUNT IF P", "MAX A IF P", "SUM A DISTINCT", "AVG A DISTINCT IF P"))
	},
	"session": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "K", sessions(5, 3), "COUNT", "SUM A"))
	},
	"session lists": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(withCondition(stream(streamColumns)), "K", sessions(5, 20),
			"COLLECT_LIST A", "MIN A", "LATEST_BY_OFFSET G", "EARLIEST_BY_OFFSET A", "TOPK A G 2", "COUNT_DISTINCT G", "SUM A DISTINCT IF P"))
	},
	// Windows of the store hold 2 slots of 2 ms, and 69 of them.
	"session index": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "K", sessions(1, 1500), "COUNT", "MAX G"))
	},
	"session deep index": func() *plan.Subgraph {
		return subgraphOf(aggregateOf(stream(streamColumns), "K", sessions(1, 70_000), "COUNT", "SUM A"))
	},
	"session having": func() *plan.Subgraph {
		return subgraphOf(filterOf(aggregateOf(stream(streamColumns), "K", sessions(5, 3), "SUM A"), "SUM A", 2))
	},
	"final session": func() *plan.Subgraph {
		return subgraphOf(final(aggregateOf(stream(streamColumns), "K", sessions(5, 3), "COUNT", "MAX G")))
	},
	"final session index": func() *plan.Subgraph {
		return subgraphOf(final(aggregateOf(stream(streamColumns), "K", sessions(1, 1500), "COUNT", "SUM A")))
	},
	"final session having": func() *plan.Subgraph {
		return subgraphOf(filterOf(final(aggregateOf(stream(streamColumns), "K", sessions(5, 0), "SUM A")), "SUM A", 2))
	},
	"inner join": func() *plan.Subgraph {
		return subgraphOf(joinOf(plan.InnerJoin, stream("K INTEGER key, F INTEGER, A INTEGER"), "F", table(tableColumns)))
	},
	"left join": func() *plan.Subgraph {
		return subgraphOf(joinOf(plan.LeftJoin, stream("K INTEGER key, F INTEGER, A INTEGER"), "F", table(tableColumns)))
	},
}

func planNamed(t reporter, name string) *plan.Subgraph {
	t.Helper()
	build, ok := plans[name]
	if !ok {
		t.Fatalf("no plan %q", name)
	}
	return build()
}
