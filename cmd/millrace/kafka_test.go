package main

import (
	"strings"
	"testing"

	"millrace/tests/kafka"
)

// TestQuickStartOnApacheKafka: the same script gives the same table on a real
// cluster.
func TestQuickStartOnApacheKafka(t *testing.T) {
	broker, ok := kafka.StartOwn(t)
	if !ok {
		t.Log("no Apache Kafka is at hand")
		return
	}
	flags := []string{"--brokers", strings.Join(broker.Addresses(), ","), "--until-end"}
	runQuickStart(t, flags...)
}
