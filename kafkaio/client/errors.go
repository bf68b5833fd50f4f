package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"millrace/kafkaio"
)

// Codes of the protocol that are handled by name.
const (
	codeUnknown                 = -1
	codeOffsetOutOfRange        = 1
	codeUnknownTopic            = 3
	codeNotLeader               = 6
	codeMessageTooLarge         = 10
	codeLeaderNotAvailable      = 5
	codeDuplicateSequence       = 46
	codeInvalidTransactionState = 48
	codeConcurrentTransactions  = 51
	codeOperationNotAttempted   = 55
	codeGroupNotFound           = 69
	codeUnstableOffsetCommit    = 88
)

// meaning tells what a code means to the engine; nil where nothing fits.
func meaning(code int16) error {
	switch code {
	case 2, codeLeaderNotAvailable, codeNotLeader, 7, 8, 9, 13, 14, 15, 16, 19, 20, 41, codeConcurrentTransactions,
		56, 74, 75, 78, codeUnstableOffsetCommit, 89, 100, 103:
		return kafkaio.ErrTransient
	case 22, 25, 27, 45, 47, 48, 49, 52, 59, 82, 90:
		return kafkaio.ErrFenced
	case codeOffsetOutOfRange:
		return kafkaio.ErrOffsetOutOfRange
	case codeUnknownTopic:
		return kafkaio.ErrUnknownTopic
	case codeMessageTooLarge, 18:
		return kafkaio.ErrRecordTooLarge
	case 29, 30, 31, 33, 34, 53, 54, 58, 65:
		return kafkaio.ErrDenied
	case 32:
		return kafkaio.ErrInvalidTimestamp
	case 36:
		return kafkaio.ErrTopicExists
	}
	return nil
}

// codeError is a broker's answer that is an error.
type codeError struct {
	code    int16
	message string // the broker's own words, if any
}

func (e *codeError) Error() string {
	text := fmt.Sprintf("%s (code %d)", kafka.Error(e.code).Title(), e.code)
	if e.code == codeUnknown {
		text = fmt.Sprintf("the broker failed and does not say why; look at its log, and whether its disk is full (code %d)", e.code)
	}
	if e.message != "" {
		text += ": " + e.message
	}
	if means := meaning(e.code); means != nil {
		text = means.Error() + ": " + text
	}
	return text
}

func (e *codeError) Unwrap() error { return meaning(e.code) }

// codeErr gives the error of a code, nil for 0.
func codeErr(code int16) error {
	if code == 0 {
		return nil
	}
	return &codeError{code: code}
}

func hasCode(err error, codes ...int16) bool {
	answer, ok := errors.AsType[*codeError](err)
	if !ok {
		return false
	}
	for _, code := range codes {
		if answer.code == code {
			return true
		}
	}
	return false
}

// connectionError is a failure to get any answer from a broker.
type connectionError struct {
	broker *broker
	err    error
}

func (e *connectionError) Error() string { return fmt.Sprintf("%v: %v", e.broker, e.err) }

func (e *connectionError) Unwrap() []error {
	if answer, ok := errors.AsType[kafka.Error](e.err); ok {
		if means := meaning(int16(answer)); means != nil {
			return []error{means, e.err}
		}
	}
	return []error{kafkaio.ErrTransient, e.err}
}

// Waits between attempts: a transaction's end, which is soon, or a change in
// the cluster.
const (
	firstShortWait = time.Millisecond
	longestShort   = 20 * time.Millisecond
	firstWait      = 20 * time.Millisecond
	longestWait    = 500 * time.Millisecond
)

// backoff gives the waits of one call's attempts.
type backoff struct{ short, long time.Duration }

func (b *backoff) next(err error) time.Duration {
	if hasCode(err, codeConcurrentTransactions, codeUnstableOffsetCommit) {
		b.short = min(max(firstShortWait, 2*b.short), longestShort)
		return b.short
	}
	b.long = min(max(firstWait, 2*b.long), longestWait)
	return b.long
}

// retry repeats do while its error is transient, until ctx ends.
func retry(ctx context.Context, do func() error) error {
	return retryWhile(ctx, do, func(err error) bool { return errors.Is(err, kafkaio.ErrTransient) })
}

func retryWhile(ctx context.Context, do func() error, passes func(error) bool) error {
	begin := time.Now()
	var waits backoff
	for {
		err := do()
		if err == nil || !passes(err) {
			return err
		}
		if sleep(ctx, waits.next(err)) != nil {
			return fmt.Errorf("%w after %v: %w", ctx.Err(), time.Since(begin).Round(time.Millisecond), err)
		}
	}
}

// sleep waits and returns ctx's error if that ends before.
func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
