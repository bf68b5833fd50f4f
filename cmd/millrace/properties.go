package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"millrace/exec"
	"millrace/kafkaio"
	"millrace/sql/types"
)

// engineProperty puts a property's value into the engine's options, or says
// what it must be.
type engineProperty func(o *exec.Options, value string) (must string)

// engineProperties are the properties that set the engine up. They keep the
// names that Kafka Streams and ksqlDB give them, where those have them.
var engineProperties = map[string]engineProperty{
	"auto.offset.reset": func(o *exec.Options, value string) string {
		o.AutoOffsetReset = value
		return oneOf(value, "earliest", "latest")
	},
	"processing.guarantee": func(_ *exec.Options, value string) string {
		return oneOf(value, "exactly_once_v2")
	},
	"commit.interval.ms": func(o *exec.Options, value string) string {
		return milliseconds(value, &o.CommitInterval)
	},
	"max.task.idle.ms": func(o *exec.Options, value string) string {
		return milliseconds(value, &o.MaxTaskIdle)
	},
	"cache.max.bytes.buffering":  setHoldBack,
	"statestore.cache.max.bytes": setHoldBack,
	"millrace.state.memory.bytes": func(o *exec.Options, value string) string {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return "a number of bytes, or 0 for no bound"
		}
		o.MemoryBudget = n
		return ""
	},
	"num.stream.threads": func(o *exec.Options, value string) string {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 1024 {
			return "a whole number from 1 to 1024"
		}
		o.Workers = n
		return ""
	},
	"compression.type": func(o *exec.Options, value string) string {
		codec, ok := kafkaio.ParseCompression(value)
		if !ok {
			return "none, gzip, snappy, lz4 or zstd"
		}
		o.Compression = codec
		return ""
	},
}

func oneOf(value string, allowed ...string) (must string) {
	if slices.Contains(allowed, value) {
		return ""
	}
	return strings.Join(allowed, " or ")
}

func milliseconds(value string, to *time.Duration) (must string) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 || n > time.Hour.Milliseconds() {
		return "a number of milliseconds up to an hour"
	}
	*to = time.Duration(n) * time.Millisecond
	return ""
}

// setHoldBack takes the size of Kafka Streams' record cache, of which only
// whether there is one counts here.
func setHoldBack(o *exec.Options, value string) (must string) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return "a number of bytes"
	}
	o.HoldBack = n > 0
	return ""
}

// streamsPrefix is what ksqlDB puts before the properties of Kafka Streams.
const streamsPrefix = "ksql.streams."

func engineName(name string) string {
	return strings.TrimPrefix(strings.ToLower(name), streamsPrefix)
}

// enginePart are those of a session's properties that set the engine up, by the
// engine's names.
func enginePart(properties map[string]string) map[string]string {
	part := make(map[string]string)
	for name, value := range properties {
		if _, ok := engineProperties[engineName(name)]; ok {
			part[engineName(name)] = value
		}
	}
	return part
}

// checkProperty refuses a value that a property of the engine cannot have.
func checkProperty(name, value string) error {
	return applyProperty(&exec.Options{}, name, value)
}

func applyProperty(o *exec.Options, name, value string) error {
	set, ok := engineProperties[engineName(name)]
	if !ok {
		return nil
	}
	if must := set(o, value); must != "" {
		return types.Errorf(types.CodeProperty, "property %s must be %s, not '%s'", name, must, value)
	}
	return nil
}

// applyProperties sets the engine up by the properties of a session.
func applyProperties(o *exec.Options, properties map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if err := applyProperty(o, name, properties[name]); err != nil {
			return err
		}
	}
	return nil
}
