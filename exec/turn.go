package exec

import (
	"context"
	"math"

	"millrace/exec/task"
)

// turn is a task of its own, or all tasks of an ordered subgraph, which take
// turns by time.
type turn []*task.Task

// turns groups a query's tasks. Those of a subgraph stand together.
func turns(tasks []*task.Task) []turn {
	var all []turn
	for i, t := range tasks {
		if i > 0 && t.Ordered() && tasks[i-1].Subgraph() == t.Subgraph() {
			all[len(all)-1] = append(all[len(all)-1], t)
			continue
		}
		all = append(all, turn{t})
	}
	return all
}

// orderedSteps is how many steps an ordered subgraph takes in one go: they are
// short, since the tasks alternate.
const orderedSteps = 256

// step lets the task, or the tasks by time, take steps.
func (u turn) step(ctx context.Context, ends task.Ends) (progress bool, err error) {
	if len(u) == 1 {
		return u[0].Step(ctx, ends)
	}
	for range orderedSteps {
		moved, err := u.stepLowest(ctx, ends)
		if !moved || err != nil {
			return progress, err
		}
		progress = true
	}
	return progress, nil
}

// stepLowest lets the task with the lowest time hand on its rows up to the
// lowest time of the others; at equal times the lower partition goes first.
func (u turn) stepLowest(ctx context.Context, ends task.Ends) (progress bool, err error) {
	next, lowest := -1, int64(0)
	limit := int64(math.MaxInt64)
	for i, t := range u {
		time, ok, waits, err := t.Peek(ends)
		if waits || err != nil {
			return false, err
		}
		switch {
		case !ok:
		case next < 0:
			next, lowest = i, time
		case time < lowest:
			// The old lowest is of a lower partition, so its rows of that time go first.
			limit = min(limit, lowest)
			next, lowest = i, time
		case time < math.MaxInt64:
			limit = min(limit, time+1)
		}
	}
	if next < 0 {
		return false, nil
	}
	return u[next].StepUntil(ctx, ends, limit)
}
