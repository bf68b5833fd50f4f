package parser

import (
	"strings"
	"testing"

	"millrace/sql/ast"
	"millrace/sql/token"
	"millrace/sql/types"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

const positionScript = `-- é first
SHOW STREAMS;
CREATE TABLE out WITH (kafka_topic = 'ö', partitions = 4) AS
  SELECT 'é' AS accent, u -> addr -> zip AS zip, -5, COUNT(*), SUM(fare * 1.5) total,
    CASE WHEN city LIKE 'é%' THEN CAST(fare AS DOUBLE) ELSE tags[1] END
  FROM rides r /* é */ LEFT JOIN (SELECT driver FROM drivers WHERE level > 3) d
    WITHIN 1 HOUR ON r.driver = d.driver
  WINDOW TUMBLING (SIZE 1 HOUR)
  WHERE city || 'x' IN ('a', 'b') AND NOT x IS NULL AND TRANSFORM(a, e => e + 1) IS DISTINCT FROM ARRAY[7]
  GROUP BY city, (zip)
  HAVING COUNT(*) > 10;
`

// nodeText is what the user's text must have at a node's place, or "" for a node
// whose place says less.
func nodeText(node tidb.Node) string {
	switch n := node.(type) {
	case *tidb.ColumnNameExpr:
		if n.Name.Table.O != "" {
			return n.Name.Table.O
		}
		return n.Name.Name.O
	case *ast.Literal:
		return n.String()
	case *tidb.FuncCallExpr:
		return n.FnName.O
	case *tidb.CaseExpr:
		return "CASE"
	case *ast.Form:
		return map[ast.FormKind]string{
			ast.CastForm: "CAST", ast.FieldForm: "U", ast.SubscriptForm: "TAGS", ast.StarForm: "*", ast.ArrayForm: "ARRAY",
			ast.LambdaForm: "E", ast.ConcatForm: "CITY", ast.IsDistinctForm: "TRANSFORM",
		}[n.Kind]
	}
	return ""
}

type positionChecker struct {
	t       *testing.T
	query   *ast.Query
	checked int
}

func (c *positionChecker) Enter(node tidb.Node) (tidb.Node, bool) {
	expression, ok := node.(tidb.ExprNode)
	if want := nodeText(node); ok && want != "" {
		c.check(want, c.query.PositionOf(expression))
	}
	return node, false
}

func (c *positionChecker) Leave(node tidb.Node) (tidb.Node, bool) { return node, true }

// check compares the text at a position, which it finds by line and column.
func (c *positionChecker) check(want string, p types.Position) {
	c.t.Helper()
	c.checked++
	lines := strings.SplitAfter(positionScript, "\n")
	line := []rune(lines[p.Line-1])
	got := string(line[p.Column-1:])
	if !strings.HasPrefix(strings.ToUpper(got), strings.ToUpper(want)) {
		c.t.Errorf("at %d:%d: %q, want %q", p.Line, p.Column, strings.TrimSpace(got), want)
	}
	if !strings.HasPrefix(positionScript[p.Offset:], strings.TrimSuffix(got, "\n")) {
		c.t.Errorf("offset %d is not at %d:%d", p.Offset, p.Line, p.Column)
	}
}

func TestPositions(t *testing.T) {
	statements, err := New().parseScript(positionScript, nil)
	if err != nil {
		t.Fatal(err)
	}
	create := statements[1].(*ast.CreateSource)
	c := &positionChecker{t: t, query: create.Query}
	c.check("out", create.Position)
	c.check("kafka_topic", create.Properties[0].Position)
	c.check("'ö'", create.Properties[0].ValuePosition)
	c.check("partitions", create.Properties[1].Position)
	create.Query.Node.Accept(c)
	if c.checked < 40 {
		t.Errorf("only %d places checked", c.checked)
	}
	for table, position := range create.Query.Tables {
		c.check(table.Name.O, position)
	}
	for _, join := range create.Query.Joins {
		c.check("LEFT JOIN", join.Position)
		c.check("1 HOUR", join.Before.Position)
	}
	for _, block := range create.Query.Blocks {
		c.check("SELECT", block.Position)
		if block.Window != nil {
			c.check("TUMBLING", block.Window.Position)
		}
	}
	fields := create.Query.Node.(*tidb.SelectStmt).Fields.Fields
	for i, want := range []string{"'é'", "u ->", "-5", "COUNT", "SUM", "CASE"} {
		c.check(want, create.Query.Locate(fields[i].Offset))
	}
	if !strings.HasPrefix(create.Query.Text, "SELECT 'é'") || !strings.HasSuffix(create.Query.Text, "> 10") {
		t.Errorf("query text: %s", create.Query.Text)
	}
}

func TestPiecesGiveTheStatementAsWritten(t *testing.T) {
	pieces, terminated, err := token.Split(positionScript)
	if err != nil || !terminated || len(pieces) != 2 {
		t.Fatal(len(pieces), terminated, err)
	}
	if got := pieces[1].Text; !strings.HasPrefix(got, "CREATE TABLE") || !strings.Contains(got, "/* é */") {
		t.Error(got)
	}
	if p := pieces[1].Position; p.Line != 3 || p.Column != 1 {
		t.Error(p)
	}
}
