package docs

import (
	"slices"
	"strings"
	"testing"

	"millrace/sql/types"
)

// canonical is how a CAST writes each type of the matrix.
var canonical = map[string]string{
	"DECIMAL": "DECIMAL(4, 2)", "ARRAY": "ARRAY<INT>", "MAP": "MAP<STRING, INT>", "STRUCT": "STRUCT<a INT>",
}

// mayFail are the words of the matrix for a CAST that not every value passes.
var mayFail = map[string]bool{"range": true, "cut": true, "round": true, "read": true, "elements": true}

// neverFails are the others, without refusals.
var neverFails = map[string]bool{
	"same": true, "exact": true, "nearest": true, "bound": true, "truth": true, "text": true, "midnight": true, "day": true, "clock": true,
}

// matrix reads the table of casts: what happens, by source and target.
func matrix(t *testing.T, document string) map[[2]string]string {
	t.Helper()
	words := map[[2]string]string{}
	var header []string
	for line := range strings.SplitSeq(document, "\n") {
		list := cells(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			header = nil
		case list[0] == "from":
			header = list
		case header != nil && !strings.HasPrefix(list[0], "-"):
			for i, word := range list[1:] {
				words[[2]string{list[0], header[i+1]}] = word
			}
		}
	}
	for from := types.KindBoolean; from <= types.KindStruct; from++ {
		for to := types.KindBoolean; to <= types.KindStruct; to++ {
			if words[[2]string{from.String(), to.String()}] == "" {
				t.Errorf("the table of casts does not say what CAST from %s to %s does", from, to)
			}
		}
	}
	return words
}

// castExample is an expression of a table of the form CAST(inner AS target).
type castExample struct{ expression, inner, target string }

func castExamples(t *testing.T, document string) []castExample {
	t.Helper()
	var list []castExample
	expressionLines(t, document, func(expression string, _, _ []string) {
		body, ok := strings.CutPrefix(expression, "CAST(")
		at := strings.LastIndex(body, " AS ")
		// The last AS belongs to the outer CAST if what stands before it is complete.
		if !ok || at < 0 || strings.Count(body[:at], "(") != strings.Count(body[:at], ")") {
			return
		}
		list = append(list, castExample{expression, body[:at], kindName(strings.TrimSuffix(body[at+4:], ")"))})
	})
	return list
}

// kindName is the name of a type without its parameters.
func kindName(text string) string {
	end := strings.IndexAny(text, "(<")
	if end >= 0 {
		text = text[:end]
	}
	if text == "INT" {
		return "INTEGER"
	}
	return text
}

// TestCasts holds the table of casts to the product, and asks for an example of
// each of its cells, and where not all values pass, for one that fails.
func TestCasts(t *testing.T) {
	document := readFile(t, documents+"/types.md")
	words := matrix(t, document)
	examples := castExamples(t, document)
	var expressions []string
	for _, e := range examples {
		expressions = append(expressions, e.expression, e.inner)
	}
	slices.Sort(expressions)
	answers := evaluate(t, slices.Compact(expressions))
	passes, fails, source := map[[2]string]bool{}, map[[2]string]bool{}, map[string]string{}
	for _, e := range examples {
		from := kindName(answers[e.inner].Type)
		source[from] = e.inner
		pair := [2]string{from, e.target}
		if len(answers[e.expression].Failures) > 0 {
			fails[pair] = true
		} else {
			passes[pair] = true
		}
	}
	for pair, word := range words {
		switch {
		case word == "-":
		case !mayFail[word] && !neverFails[word]:
			t.Errorf("the table of casts has the word %q", word)
		case !passes[pair]:
			t.Errorf("there is no example of CAST from %s to %s, %s", pair[0], pair[1], word)
		case mayFail[word] && !fails[pair]:
			t.Errorf("there is no example of a CAST from %s to %s that fails, %s", pair[0], pair[1], word)
		case neverFails[word] && fails[pair]:
			t.Errorf("an example of CAST from %s to %s fails, %s", pair[0], pair[1], word)
		}
	}
	checkRefusals(t, words, source)
}

// checkRefusals casts a value of each type to each type.
func checkRefusals(t *testing.T, words map[[2]string]string, source map[string]string) {
	t.Helper()
	expressions := map[string][2]string{}
	var all []string
	for pair := range words {
		target := pair[1]
		if text, ok := canonical[target]; ok {
			target = text
		}
		if source[pair[0]] == "" {
			t.Errorf("there is no example of CAST from %s", pair[0])
			continue
		}
		e := "CAST(" + source[pair[0]] + " AS " + target + ")"
		expressions[e] = pair
		all = append(all, e)
	}
	for e, a := range evaluate(t, all) {
		if refused := a.Refused != nil; refused != (words[expressions[e]] == "-") {
			t.Errorf("%s: %s, but the table of casts says %s", e, a.text(), words[expressions[e]])
		}
	}
}
