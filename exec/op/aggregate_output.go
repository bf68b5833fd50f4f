package op

import (
	"fmt"
	"math"
	"slices"

	"millrace/exec/column"
	"millrace/planner/plan"
	"millrace/sql/types"
	"millrace/state"
)

// output makes the batches that an aggregate puts out.
type output struct {
	batch      column.Batch
	columns    []*column.Vector // groups, bounds, results
	groups     []*column.Vector
	groupTypes []*types.Type
	bounds     []*column.Vector // start and end; empty without a window
	results    []*column.Vector
	before     []*column.Vector // columns with formerResults; nil where they are not handed on
	former     []*column.Vector // results before
	arena      column.Arena     // of batches that have no input batch
	offsets    []int64
	headers    [][]byte
	errors     column.Errors
}

func newOutput(node *plan.Aggregate, env *Environment) *output {
	o := &output{}
	if env.Expressions != nil {
		o.errors = env.Expressions.Errors
	}
	groups := len(node.Groups)
	bounds := 0
	if node.Window != nil {
		bounds = 2
	}
	for _, c := range node.Output.Columns {
		o.columns = append(o.columns, column.New(c.Type, 0))
		o.groupTypes = append(o.groupTypes, c.Type)
	}
	o.groupTypes = o.groupTypes[:groups]
	o.groups, o.bounds, o.results = o.columns[:groups], o.columns[groups:groups+bounds], o.columns[groups+bounds:]
	if node.Output.KeepsBefore {
		o.before = slices.Clone(o.columns)
		o.former = o.before[groups+bounds:]
		for c, v := range o.former {
			o.former[c] = column.New(v.Type, 0)
		}
	}
	return o
}

// begin makes an empty batch of n rows.
func (o *output) begin(n int) {
	for _, v := range o.columns {
		v.Reset(n)
	}
	b := &o.batch
	b.Len, b.Columns = n, o.columns
	b.Present = b.Present.Resize(n)
	b.Present.Fill(n, true)
	if o.before != nil {
		for _, v := range o.former {
			v.Reset(n)
		}
		b.Before = o.before
		b.PresentBefore = b.PresentBefore.Resize(n)
		clear(b.PresentBefore)
	}
	b.Times = sized(b.Times, n)
	b.Offsets, b.Headers = nil, nil
	b.SelectAll()
}

// run carries out the steps of a batch and puts out a row for each.
func (o *output) run(a *aggregate, b *column.Batch) error {
	s := &a.steps
	o.begin(s.len())
	o.batch.Arena = b.Arena
	copy(o.batch.Times, s.times)
	if o.before != nil {
		copy(o.batch.PresentBefore, s.existed)
	}
	o.gather(a, b)
	for c := range a.state.fixed {
		if err := o.runFixed(&a.state.fixed[c], s, b); err != nil {
			return err
		}
	}
	if len(a.state.variable) > 0 {
		if err := o.runVariable(a, b); err != nil {
			return err
		}
	}
	return a.next.Push(0, &o.batch)
}

// gather sets group columns, bounds and offsets.
func (o *output) gather(a *aggregate, b *column.Batch) {
	s := &a.steps
	for g, v := range o.groups {
		for k, i := range s.in {
			if i >= 0 {
				v.CopyRow(k, a.groupColumns[g], int(i))
			} else {
				v.CopyRow(k, a.groupBefore[g], int(s.out[k]))
			}
		}
		// The store's key takes -0.0 for 0.0, so the key put out must not tell
		// them apart either.
		for k, value := range v.Doubles {
			if value == 0 {
				v.Doubles[k] = 0
			}
		}
	}
	if a.windowed {
		for k, n := range s.tableOf {
			start := s.tables[n].Window()
			o.bounds[0].SetInt(k, start)
			o.bounds[1].SetInt(k, a.window.End(start))
		}
	}
	o.copyRecords(s, b)
}

// copyRecords gives each row the offset and the headers of the record that
// caused it.
func (o *output) copyRecords(s *steps, b *column.Batch) {
	if b.Offsets != nil {
		o.offsets = sized(o.offsets, s.len())
		for k, i := range s.in {
			o.offsets[k] = b.Offsets[max(i, s.out[k])]
		}
		o.batch.Offsets = o.offsets
	}
	if b.Headers != nil {
		o.headers = sized(o.headers, s.len())
		for k, i := range s.in {
			o.headers[k] = b.Headers[max(i, s.out[k])]
		}
		o.batch.Headers = o.headers
	}
}

// runFixed carries out the steps of one call. A group's results before a step
// are those after its last one, so both are taken as the steps go.
func (o *output) runFixed(call *fixedCall, s *steps, b *column.Batch) error {
	after := o.results[call.result]
	var before *column.Vector
	if o.before != nil {
		before = o.former[call.result]
	}
	for k, cells := range s.cells {
		if before != nil && s.existed.Get(k) {
			_ = call.Result(cells, before, k) // its fault was reported when it was new
		}
		if err := call.step(cells, s.out[k], s.in[k]); err != nil {
			return stepError(b, max(s.out[k], s.in[k]), call.name, err)
		}
		if err := call.Result(cells, after, k); err != nil {
			o.fault(b, max(s.out[k], s.in[k]), call.name, err)
		}
	}
	return nil
}

func (o *output) runVariable(a *aggregate, b *column.Batch) error {
	s := &a.steps
	for k, cells := range s.cells {
		table, row := s.tables[s.tableOf[k]], s.rows[k]
		if o.before != nil && s.existed.Get(k) {
			a.state.variableResults(cells, table.Variable(row), o.former, k, o.batch.Arena, nil)
		}
		i := max(s.out[k], s.in[k])
		if err := a.state.changeVariable(table, row, cells, s.out[k], s.in[k]); err != nil {
			return stepError(b, i, "", err)
		}
		a.state.variableResults(cells, table.Variable(row), o.results, k, o.batch.Arena, func(name string, err error) {
			o.fault(b, i, name, err)
		})
	}
	return nil
}

func (o *output) fault(b *column.Batch, i int32, name string, err error) {
	if o.errors != nil {
		o.errors.RowError(b, int(i), name, err)
	}
}

// warmRows is how many rows are read ahead of the work on them.
const warmRows = 128

// changed puts out the change of each group since the last commit.
func (o *output) changed(a *aggregate) error {
	piece := o.pieces(a)
	for _, start := range a.store.Windows() {
		table := a.store.Lookup(start)
		for rows := range slices.Chunk(table.Touched(), warmRows) {
			table.Warm(rows)
			for _, row := range rows {
				if err := piece.add(table, row); err != nil {
					return err
				}
			}
		}
	}
	return piece.push()
}

// putOutClosed puts out the windows that stream time closes when it moves to
// timestamp, and finds when the next one is due.
func (a *aggregate) putOutClosed(timestamp int64) error {
	piece := a.output.pieces(a)
	a.nextClose = math.MaxInt64
	for _, start := range a.store.Windows() {
		if a.window.Closed(start, a.streamTime) {
			continue
		}
		if !a.window.Closed(start, timestamp) {
			a.nextClose = a.window.CloseTime(start)
			break
		}
		if err := piece.addWindow(start); err != nil {
			return err
		}
	}
	return piece.push()
}

// pieces collects rows of groups into batches.
type pieces struct {
	*output
	a *aggregate
	n int
}

func (o *output) pieces(a *aggregate) *pieces { return &pieces{output: o, a: a} }

// addWindow adds all groups of a window by the order of their keys.
func (p *pieces) addWindow(start int64) error {
	var failed error
	err := p.a.store.Range(start, nil, nil, func(t *state.Table, row state.Row) bool {
		failed = p.add(t, row)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", p.a.store.Name(), err)
	}
	return nil
}

// add puts a group's row into the batch, which is pushed first if it is full.
func (p *pieces) add(t *state.Table, row state.Row) error {
	if p.n == column.MaxRows {
		if err := p.push(); err != nil {
			return err
		}
	}
	if p.n == 0 {
		p.arena.Reset()
		p.begin(column.MaxRows)
		p.batch.Arena = &p.arena
	}
	k := p.n
	key := p.arena.Alloc(len(t.Key(row)))
	copy(key, t.Key(row))
	if err := state.DecodeKey(key, p.groups, p.groupTypes, k); err != nil {
		return fmt.Errorf("store %s: key %x: %w", p.a.store.Name(), key, err)
	}
	if p.a.windowed {
		p.bounds[0].SetInt(k, t.Window())
		p.bounds[1].SetInt(k, p.a.window.End(t.Window()))
	}
	p.batch.Times[k] = t.Time(row)
	p.a.state.results(t.Fixed(row), t.Variable(row), p.results, k, &p.arena, func(name string, err error) {
		p.fault(&p.batch, int32(k), name, err)
	})
	if p.before != nil && !p.a.final {
		fixed, variable, existed, _ := t.PreImage(row)
		p.batch.PresentBefore.SetTo(k, existed)
		if existed {
			p.a.state.results(fixed, variable, p.former, k, &p.arena, nil)
		}
	}
	p.n++
	return nil
}

func (p *pieces) push() error {
	if p.n == 0 {
		return nil
	}
	p.batch.Len, p.batch.Selection = p.n, p.batch.Selection[:p.n]
	p.n = 0
	return p.a.next.Push(0, &p.batch)
}
