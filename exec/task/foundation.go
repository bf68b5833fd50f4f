package task

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"

	"millrace/planner/plan"
	"millrace/sql/types"
)

// foundationName is the name of the metadata that says which query a store's
// rows belong to. It stands in the changelog beside the rows, so that it is
// there wherever they are read back.
const foundationName = "foundation"

// foundationHash identifies what a query's stored rows depend on. Two queries of
// one id with the same hash can use each other's rows.
func foundationHash(query *plan.Query) []byte {
	hash := fnv.New128a()
	for _, part := range plan.Foundation(query) {
		_, _ = fmt.Fprintln(hash, part)
	}
	for _, g := range query.Subgraphs {
		typesOfGroups(hash, g.Root)
	}
	return hash.Sum(nil)
}

// typesOfGroups adds the types of what aggregations take in, which decide how
// their rows are laid out.
func typesOfGroups(to io.Writer, node plan.Node) {
	if n, ok := node.(*plan.Aggregate); ok {
		for _, c := range n.Input.Schema().Columns {
			_, _ = fmt.Fprintln(to, c.Type)
		}
	}
	for _, input := range node.Inputs() {
		typesOfGroups(to, input)
	}
}

// checkFoundation refuses stores whose rows another form of the query wrote,
// which could be read without an error and mean something else, and reports
// what could not be restored.
func (t *Task) checkFoundation() error {
	for _, s := range t.stores {
		written := s.store.Meta(foundationName)
		if bytes.Equal(written, droppedMark) {
			return ErrDropped
		}
		if written != nil && !bytes.Equal(written, t.foundation) {
			return types.Errorf(types.CodeStatement, "the state in topic %s was written by another form of query %s, and cannot be continued by this one",
				s.changelog.Topic, t.config.Query.ID).
				WithHint("give the result another name, or take the statement back; filters and what is computed from the result may differ. " +
					"Where columns come from a newer schema of a registry, name the former one by VALUE_SCHEMA_ID or KEY_SCHEMA_ID")
		}
		if s.fault != nil {
			return s.fault
		}
	}
	return nil
}

// markFoundation lets the next commit write down what the rows belong to.
func (t *Task) markFoundation() {
	for _, s := range t.stores {
		s.store.SetMeta(foundationName, t.foundation)
	}
}
