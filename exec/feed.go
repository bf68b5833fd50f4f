package exec

import (
	"context"
	"fmt"
	"time"

	"millrace/exec/task"
	"millrace/kafkaio"
)

// feed fetches for some inputs of one query's tasks on one worker; no two of
// them read the same partition.
type feed struct {
	fetcher kafkaio.Fetcher
	inputs  map[kafkaio.TopicPartition]*task.Input
	stopped bool
	cancel  context.CancelFunc // of the goroutine that polls; nil without one
	done    chan struct{}
}

// delivery is what a feed's goroutine has fetched.
type delivery struct {
	feed  *feed
	share *share
	runs  []*kafkaio.Records
	err   error
}

// newFeeds spreads the inputs of tasks over as few feeds as it takes, and
// fetches from where the inputs stand.
func newFeeds(log kafkaio.Log, tasks []*task.Task) []*feed {
	var feeds []*feed
	for _, t := range tasks {
		for _, in := range t.Inputs() {
			feeds = place(feeds, in)
		}
	}
	for _, f := range feeds {
		f.fetcher = log.NewFetcher(kafkaio.FetchOptions{})
		positions := make(map[kafkaio.TopicPartition]int64, len(f.inputs))
		for tp, in := range f.inputs {
			positions[tp] = in.Position()
		}
		f.fetcher.Assign(positions)
	}
	return feeds
}

func place(feeds []*feed, in *task.Input) []*feed {
	for _, f := range feeds {
		if f.inputs[in.TopicPartition] == nil {
			f.inputs[in.TopicPartition] = in
			return feeds
		}
	}
	return append(feeds, &feed{inputs: map[kafkaio.TopicPartition]*task.Input{in.TopicPartition: in}})
}

// poll hands over what has arrived; it tells whether something had.
func (f *feed) poll(ctx context.Context) (bool, error) {
	runs, err := f.fetcher.Poll(ctx, 0)
	f.deliver(runs)
	if err != nil {
		return false, fmt.Errorf("fetch: %w", err)
	}
	return len(runs) > 0, nil
}

// deliver gives runs to their inputs.
func (f *feed) deliver(runs []*kafkaio.Records) {
	for _, run := range runs {
		in := f.inputs[run.TopicPartition]
		if in == nil || f.stopped {
			run.Release()
			continue
		}
		in.Deliver(run)
	}
}

// pollWait is how long a poll may wait; a stop ends it.
const pollWait = time.Second

// pump polls in the background until stop, or until an error, which is delivered.
func (f *feed) pump(s *share, deliveries chan<- delivery) {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel, f.done = cancel, make(chan struct{})
	go func() {
		defer close(f.done)
		for ctx.Err() == nil {
			runs, err := f.fetcher.Poll(ctx, pollWait)
			if len(runs) == 0 && err == nil {
				continue
			}
			select {
			case deliveries <- delivery{f, s, runs, err}:
			case <-ctx.Done():
				release(runs)
			}
			if err != nil {
				return
			}
		}
	}()
}

func release(runs []*kafkaio.Records) {
	for _, run := range runs {
		run.Release()
	}
}

// stop ends fetching. Runs that inputs hold stay valid until they are released.
func (f *feed) stop() error {
	if f.stopped {
		return nil
	}
	f.stopped = true
	if f.cancel != nil {
		f.cancel()
		<-f.done
	}
	return f.fetcher.Close()
}
