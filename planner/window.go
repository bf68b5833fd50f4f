package planner

import (
	"math"
	"strconv"

	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// unitMillis are the durations of the units of window clauses.
var unitMillis = map[string]int64{
	"MILLISECOND": 1, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 7 * 86_400_000,
}

// maxOverlap is the most windows that a row may belong to: a week by the minute.
// Each row changes a group in each of its windows.
const maxOverlap = 7 * 24 * 60

// defaultGrace is how long a window without GRACE PERIOD takes late rows, in
// all with its size, or its gap.
const defaultGrace = 24 * 3_600_000

// Milliseconds is a duration as written; 0 for nil.
func Milliseconds(d *ast.Duration) (int64, error) {
	if d == nil {
		return 0, nil
	}
	return millis(d)
}

// millis is a duration in milliseconds.
func millis(d *ast.Duration) (int64, error) {
	size, ok := unitMillis[d.Unit]
	if !ok {
		return 0, types.Errorf(types.CodeValue, "a window cannot be measured in %sS, which differ in length", d.Unit).At(d.Position).
			WithHint("use DAYS or less")
	}
	n, err := strconv.ParseInt(d.Number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/size/4 {
		return 0, types.Errorf(types.CodeValue, "%s %s is no duration that a window can have", d.Number, d.Unit).At(d.Position)
	}
	return n * size, nil
}

func (s *selection) analyseWindow() error {
	s.final = s.query.Emit == ast.EmitFinal
	if s.block == nil || s.block.Window == nil {
		if s.final {
			return types.Errorf(types.CodeStatement, "EMIT FINAL needs a window").At(s.at()).
				WithHint("add WINDOW TUMBLING (SIZE ..), or use EMIT CHANGES")
		}
		return nil
	}
	w := s.block.Window
	if s.statement.GroupBy == nil {
		return types.Errorf(types.CodeStatement, "WINDOW needs GROUP BY").At(w.Position)
	}
	if s.scope.inputs[0].source.Kind == catalog.Table {
		return types.Errorf(types.CodeStatement, "WINDOW is for streams; %s is a table", s.scope.inputs[0].source.Name).At(w.Position)
	}
	s.scope.windowed = true
	window := &plan.Window{Kind: catalog.WindowKind(w.Kind)}
	var err error
	if w.Kind == ast.Session {
		window.Gap, err = positive(w.Gap, "the gap of a SESSION window")
	} else {
		window.Size, err = positive(w.Size, "a window's SIZE")
	}
	if err == nil && (w.Kind == ast.Tumbling || w.Kind == ast.Hopping) {
		err = windowAdvance(window, w)
	}
	if err == nil {
		err = windowGrace(window, w, s.final)
	}
	if err != nil {
		return err
	}
	s.window = window
	return nil
}

// positive is a duration that must not be 0.
func positive(d *ast.Duration, what string) (int64, error) {
	n, err := millis(d)
	if err == nil && n == 0 {
		err = types.Errorf(types.CodeValue, "%s must not be 0", what).At(d.Position)
	}
	return n, err
}

func windowAdvance(window *plan.Window, w *ast.Window) error {
	window.Advance = window.Size
	if w.Advance == nil {
		return nil
	}
	var err error
	if window.Advance, err = millis(w.Advance); err != nil {
		return err
	}
	if window.Advance == 0 || window.Advance > window.Size {
		return types.Errorf(types.CodeValue, "ADVANCE BY must be more than 0 and at most the SIZE").At(w.Advance.Position)
	}
	if window.Size/window.Advance > maxOverlap {
		return types.Errorf(types.CodeValue, "each row would belong to %d windows; at most %d may overlap",
			window.Size/window.Advance, maxOverlap).At(w.Advance.Position).WithHint("make ADVANCE BY longer or SIZE shorter")
	}
	return nil
}

func windowGrace(window *plan.Window, w *ast.Window, final bool) error {
	length, name := window.Size, "SIZE"
	if w.Kind == ast.Session {
		length, name = window.Gap, "the gap"
	}
	window.Grace = max(defaultGrace-length, 0)
	if final {
		window.Grace = 0
	}
	var err error
	if w.Grace != nil {
		if window.Grace, err = millis(w.Grace); err != nil {
			return err
		}
	}
	if w.Retention == nil {
		return nil
	}
	retention, err := millis(w.Retention)
	if err != nil {
		return err
	}
	if w.Grace == nil {
		window.Grace = max(retention-length, 0)
	}
	if retention < length+window.Grace {
		return types.Errorf(types.CodeValue, "RETENTION must be at least %s and GRACE PERIOD together", name).At(w.Retention.Position)
	}
	return nil
}
