package task

import (
	"fmt"
	"slices"
)

// State is where a task stands in its life.
type State int

// The states. Only a running task takes records.
const (
	Created State = iota
	Restoring
	Running
	Closed
)

// transitions says where a task may go from each state. A task returns from
// Running to Restoring when its state has to be rebuilt.
var transitions = [...][]State{
	Created:   {Restoring, Closed},
	Restoring: {Running, Closed},
	Running:   {Restoring, Closed},
	Closed:    {},
}

var stateNames = [...]string{"created", "restoring", "running", "closed"}

func (s State) String() string { return stateNames[s] }

// moveTo changes the state, or refuses a step that the table does not hold.
func (t *Task) moveTo(next State) error {
	if !slices.Contains(transitions[t.state], next) {
		return fmt.Errorf("%s: a task that is %s cannot become %s", t, t.state, next)
	}
	t.state = next
	return nil
}
