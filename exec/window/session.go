package window

import "math"

// Session are sessions: runs of rows of one key that follow each other within
// Gap, inclusive. A session is [start, end] from its first row to its last. Gap
// is positive, Grace is not negative.
type Session struct {
	Gap, Grace int64
}

// Earliest is the least end that a session may have which takes rows at
// streamTime: one that ends before it is closed, one that ends at it is not.
func (s Session) Earliest(streamTime int64) int64 {
	return streamTime - saturatedSum(s.Gap, s.Grace)
}

// Reaches tells whether a row at timestamp joins the session [start, end].
func (s Session) Reaches(start, end, timestamp int64) bool {
	return start <= saturatedSum(timestamp, s.Gap) && timestamp <= saturatedSum(end, s.Gap)
}

// Slots cut time so that at most one session of a key ends in each slot: they
// are Gap + 1 long. Slots are numbered from the one that begins at time 0, and
// put together to tables of equal size.
type Slots struct {
	Width    int64 // of a slot, ms
	PerTable int64 // slots
}

// maxTables is about how many tables hold all sessions of a key that take rows.
const maxTables = 512

// Slots chooses the size of tables: one slot, unless there would be too many.
func (s Session) Slots() Slots {
	width := saturatedSum(s.Gap, 1)
	slots := saturatedSum(s.Gap, s.Grace) / width
	return Slots{Width: width, PerTable: slots/maxTables + 1}
}

// Slot is the number of the slot that a time, not negative, is in.
func (s Slots) Slot(time int64) int64 { return time / s.Width }

// Table is the time at which the table of a slot begins.
func (s Slots) Table(slot int64) int64 { return slot / s.PerTable * s.PerTable * s.Width }

// First is the number of the first slot of the table that begins at a time.
func (s Slots) First(table int64) int64 { return table / s.Width }

// TableEnd is the last time of the table that begins at a time. It saturates at
// the greatest timestamp.
func (s Slots) TableEnd(table int64) int64 {
	if s.PerTable > math.MaxInt64/s.Width {
		return math.MaxInt64
	}
	return saturatedSum(table, s.PerTable*s.Width-1)
}
