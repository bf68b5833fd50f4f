package planner

import (
	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/ast"
	"millrace/sql/types"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

// item is one column of a SELECT list.
type item struct {
	name     string
	expr     expr.Expr
	position types.Position
	aliased  bool
}

// selection is an analysed SELECT: what it reads, bound and typed, before it
// is cut into operators. This is the logical plan of a query.
type selection struct {
	planner   *Planner
	query     *ast.Query
	look      bool // its result is shown and not kept
	statement *tidb.SelectStmt
	block     *ast.Block
	scope     *scope
	join      *joinClause
	where     expr.Expr
	partition []expr.Expr // PARTITION BY
	keyless   bool        // PARTITION BY NULL
	groups    []expr.Expr // GROUP BY
	window    *plan.Window
	final     bool
	calls     []aggregateCall
	tables    []expr.Expr // calls of table functions in SELECT
	having    expr.Expr
	items     []item
	namer     *namer
}

// analyse binds the SELECT of a query that runs on.
func (p *Planner) analyse(query *ast.Query) (*selection, error) { return p.analyseSelect(query, false) }

func (p *Planner) analyseSelect(query *ast.Query, look bool) (*selection, error) {
	statement, ok := query.Node.(*tidb.SelectStmt)
	if !ok {
		return nil, types.Unsupported("UNION, INTERSECT or EXCEPT").At(query.Locate(0))
	}
	s := &selection{planner: p, query: query, look: look, statement: statement, block: query.Blocks[statement], scope: &scope{}}
	if err := s.refuseUnsupported(); err != nil {
		return nil, err
	}
	steps := []func() error{
		s.analyseFrom, s.analyseWindow, s.analyseJoin, s.analyseWhere, s.analyseGroups, s.analysePartition,
		s.analyseItems, s.analyseHaving, s.checkAggregation,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *selection) at() types.Position {
	if s.block != nil {
		return s.block.Position
	}
	return s.query.Locate(0)
}

func (s *selection) refuseUnsupported() error {
	switch {
	case s.statement.With != nil:
		return types.Unsupported("WITH .. AS").At(s.at())
	case s.statement.Distinct:
		return types.Unsupported("SELECT DISTINCT").At(s.at())
	case s.statement.OrderBy != nil:
		return types.Unsupported("ORDER BY").At(s.at())
	case len(s.statement.WindowSpecs) > 0:
		return types.Unsupported("WINDOW .. AS").At(s.at())
	case s.statement.From == nil:
		return types.Errorf(types.CodeStatement, "a continuous query needs FROM").At(s.at())
	}
	return nil
}

// analyseFrom finds the sources.
func (s *selection) analyseFrom() error {
	return s.addRelation(s.statement.From.TableRefs)
}

func (s *selection) addRelation(node tidb.ResultSetNode) error {
	switch n := node.(type) {
	case *tidb.Join:
		if err := s.addRelation(n.Left); err != nil {
			return err
		}
		if n.Right == nil {
			return nil
		}
		return s.addRelation(n.Right)
	case *tidb.TableSource:
		name, ok := n.Source.(*tidb.TableName)
		if !ok {
			return types.Unsupported("a sub-query in FROM").At(s.at())
		}
		return s.addSource(name, n.AsName.O)
	case *tidb.TableName:
		return s.addSource(n, "")
	}
	return types.Unsupported("this form of FROM").At(s.at())
}

func (s *selection) addSource(name *tidb.TableName, alias string) error {
	at := s.query.Tables[name]
	source, err := s.planner.source(name.Name.O, at)
	if err != nil {
		return err
	}
	if alias == "" {
		alias = source.Name
	}
	for _, other := range s.scope.inputs {
		if other.source.Name == source.Name {
			return types.Errorf(types.CodeStatement, "%s stands twice in FROM", source.Name).At(at).
				WithHint("a source cannot be joined with itself; copy it with CREATE STREAM .. AS SELECT first")
		}
		if other.alias == alias {
			return types.Errorf(types.CodeName, "two sources are called %s", alias).At(at)
		}
	}
	windowed := func(t *catalog.Source) bool { return t.Kind == catalog.Table && t.Window != nil }
	joined := len(s.scope.inputs) > 0
	switch {
	case windowed(source) && !s.look:
		return types.Errorf(types.CodeStatement, "%s is a windowed table, which a continuous query cannot read", source.Name).At(at).
			WithHint("read its topic as a windowed stream instead")
	case joined && (windowed(source) || windowed(s.scope.inputs[0].source)):
		return types.Errorf(types.CodeStatement, "a windowed table cannot be joined").At(at).
			WithHint("read its topic as a windowed stream instead")
	}
	s.scope.inputs = append(s.scope.inputs, &input{alias: alias, source: source})
	return nil
}

func (s *selection) binder(where string) *binder {
	return &binder{planner: s.planner, query: s.query, scope: s.scope, where: where}
}

func (s *selection) analyseWhere() error {
	if s.statement.Where == nil {
		return nil
	}
	var err error
	s.where, err = s.condition(s.binder("WHERE"), s.statement.Where)
	return err
}

// condition binds an expression that must be BOOLEAN.
func (s *selection) condition(b *binder, n tidb.ExprNode) (expr.Expr, error) {
	e, err := b.bind(n)
	if err != nil {
		return nil, err
	}
	if e.Type().Kind != types.KindBoolean {
		return nil, types.Errorf(types.CodeType, "%s must be a condition, but the expression is %s", b.where, e.Type()).At(b.at(n))
	}
	return e, nil
}

func (s *selection) analysePartition() error {
	if s.block == nil || len(s.block.PartitionBy) == 0 {
		return nil
	}
	at := s.query.PositionOf(s.block.PartitionBy[0])
	if s.scope.inputs[0].source.Kind == catalog.Table {
		return types.Errorf(types.CodeStatement, "PARTITION BY is for streams; %s is a table", s.scope.inputs[0].source.Name).At(at).
			WithHint("use GROUP BY with aggregates")
	}
	if len(s.groups) > 0 {
		return types.Errorf(types.CodeStatement, "PARTITION BY cannot stand next to GROUP BY").At(at)
	}
	nodes := unwrapRow(s.block.PartitionBy)
	b := s.binder("PARTITION BY")
	for _, n := range nodes {
		e, err := b.bind(n)
		if err != nil {
			return err
		}
		if e.Type().Kind == types.KindNull {
			if len(nodes) > 1 {
				return types.Errorf(types.CodeKey, "NULL cannot be one of several PARTITION BY columns").At(b.at(n))
			}
			s.keyless = true
			return nil
		}
		if err := checkKeyType(e, "PARTITION BY", b.at(n)); err != nil {
			return err
		}
		s.partition = append(s.partition, e)
	}
	return nil
}

// unwrapRow takes GROUP BY (a, b) for GROUP BY a, b.
func unwrapRow(nodes []tidb.ExprNode) []tidb.ExprNode {
	if len(nodes) == 1 {
		if row, ok := nodes[0].(*tidb.RowExpr); ok {
			return row.Values
		}
	}
	return nodes
}

func checkKeyType(e expr.Expr, clause string, at types.Position) error {
	if e.Type().Contains(func(t *types.Type) bool { return t.Kind == types.KindMap }) {
		return types.Errorf(types.CodeKey, "%s %s has the type %s; a MAP cannot be in a key", clause, e, e.Type()).At(at)
	}
	return nil
}

func (s *selection) analyseItems() error {
	s.namer = newNamer(s.scope)
	b := s.binder("SELECT")
	b.aggregate = s.bindAggregate
	b.table = s.bindTable
	for _, field := range s.statement.Fields.Fields {
		at := s.query.Locate(field.Offset)
		if field.WildCard != nil {
			if err := s.expandStar(field.WildCard.Table.O, at); err != nil {
				return err
			}
			continue
		}
		if form, ok := field.Expr.(*ast.Form); ok && form.Kind == ast.AllFieldsForm {
			if err := s.expandStruct(b, form, at); err != nil {
				return err
			}
			continue
		}
		if err := s.addItem(b, field, at); err != nil {
			return err
		}
	}
	return s.checkNames()
}

func (s *selection) addItem(b *binder, field *tidb.SelectField, at types.Position) error {
	e, err := b.bind(field.Expr)
	if err != nil {
		return err
	}
	alias := field.AsName.O
	if e.Type().Kind == types.KindNull {
		return types.Errorf(types.CodeType, "NULL has no type").At(at).WithHint("write CAST(NULL AS type)")
	}
	pseudo := alias == "" && s.isPseudo(e)
	if pseudo && !s.look {
		return types.Errorf(types.CodeName, "%s is a pseudo column and cannot be a column's name", e).At(at).
			WithHint("give it an alias with AS")
	}
	if isReserved(alias) {
		return types.Errorf(types.CodeName, "%s is a pseudo column and cannot be an alias", alias).At(at)
	}
	name := alias
	switch {
	case pseudo:
		name = s.scope.refs[e.(*expr.Column).Index].name
	case name == "":
		name = s.namer.name(e)
	}
	s.items = append(s.items, item{name: name, expr: e, position: at, aliased: alias != ""})
	return nil
}

func (s *selection) isPseudo(e expr.Expr) bool {
	c, ok := e.(*expr.Column)
	if !ok {
		return false
	}
	kind := s.scope.refs[c.Index].kind
	return kind == pseudoRef || kind == windowRef
}

func isReserved(name string) bool {
	for _, r := range reservedColumns {
		if r == name {
			return true
		}
	}
	return false
}

func (s *selection) expandStruct(b *binder, form *ast.Form, at types.Position) error {
	x, err := b.bind(form.Args[0])
	if err != nil {
		return err
	}
	if x.Type().Kind != types.KindStruct {
		return types.Errorf(types.CodeType, "->* needs a STRUCT, but %s is %s", x, x.Type()).At(at)
	}
	for _, field := range x.Type().Fields {
		e, err := expr.NewField(x, field.Name)
		if err != nil {
			return types.At(err, at)
		}
		s.items = append(s.items, item{name: field.Name, expr: e, position: at})
	}
	return nil
}

// expandStar adds the columns of * or alias.*: key columns, where the result is
// shown with their window, then values, then headers; where PARTITION BY changes the key, the old key comes last. Columns
// of a join carry their source's name.
func (s *selection) expandStar(qualifier string, at types.Position) error {
	found := false
	for i, in := range s.scope.inputs {
		if qualifier != "" && in.alias != qualifier {
			continue
		}
		found = true
		var names []string
		var oldKey []string
		for _, c := range in.source.Key {
			if len(s.partition) > 0 || s.keyless {
				oldKey = append(oldKey, c.Name)
				continue
			}
			names = append(names, c.Name)
		}
		if s.look && in.source.Window != nil {
			names = append(names, "WINDOWSTART", "WINDOWEND")
		}
		for _, c := range in.source.Value {
			names = append(names, c.Name)
		}
		for _, c := range in.source.Headers {
			names = append(names, c.Name)
		}
		for _, name := range append(names, oldKey...) {
			s.addStarColumn(i, name, at)
		}
	}
	if !found {
		_, err := s.scope.resolve(qualifier, "*")
		return types.At(err, at)
	}
	if qualifier == "" {
		s.addPartitionKeys(at)
	}
	return nil
}

func (s *selection) addStarColumn(index int, name string, at types.Position) {
	r, _ := s.scope.column(index, name)
	in := s.scope.inputs[index]
	text, out := name, name
	if s.scope.join() {
		text, out = in.alias+"."+name, in.alias+"_"+name
	}
	e := expr.NewColumn(s.scope.add(r), text, r.t)
	s.items = append(s.items, item{name: out, expr: e, position: at})
}

// addPartitionKeys puts PARTITION BY expressions that * does not hold into it.
func (s *selection) addPartitionKeys(at types.Position) {
	for _, e := range s.partition {
		c, plain := e.(*expr.Column)
		switch {
		case !plain:
			s.items = append(s.items, item{name: s.namer.name(e), expr: e, position: at})
		case s.isPseudo(e):
			s.items = append(s.items, item{name: s.scope.refs[c.Index].name, expr: e, position: at})
		}
	}
}

func (s *selection) checkNames() error {
	seen := map[string]bool{}
	for _, it := range s.items {
		if seen[it.name] {
			return types.Errorf(types.CodeName, "two columns of the result are called %s", it.name).At(it.position).
				WithHint("give one of them another name with AS")
		}
		seen[it.name] = true
	}
	return nil
}
