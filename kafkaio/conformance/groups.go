package conformance

import (
	"time"

	"millrace/kafkaio"
)

func deleteGroup(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	other := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	both := []kafkaio.TopicPartition{tp, other}
	group, kept := kafkaio.Group{Name: e.name("group"), Generation: -1}, kafkaio.Group{Name: e.name("group"), Generation: -1}
	e.must(e.log.DeleteGroup(e.ctx, group.Name)) // there is none
	p := e.producer()
	for _, g := range []kafkaio.Group{group, kept} {
		e.must(p.SendOffsets(e.ctx, g, map[kafkaio.TopicPartition]int64{tp: 7, other: 8}))
	}
	e.must(p.Commit(e.ctx))
	expect := func(g kafkaio.Group, want int) {
		e.Helper()
		positions, err := e.log.CommittedOffsets(e.ctx, g.Name, both)
		e.must(err)
		if len(positions) != want {
			e.Errorf("group %s has the positions %v, not %d", g.Name, positions, want)
		}
	}
	expect(group, 2)
	e.must(e.log.DeleteGroup(e.ctx, group.Name))
	expect(group, 0)
	e.must(e.log.DeleteGroup(e.ctx, group.Name))
	expect(kept, 2)

	// It may be used again, and goes only after the commit that is under way.
	e.must(p.SendOffsets(e.ctx, group, map[kafkaio.TopicPartition]int64{tp: 9}))
	e.must(p.Commit(e.ctx))
	expect(group, 1)
	e.must(p.SendOffsets(e.ctx, group, map[kafkaio.TopicPartition]int64{tp: 10}))
	deleted := make(chan error, 1)
	go func() { deleted <- e.log.DeleteGroup(e.ctx, group.Name) }()
	select {
	case err := <-deleted:
		e.Errorf("deleted beside an open transaction: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	e.must(p.Commit(e.ctx))
	e.must(<-deleted)
	expect(group, 0)
}
