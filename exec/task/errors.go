package task

import (
	"context"
	"errors"
	"fmt"

	"millrace/kafkaio"
	"millrace/kafkaio/registry"
	"millrace/state"
)

// Action is what happens next after an error of a worker's transaction.
type Action int

// The actions. A rollback of all tasks of the worker comes first in each case;
// they differ in who goes on, and how.
const (
	// Retry: all tasks go on from the last commit.
	Retry Action = iota
	// Wait: the failing query goes on from the last commit after a while, the
	// others at once.
	Wait
	// Reinitialise: the producer's transaction is in doubt or fenced; it is
	// settled first, then all go on.
	Reinitialise
	// Rebuild: the failing task drops its local state and restores it.
	Rebuild
	// Reposition: the query's inputs no longer hold its positions; where that
	// is by retention, it goes on with what they hold, and reports the rest.
	Reposition
	// Drop: the query fails, the others go on.
	Drop
	// Stop: the worker ends; its owner gave up or lost its rights.
	Stop
)

// QueryError is an error that belongs to one query, with the place that it
// happened at.
type QueryError struct {
	Query string
	Place string // such as topic ORDERS, partition 2, offset 17; may be empty
	Err   error
}

func (e *QueryError) Error() string {
	if e.Place == "" {
		return fmt.Sprintf("query %s: %v", e.Query, e.Err)
	}
	return fmt.Sprintf("query %s, %s: %v", e.Query, e.Place, e.Err)
}

func (e *QueryError) Unwrap() error { return e.Err }

// WithoutQuery is an error in words that do not name the query, for messages
// that have named it. It wraps what err wraps.
func WithoutQuery(err error) error {
	placed, ok := err.(*QueryError) //nolint:errorlint // what wraps it must not be lost
	switch {
	case !ok:
		return err
	case placed.Place == "":
		return placed.Err
	}
	return fmt.Errorf("%s: %w", placed.Place, placed.Err)
}

// ErrDoubt: it is not known whether the transaction was committed.
var ErrDoubt = errors.New("the end of the transaction is not known")

// ErrDisplaced: another process takes the transactional ids of this one, again
// and again.
var ErrDisplaced = errors.New("another process uses the same service name")

// Classify is the only place that turns an error into what happens next.
func Classify(err error) Action {
	switch {
	case errors.Is(err, errSmallerBatches):
		return Retry
	case errors.Is(err, context.Canceled):
		return Stop
	case errors.Is(err, ErrDisplaced):
		return Drop
	case errors.Is(err, kafkaio.ErrFenced), errors.Is(err, ErrDoubt):
		return Reinitialise
	case errors.Is(err, registry.ErrUnavailable):
		return Wait
	case errors.Is(err, state.ErrCorrupt):
		return Rebuild
	case errors.Is(err, kafkaio.ErrRecordTooLarge), errors.Is(err, kafkaio.ErrInvalidTimestamp),
		errors.Is(err, kafkaio.ErrDenied), errors.Is(err, kafkaio.ErrUnknownTopic):
		return Drop
	case errors.Is(err, kafkaio.ErrOffsetOutOfRange):
		return Reposition
	case errors.Is(err, kafkaio.ErrTransient), errors.Is(err, kafkaio.ErrUnreachable),
		errors.Is(err, kafkaio.ErrAborted), errors.Is(err, context.DeadlineExceeded):
		return Retry
	}
	return Drop
}
