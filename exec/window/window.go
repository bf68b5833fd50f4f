// Package window is the arithmetic of time windows: which windows a timestamp
// belongs to, and when stream time has closed one. It is pure: no state, no
// clock. All times and durations are milliseconds, timestamps since 1970.
package window

import "math"

// Time are windows of one Size that start at every multiple of Advance: TUMBLING
// where both are equal, else HOPPING. A window is [start, start+Size), none
// starts before 0. Size and Advance are positive, Grace is not negative.
type Time struct {
	Size, Advance, Grace int64
}

// First is the start of the earliest window that holds timestamp; ok is false
// if none does: the timestamp is negative, falls between windows of an Advance
// greater than Size, or the window would start beyond the end of time.
func (w Time) First(timestamp int64) (start int64, ok bool) {
	if timestamp < 0 {
		return 0, false
	}
	if timestamp < w.Size {
		return 0, true
	}
	start = (timestamp - w.Size) / w.Advance * w.Advance
	return w.Next(start, timestamp)
}

// Next is the start of the window after the one at start, if it still holds
// timestamp.
func (w Time) Next(start, timestamp int64) (next int64, ok bool) {
	if start > timestamp-w.Advance {
		return 0, false
	}
	return start + w.Advance, true
}

// End is the end of the window that starts at start, exclusive. It saturates at
// the greatest timestamp.
func (w Time) End(start int64) int64 { return saturatedSum(start, w.Size) }

// Closed tells whether the window at start takes no more rows: its end and the
// grace period are not later than streamTime.
func (w Time) Closed(start, streamTime int64) bool {
	end := start + w.Size
	if end < start {
		return false
	}
	return end <= streamTime-w.Grace
}

// CloseTime is the least stream time that closes the window at start. It
// saturates at the greatest timestamp, where Closed decides.
func (w Time) CloseTime(start int64) int64 { return saturatedSum(w.End(start), w.Grace) }

func saturatedSum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
