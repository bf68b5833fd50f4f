package parser

import (
	"errors"
	"strings"
	"testing"

	"millrace/sql/types"
)

func TestDeepNestingIsRefused(t *testing.T) {
	const n = 100000
	repeat := strings.Repeat
	for name, text := range map[string]string{
		"brackets":    "SELECT " + repeat("(", n) + "1" + repeat(")", n) + " FROM s",
		"open only":   "SELECT " + repeat("(", n),
		"fields":      "SELECT a" + repeat("->b", n) + " FROM s",
		"subscripts":  "SELECT a" + repeat("[1]", n) + " FROM s",
		"inner index": "SELECT " + repeat("a[", n) + " FROM s",
		"not":         "SELECT " + repeat("NOT ", n) + "a FROM s",
		"signs":       "SELECT " + repeat("- ", n) + "a FROM s",
		"case":        "SELECT " + repeat("CASE WHEN ", n) + "a FROM s",
		"case value":  "SELECT " + repeat("CASE ", n) + "a FROM s",
		"in":          "SELECT " + repeat("a IN (", n) + "a FROM s",
		"sub-queries": "SELECT a FROM " + repeat("(SELECT a FROM ", n/2) + " s",
		"query":       repeat("(", n) + "SELECT a FROM s",
		"types":       "SELECT CAST(a AS " + repeat("ARRAY<", n) + " s",
		"calls":       "SELECT " + repeat("f(", n) + "a",
		"lambdas":     "SELECT f(" + repeat("x => f(", n),
		"struct":      "CREATE TYPE a AS " + repeat("STRUCT<a ", n/2),
	} {
		_, err := New().parseScript(text, nil)
		if err == nil || !strings.Contains(err.Error(), "nested too deeply") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNestingBelowTheLimit(t *testing.T) {
	const n = 150
	repeat := strings.Repeat
	for _, text := range []string{
		"SELECT " + repeat("(", n) + "1" + repeat(")", n) + " FROM s",
		"SELECT a" + repeat("->b", n) + " FROM s",
		"SELECT " + repeat("f(", n) + "a" + repeat(")", n) + " FROM s",
		"SELECT " + repeat("CASE WHEN a THEN ", n) + "a" + repeat(" END", n) + " FROM s",
		"SELECT CAST(a AS " + repeat("ARRAY<", n) + "INT" + repeat(">", n) + ") FROM s",
	} {
		if _, err := New().parseScript(text, nil); err != nil {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

func TestLongFlatChains(t *testing.T) {
	const n = 100000
	for _, text := range []string{
		"SELECT a" + strings.Repeat(" + a", maxChain-1) + " FROM s",
		"SELECT a" + strings.Repeat(" || a", maxChain-1) + " FROM s",
		"SELECT a FROM s WHERE a" + strings.Repeat(" AND a", maxChain-1),
		"SELECT a" + strings.Repeat(", a", n) + " FROM s",
		"SELECT a IN (1" + strings.Repeat(", 1", n) + ") FROM s",
		"INSERT INTO s VALUES (1)" + strings.Repeat(", (1)", n),
		"SELECT a FROM s" + strings.Repeat(" UNION ALL SELECT a FROM s", n/10),
		"SELECT a FROM s GROUP BY a" + strings.Repeat(", a", n),
		"SELECT 'é'" + strings.Repeat(",'é'", n) + " FROM s" + strings.Repeat(" JOIN t ON a", n/50),
	} {
		if _, err := New().parseScript(text, nil); err != nil {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

func TestOperatorChainsAreLimited(t *testing.T) {
	for _, text := range []string{
		"SELECT a" + strings.Repeat(" + a", maxChain) + " FROM s",
		"SELECT a FROM s WHERE a" + strings.Repeat(" OR a", 10*maxChain),
	} {
		_, err := New().parseScript(text, nil)
		fault, ok := errors.AsType[*types.Error](err)
		if !ok || fault.Message != "more than 10000 operators in a row" || fault.Position.Line != 1 {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

func TestStatementLengthIsLimited(t *testing.T) {
	long := "SELECT '" + strings.Repeat("x", maxStatementLength) + "' FROM s"
	statements, err := New().parseScript("SHOW STREAMS;\n"+long, nil)
	fault, ok := errors.AsType[*types.Error](err)
	if !ok || len(statements) != 1 || !strings.Contains(fault.Message, "bytes long, the limit is 1048576") {
		t.Fatal(len(statements), err)
	}
	if fault.Position.Line != 2 || fault.Position.Column != 1 {
		t.Error(fault.Position)
	}
	short := "SELECT '" + strings.Repeat("x", maxStatementLength-16) + "' FROM s"
	script := strings.Repeat(short+";", 3)
	if statements, err := New().parseScript(script, nil); err != nil || len(statements) != 3 {
		t.Error(len(statements), err)
	}
}

// TestOddNames sends names through TiDB that its lexer has rules for.
func TestOddNames(t *testing.T) {
	for _, name := range []string{
		"a\x00b", "\x00", "a\nb", "né", "🙂", "a b ", " ", "0", "`", "'", "\\", "a\\", "--", "/*", "*/", "#", "@@x", "select",
		"?", ":x", "\u2028", "\ufeff", strings.Repeat("n", 5000), ".", "a.b", "$x", "%", "\x1a", "\r",
	} {
		quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
		text := "SELECT " + quoted + "." + quoted + " AS " + quoted + ", u->" + quoted + " FROM " + quoted + " " + quoted
		statements, err := New().parseScript(text, nil)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		got := printStatement(statements[0])
		want := "QueryStatement Query=\n  select " + name + "." + name + ":" + name + " (-> '" + name + "' U) from " + name + ":" +
			name
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestOddStrings(t *testing.T) {
	for _, value := range []string{
		"a\x00b", "\x00", "\n", "\\", "\\'", "é", "🙂", "0", "-1", "99", strings.Repeat("x", 70000), "%", "\"", "`", "--", "/*!", "\x1a",
	} {
		literal := "'" + strings.ReplaceAll(value, "'", "''") + "'"
		statements, err := New().parseScript("SELECT "+literal+", m["+literal+"] FROM s WHERE a LIKE "+literal, nil)
		if err != nil {
			t.Errorf("%q: %v", value, err)
			continue
		}
		want := "QueryStatement Query=\n  select " + literal + " ([] M " + literal + ") from S where (like A " + literal + ")"
		if got := printStatement(statements[0]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
