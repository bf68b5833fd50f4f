package plan

// Materialize ends a subgraph that writes nothing: its source keeps the rows of
// a table in a store. The store has no changelog, since the table's topic holds
// the same rows.
type Materialize struct {
	Input *Source
}

// Schema implements Node: that of the input.
func (n *Materialize) Schema() Schema { return n.Input.Schema() }

// Inputs implements Node.
func (n *Materialize) Inputs() []Node { return []Node{n.Input} }

// Describe implements Node.
func (n *Materialize) Describe() string { return "Materialize " + n.Input.Name }

// Materializes tells whether the query keeps the rows of a table and writes nothing.
func (q *Query) Materializes() bool {
	for _, g := range q.Subgraphs {
		if _, ok := g.Root.(*Materialize); ok {
			return true
		}
	}
	return false
}
