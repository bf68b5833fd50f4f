package conformance

import (
	"errors"

	"millrace/kafkaio"
)

func describeTopics(e *env) {
	one := e.topic(1, nil)
	three := e.topic(3, map[string]string{"retention.ms": "123456789"})
	named, err := e.log.Topics(e.ctx, one, three, e.name("missing"))
	e.must(err)
	if len(named) != 2 || named[one].Partitions != 1 || named[three].Partitions != 3 || named[three].Name != three {
		e.Errorf("got %+v", named)
	}
	if named[one].ID == named[three].ID || named[one].ID == [16]byte{} {
		e.Errorf("topic ids %x and %x", named[one].ID, named[three].ID)
	}
	all, err := e.log.Topics(e.ctx)
	e.must(err)
	if all[one].ID != named[one].ID || all[three].Partitions != 3 {
		e.Errorf("among all topics: %+v, %+v", all[one], all[three])
	}
	config, err := e.log.TopicConfig(e.ctx, three)
	e.must(err)
	if config["retention.ms"] != "123456789" {
		e.Errorf("retention.ms is %q", config["retention.ms"])
	}
}

func unknownTopic(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.name("missing")}
	if topics, err := e.log.Topics(e.ctx, tp.Topic); err != nil || len(topics) != 0 {
		e.Errorf("got %v, %v", topics, err)
	}
	check := func(what string, err error) {
		e.Helper()
		if !errors.Is(err, kafkaio.ErrUnknownTopic) {
			e.Errorf("%s gave %v", what, err)
		}
	}
	_, err := e.log.TopicConfig(e.ctx, tp.Topic)
	check("TopicConfig", err)
	check("DeleteTopic", e.log.DeleteTopic(e.ctx, tp.Topic))
	check("DeleteRecords", e.log.DeleteRecords(e.ctx, map[kafkaio.TopicPartition]int64{tp: 0}))
	_, err = e.log.Offsets(e.ctx, []kafkaio.TopicPartition{tp})
	check("Offsets", err)
	p := e.producer()
	if err = p.Append(e.ctx, tp, 1, nil, []byte("a"), nil); err == nil {
		err = p.Flush(e.ctx)
	}
	check("Append and Flush", err)
	e.must(p.Abort(e.ctx))
	check("Poll", fetchError(e, tp, 0))

	existing := e.topic(1, nil)
	beyond := kafkaio.TopicPartition{Topic: existing, Partition: 9}
	_, err = e.log.Offsets(e.ctx, []kafkaio.TopicPartition{beyond})
	check("Offsets of a partition too many", err)
	if err = p.Append(e.ctx, beyond, 1, nil, []byte("a"), nil); err == nil {
		err = p.Flush(e.ctx)
	}
	check("Append to a partition too many", err)
	e.must(p.Abort(e.ctx))
}

func createExisting(e *env) {
	topic := e.topic(1, nil)
	err := e.log.CreateTopic(e.ctx, kafkaio.TopicSpec{Name: topic, Partitions: 1})
	if !errors.Is(err, kafkaio.ErrTopicExists) {
		e.Errorf("got %v", err)
	}
	for _, name := range []string{"", "..", "a topic", "täg"} {
		if err := e.log.CreateTopic(e.ctx, kafkaio.TopicSpec{Name: name, Partitions: 1}); err == nil {
			e.Errorf("%q was accepted", name)
		}
	}
}

func createAgain(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	p := e.producer()
	e.write(p, tp, "old")
	e.must(p.Commit(e.ctx))
	e.settled(tp)
	before, err := e.log.Topics(e.ctx, tp.Topic)
	e.must(err)
	e.must(e.log.DeleteTopic(e.ctx, tp.Topic))
	if gone, err := e.log.Topics(e.ctx, tp.Topic); err != nil || len(gone) != 0 {
		e.Errorf("after the deletion: %v, %v", gone, err)
	}
	e.must(e.log.CreateTopic(e.ctx, kafkaio.TopicSpec{Name: tp.Topic, Partitions: 2}))
	after, err := e.log.Topics(e.ctx, tp.Topic)
	e.must(err)
	if after[tp.Topic].ID == before[tp.Topic].ID || after[tp.Topic].Partitions != 2 {
		e.Errorf("before %+v, after %+v", before, after)
	}
	other := e.producer()
	e.write(other, tp, "new")
	e.must(other.Commit(e.ctx))
	e.same("partition", e.readAll(tp, 0), []string{"new"})
}
