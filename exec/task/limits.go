package task

import (
	"fmt"
	"math"
	"strconv"

	"millrace/kafkaio"
)

// SinkLimits is what a topic that others made takes. A broker refuses a whole
// batch for one record beyond them, and with it the transaction: such a record
// is left out and reported before it is sent. Zero means no limit.
type SinkLimits struct {
	Bytes  int   // of an uncompressed record, by max.message.bytes
	Future int64 // message.timestamp.after.max.ms
}

// batchOverhead is what a batch adds to its only record.
const batchOverhead = 61

// limitsOf reads them from a topic's configuration.
func limitsOf(config map[string]string) SinkLimits {
	var limits SinkLimits
	if n, err := strconv.Atoi(config["max.message.bytes"]); err == nil {
		limits.Bytes = max(n-batchOverhead, 1)
	}
	if n, err := strconv.ParseInt(config[anyFuture], 10, 64); err == nil && n < math.MaxInt64/2 {
		limits.Future = n
	}
	return limits
}

// refuses says why the topic would not take a record, or nothing. now is in ms.
func (l SinkLimits) refuses(timestamp int64, key, value, headers []byte, now func() int64) string {
	if l.Bytes > 0 {
		if size := kafkaio.RecordSize(key, value, headers); size > l.Bytes {
			return fmt.Sprintf("the record has %d bytes, the topic takes %d (max.message.bytes)", size+batchOverhead, l.Bytes+batchOverhead)
		}
	}
	if l.Future > 0 && timestamp-l.Future > now() {
		return fmt.Sprintf("the timestamp %d lies too far in the future for the topic (%s is %d)", timestamp, anyFuture, l.Future)
	}
	return ""
}
