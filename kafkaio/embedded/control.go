package embedded

import (
	"errors"
	"math"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// renewEvery bounds what kfake keeps for a control function: the last request
// of every connection that it has ever seen.
const renewEvery = 4096

var errStopping = errors.New("the broker is stopping")

// control sees every request before kfake acts on it, one at a time.
type control struct {
	cluster  *kfake.Cluster
	journal  *journal
	seen     int
	stopping atomic.Bool
	failed   func(error) // told of requests refused because of our own errors
}

func (c *control) attach() { c.cluster.Control(c.handle) }

// handle has the signature of kfake's control functions: a response or an
// error ends the request, and an error the connection.
func (c *control) handle(request kmsg.Request) (kmsg.Response, error, bool) { //nolint:revive // kfake's order of results
	c.cluster.KeepControl()
	if c.seen++; c.seen%renewEvery == 0 {
		c.cluster.DropControl()
		c.attach()
	}
	// While kfake waits for a control function it may run its shutdown, and
	// would then act on this request after it has saved its state.
	if _, probe := request.(*kmsg.ApiVersionsRequest); c.stopping.Load() && !probe {
		return nil, errStopping, true
	}
	if err := c.journal.see(request); err != nil {
		c.failed(err)
		return nil, err, true
	}
	response := c.adjust(request)
	return response, nil, response != nil
}

// adjust changes a request where kfake would do harm with it, or answers it.
func (c *control) adjust(request kmsg.Request) kmsg.Response {
	switch r := request.(type) {
	case *kmsg.FetchRequest:
		// kfake forgets the aborted transactions of an answer that the
		// request's limit cuts; the limits of the partitions are safe.
		r.MaxBytes = math.MaxInt32
	case *kmsg.CreateTopicsRequest:
		return createTopics(r)
	case *kmsg.CreatePartitionsRequest:
		return createPartitions(r)
	case *kmsg.DeleteRecordsRequest:
		c.keepLastBatch(r)
	case *kmsg.AlterConfigsRequest:
		return alterConfigs(r)
	case *kmsg.IncrementalAlterConfigsRequest:
		return incrementalAlterConfigs(r)
	}
	return nil
}

// keepLastBatch lowers the request's offsets so that each partition keeps its
// last batch: kfake starts a partition that is empty on disk at offset 0 again.
func (c *control) keepLastBatch(r *kmsg.DeleteRecordsRequest) {
	for i := range r.Topics {
		topic := &r.Topics[i]
		for k := range topic.Partitions {
			p := &topic.Partitions[k]
			info := c.cluster.PartitionInfo(topic.Topic, p.Partition)
			if info == nil || p.Offset > info.HighWatermark {
				continue // kfake answers with the error
			}
			if p.Offset == -1 || p.Offset == info.HighWatermark {
				p.Offset = max(info.HighWatermark-1, info.LogStartOffset)
			}
		}
	}
}
