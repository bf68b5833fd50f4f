package op

import (
	"strings"
	"testing"

	"millrace/planner/plan"

	"github.com/cockroachdb/datadriven"
)

// TestGolden runs the files of testdata/golden; -rewrite writes what comes out.
//
//	plan name=(the name of a plan) [hold-back]
//	push [input=1]       one row a line, one batch; prints what is put out and noted
//	flush | commit       commit also commits the stores
//	rollback             takes the transaction back
//	restart              builds the operators anew over the stores
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		var h *harness
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "plan" {
				var words []string
				for _, argument := range d.CmdArgs {
					words = append(words, argument.Key)
				}
				name := strings.Join(words, " ")
				name, holdBack := strings.CutSuffix(name, " hold-back")
				h = newHarness(t, planNamed(t, name), holdBack)
				return explain(h.subgraph.Root.Inputs()[0], "")
			}
			return h.command(t, d)
		})
	})
}

func explain(n plan.Node, indent string) string {
	text := indent + n.Describe() + "\n"
	for _, input := range n.Inputs() {
		text += explain(input, indent+"  ")
	}
	return text
}

// command runs one directive and returns what it put out.
func (h *harness) command(t *testing.T, d *datadriven.TestData) string {
	from := len(h.sink.lines)
	h.notes = nil
	var err error
	switch d.Cmd {
	case "push":
		input := 0
		d.MaybeScanArgs(t, "input", &input)
		var records []record
		for line := range strings.Lines(d.Input) {
			r, parseErr := parseRecord(h.subgraph.Inputs[input].Schema(), strings.TrimSpace(line))
			if parseErr != nil {
				d.Fatalf(t, "%v", parseErr)
			}
			records = append(records, r)
		}
		err = h.push(input, records)
	case "flush":
		err = h.flush()
	case "commit":
		err = h.commit()
	case "rollback":
		h.rollback()
		from = len(h.sink.lines)
	case "restart":
		h.restart(t)
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	lines := append([]string{}, h.sink.lines[from:]...)
	lines = append(lines, h.notes...)
	if err != nil {
		lines = append(lines, "error: "+err.Error())
	}
	if len(lines) == 0 {
		return "(nothing)\n"
	}
	return strings.Join(lines, "\n") + "\n"
}
