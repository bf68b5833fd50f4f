package parser

import (
	"strings"

	"millrace/sql/ast"
	"millrace/sql/token"
)

// window reads a WINDOW clause. The name that may stand before the kind has no
// meaning and is dropped.
func (r *recogniser) window() *ast.Window {
	r.expect("WINDOW")
	if isName(r.current()) && !r.peek(1).Is("(") {
		r.next()
	}
	w := &ast.Window{Position: r.position()}
	w.Kind = ast.WindowKind(r.expectAny("TUMBLING", "HOPPING", "SESSION", "SLIDING"))
	open := r.current().Offset
	r.expect("(")
	if w.Kind == ast.Session {
		w.Gap = r.duration()
	} else {
		r.expect("SIZE")
		w.Size = r.duration()
	}
	if w.Kind == ast.Hopping {
		r.expect(",", "ADVANCE", "BY")
		w.Advance = r.duration()
	}
	for r.accept(",") {
		r.windowOption(w)
	}
	if !r.accept(")") {
		r.unclosed("'('", open)
	}
	return w
}

func (r *recogniser) windowOption(w *ast.Window) {
	switch {
	case w.Grace == nil && r.accept("GRACE"):
		r.expect("PERIOD")
		w.Grace = r.duration()
	case w.Retention == nil && r.accept("RETENTION"):
		w.Retention = r.duration()
	default:
		r.unexpected()
	}
}

func (r *recogniser) duration() *ast.Duration {
	d := &ast.Duration{Position: r.position()}
	d.Number = r.wholeNumber()
	d.Unit = r.timeUnit()
	return d
}

// timeUnit reads a unit and returns it in the singular.
func (r *recogniser) timeUnit() string {
	t := r.current()
	if t.Kind != token.Word || !timeUnits[t.Value] {
		r.unexpected("a time unit")
		return ""
	}
	return strings.TrimSuffix(r.next().Value, "S")
}
