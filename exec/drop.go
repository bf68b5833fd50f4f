package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// Drop ends a query for good: its positions, its internal topics and its local
// state go. The topic that it wrote stays, unless the query is transient. After
// an error, or a crash, the next Drop or Start of the id finishes what is left.
func (e *Engine) Drop(ctx context.Context, id string) error {
	e.control.Lock()
	defer e.control.Unlock()
	if q, ok := e.query(id); ok {
		if err := e.stop(ctx, q); err != nil {
			return err
		}
		e.dropping[id] = q.plan
	}
	p, ok := e.dropping[id]
	if !ok {
		return types.Errorf(types.CodeName, "there is no query %s", id)
	}
	return e.erase(ctx, p)
}

// erase deletes everything that a query which does not run has left. The order
// is such that a start after a crash at any point sees either a query that is
// whole, or a changelog that is marked as dropped, or nothing:
//
//  1. the changelogs are marked: what they hold does not count any more
//  2. the positions are deleted; without changelogs this alone is the end
//  3. the repartition topics are deleted, whose records nobody would read
//  4. the local state is deleted
//  5. the changelogs are deleted, and with them the mark
//  6. the result of a transient query is deleted
func (e *Engine) erase(ctx context.Context, p *plan.Query) error {
	for _, step := range []func(context.Context, *plan.Query) error{
		e.markDropped, e.deletePositions, e.deleteRepartitions, e.deleteState, e.deleteChangelogs, e.deleteResult,
	} {
		if err := step(ctx, p); err != nil {
			return fmt.Errorf("drop query %s: %w", p.ID, err)
		}
	}
	delete(e.dropping, p.ID)
	return nil
}

func (e *Engine) markDropped(ctx context.Context, p *plan.Query) error {
	if p.Transient {
		return nil // no query of its id is started again
	}
	topics, err := e.log.Topics(ctx, task.InternalTopics(p)...)
	if err != nil || len(topics) == 0 {
		return err
	}
	w := e.workers[0]
	return w.do(ctx, func(ctx context.Context) error {
		w.commit(ctx) // nothing of other queries goes along
		return w.transaction.MarkDropped(ctx, p, topics)
	})
}

// deletePositions deletes the group after the last commit has reached it.
func (e *Engine) deletePositions(ctx context.Context, p *plan.Query) error {
	return e.log.DeleteGroup(ctx, p.Group)
}

func (e *Engine) deleteRepartitions(ctx context.Context, p *plan.Query) error {
	for _, r := range p.Repartitions {
		if err := e.deleteTopic(ctx, r.Topic); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) deleteState(_ context.Context, p *plan.Query) error {
	if e.options.StateDirectory == "" {
		return nil
	}
	if err := os.RemoveAll(e.queryDirectory(p.ID)); err != nil {
		return fmt.Errorf("remove its state: %w", err)
	}
	return nil
}

func (e *Engine) deleteChangelogs(ctx context.Context, p *plan.Query) error {
	for _, topic := range task.Changelogs(p) {
		if err := e.deleteTopic(ctx, topic); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) deleteResult(ctx context.Context, p *plan.Query) error {
	if !p.Transient {
		return nil
	}
	return e.deleteTopic(ctx, p.SinkTopic)
}

// deleteTopic deletes a topic, if it is there.
func (e *Engine) deleteTopic(ctx context.Context, topic string) error {
	if err := e.log.DeleteTopic(ctx, topic); err != nil && !errors.Is(err, kafkaio.ErrUnknownTopic) {
		return err
	}
	return nil
}

// transientName is what the ids of transient queries look like: no process goes
// on with such a query.
var transientName = regexp.MustCompile(`^LOOK_[0-9]+_[0-9]+$`)

// sweep deletes what transient queries of earlier processes of this service
// have left, which ended before they could do it.
func (e *Engine) sweep(ctx context.Context) error {
	topics, err := e.log.Topics(ctx)
	if err != nil {
		return err
	}
	prefix := "_millrace_" + e.options.Service + "_query_"
	left := make(map[string][]string) // topics by query
	for name := range topics {
		rest, ours := strings.CutPrefix(name, prefix)
		id, _, _ := strings.Cut(rest, "-")
		if ours && transientName.MatchString(id) {
			left[id] = append(left[id], name)
		}
	}
	for id, names := range left {
		// What a crash in here leaves is found the next time by any of the topics.
		slices.Sort(names)
		if err := e.log.DeleteGroup(ctx, prefix+id); err != nil {
			return err
		}
		for _, name := range names {
			if err := e.deleteTopic(ctx, name); err != nil {
				return err
			}
		}
	}
	return e.sweepState()
}

func (e *Engine) sweepState() error {
	if e.options.StateDirectory == "" {
		return nil
	}
	directories, err := os.ReadDir(e.queriesDirectory())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for the state of an earlier SELECT: %w", err)
	}
	for _, directory := range directories {
		if !transientName.MatchString(directory.Name()) {
			continue
		}
		if err := os.RemoveAll(e.queryDirectory(directory.Name())); err != nil {
			return fmt.Errorf("remove the state of an earlier SELECT: %w", err)
		}
	}
	return nil
}
