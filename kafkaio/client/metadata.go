package client

import (
	"net"
	"strconv"

	"github.com/segmentio/kafka-go/protocol"
)

// metadataAnswer is the part of a Metadata answer that is used.
type metadataAnswer struct {
	brokers    map[int32]string // host:port
	controller int32
	topics     map[string]*topicLayout
}

// metadataRequest asks for the named topics, all with nil; the answer is
// filled by the exchange.
func (c *Client) metadataRequest(version int16, names []string) (*rawMessage, *metadataAnswer) {
	answer := &metadataAnswer{}
	return &rawMessage{
		key: protocol.Metadata, version: version, flexible: version >= flexibleMetadata, clientID: c.options.ClientID,
		encode: func(e *encoder) { encodeMetadata(e, version, names) },
		decode: func(d *decoder) { answer.decode(d, version) },
	}, answer
}

func encodeMetadata(e *encoder, version int16, names []string) {
	if names == nil {
		e.nullArray()
	} else {
		e.array(len(names))
	}
	for _, name := range names {
		if version >= topicIDMetadata {
			e.int64(0) // no topic id: look for the name
			e.int64(0)
		}
		e.string(name)
		e.tags()
	}
	e.bool(false) // do not create topics
	if version <= topicIDMetadata {
		e.bool(false) // no access rights of the cluster
	}
	e.bool(false) // no access rights of the topics
	e.tags()
}

func (a *metadataAnswer) decode(d *decoder, version int16) {
	d.int32() // throttle time
	a.brokers = make(map[int32]string)
	for range d.array() {
		id := d.int32()
		host := d.string()
		port := d.int32()
		d.raw() // rack
		d.tags()
		a.brokers[id] = net.JoinHostPort(host, strconv.Itoa(int(port)))
	}
	d.raw() // cluster id
	a.controller = d.int32()
	a.topics = make(map[string]*topicLayout)
	for range d.array() {
		topic := &topicLayout{code: d.int16()}
		name := d.string()
		if version >= topicIDMetadata {
			copy(topic.id[:], d.take(len(topic.id)))
		}
		topic.internal = d.int8() != 0
		topic.decodePartitions(d)
		d.int32() // access rights
		d.tags()
		if d.err != nil {
			return
		}
		a.topics[name] = topic
	}
	if version <= topicIDMetadata {
		d.int32() // access rights
	}
	d.tags()
}

func (t *topicLayout) decodePartitions(d *decoder) {
	count := d.array()
	t.leaders = make([]int32, count)
	for i := range t.leaders {
		t.leaders[i] = -1
	}
	for range count {
		code := d.int16()
		partition := d.int32()
		leader := d.int32()
		d.int32() // leader epoch
		replicas := d.array()
		d.take(4 * replicas)
		for range 2 { // in sync, offline
			d.take(4 * d.array())
		}
		d.tags()
		t.replicas = max(t.replicas, replicas)
		if partition >= 0 && int(partition) < count && (code == 0 || code == 9) {
			t.leaders[partition] = leader
		}
	}
}
