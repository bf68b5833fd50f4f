package window

// Sliding are windows of one Size whose both ends belong to them: [start,
// start+Size]. They are where the rows of a group are, as in Kafka Streams: a
// row at t makes the window that ends with it, [t-Size, t], and the one that
// begins behind it, [t+1, t+1+Size], as soon as that holds a row. None starts
// before 0: rows before Size make [0, Size] in place of the window that would
// end with them. Size is positive, Grace is not negative.
type Sliding struct {
	Size, Grace int64
}

// Left is the start of the window that a row at timestamp, not negative, makes
// for itself and the rows before it.
func (w Sliding) Left(timestamp int64) int64 { return max(timestamp-w.Size, 0) }

// Early tells whether the window that ends with a row at timestamp would start
// before 0.
func (w Sliding) Early(timestamp int64) bool { return timestamp < w.Size }

// End is the end of the window that starts at start, inclusive. It saturates at
// the greatest timestamp.
func (w Sliding) End(start int64) int64 { return saturatedSum(start, w.Size) }

// Closed tells whether the window at start changes no more: streamTime has
// passed its end and the grace period. A row is late for all windows when the
// one that starts with it is closed.
func (w Sliding) Closed(start, streamTime int64) bool {
	return saturatedSum(w.End(start), w.Grace) < streamTime
}

// Forgotten tells whether no row that can still come needs the window at start:
// closed windows are looked at by rows up to Size+1 later, for what rows there
// were before them.
func (w Sliding) Forgotten(start, streamTime int64) bool {
	return saturatedSum(saturatedSum(w.End(start), w.Grace), saturatedSum(w.Size, 1)) < streamTime
}
