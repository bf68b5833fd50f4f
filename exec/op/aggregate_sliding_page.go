package op

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"millrace/exec/window"
	"millrace/state"
)

// slidingPages is how the windows of sliding aggregations are spread over a
// store. A page is a row with all windows of one group whose starts lie in one
// interval, just long enough that the windows which a row looks at are in two
// pages at most. Pages are kept in the tables of segments, intervals of whole
// pages, so that windows are forgotten by dropping tables: about a sixteenth
// later than they could be, and never more than some twenty tables.
type slidingPages struct {
	page, segment int64 // lengths in ms
}

// slidingLayout is that of the stores of sliding aggregations: all of a page is
// in the variable part of its row.
var slidingLayout = state.Layout{}

// slidingSegments is into how many segments the time is cut for which windows
// are kept.
const slidingSegments = 16

func newSlidingPages(w window.Sliding) slidingPages {
	// A row at t looks at the starts from t-2*Size to t+1.
	const most = math.MaxInt64 / 8
	p := slidingPages{page: math.MaxInt64}
	if w.Size < most {
		p.page = 2*w.Size + 1
	}
	p.segment = p.page
	if w.Size < most && w.Grace < most {
		p.segment *= max((p.page+w.Grace)/p.page/slidingSegments, 1)
	}
	return p
}

// number is the number of the page that holds the window at start.
func (p slidingPages) number(start int64) int64 { return start / p.page }

// table is the start of the segment that holds the window at start.
func (p slidingPages) table(start int64) int64 { return start / p.segment * p.segment }

// last is the greatest start in the segment at start.
func (p slidingPages) last(start int64) int64 {
	if start > math.MaxInt64-p.segment {
		return math.MaxInt64
	}
	return start + p.segment - 1
}

const pageNumberBytes = 8

// appendPageNumber ends the key of a page's row, behind the group.
func appendPageNumber(dst []byte, number int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(number))
}

func pageNumber(key []byte) int64 {
	return int64(binary.BigEndian.Uint64(key[len(key)-pageNumberBytes:]))
}

// A page's content is its windows by their start, each
//
//	start (8 bytes) | timestamp (8 bytes) | cells | variable part
//
// with numbers little endian, cells and variable part as groupState has them.
// The timestamp is that of the newest row.
const slidingHeader = 16

// slidingWindow is a view of a window in a page. Nil is no window.
type slidingWindow []byte

func (w slidingWindow) start() int64 { return int64(binary.LittleEndian.Uint64(w)) }
func (w slidingWindow) time() int64  { return int64(binary.LittleEndian.Uint64(w[8:])) }

func appendSlidingHeader(dst []byte, start, time int64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(start))
	return binary.LittleEndian.AppendUint64(dst, uint64(time))
}

func (g *groupState) slidingCells(w slidingWindow) []byte {
	return w[slidingHeader : slidingHeader+g.size : slidingHeader+g.size]
}

func (g *groupState) slidingVariable(w slidingWindow) []byte { return w[slidingHeader+g.size:] }

// slidingAt is the window at an offset of a page.
func (g *groupState) slidingAt(content []byte, at int) slidingWindow {
	end := at + slidingHeader + g.size
	for c := range g.variable {
		end += g.length(content[at+slidingHeader:], c)
	}
	return slidingWindow(content[at:end:end])
}

// checkSliding tells whether content can be taken apart into windows.
func (g *groupState) checkSliding(content []byte) error {
	if len(g.variable) == 0 {
		if len(content)%(slidingHeader+g.size) != 0 {
			return errSlidingPage
		}
		return nil
	}
	for rest := content; len(rest) > 0; {
		end := slidingHeader + g.size
		for c := 0; c < len(g.variable) && end <= len(rest); c++ {
			end += g.length(rest[slidingHeader:], c)
		}
		if end > len(rest) {
			return errSlidingPage
		}
		rest = rest[end:]
	}
	return nil
}

var errSlidingPage = fmt.Errorf("%w: a page of sliding windows", state.ErrCorrupt)

// seekSliding is the offset of the first window of a page that does not start
// before start, and the window before that.
func (g *groupState) seekSliding(content []byte, start int64) (at int, before slidingWindow) {
	if len(g.variable) > 0 {
		for at < len(content) {
			w := g.slidingAt(content, at)
			if w.start() >= start {
				break
			}
			before = w
			at += len(w)
		}
		return at, before
	}
	width := slidingHeader + g.size
	low, high := 0, len(content)/width
	for low < high {
		middle := int(uint(low+high) >> 1)
		if slidingWindow(content[middle*width:]).start() < start {
			low = middle + 1
		} else {
			high = middle
		}
	}
	at = low * width
	if low > 0 {
		before = slidingWindow(content[at-width : at : at])
	}
	return at, before
}

// appendSliding appends a window with the aggregates of base, or of no row if
// that is nil.
func (g *groupState) appendSliding(dst []byte, start, time int64, base slidingWindow) []byte {
	dst = appendSlidingHeader(dst, start, time)
	if base == nil {
		at := len(dst)
		dst = slices.Grow(dst, g.size)[:at+g.size]
		clear(dst[at:])
		return dst
	}
	return append(dst, base[slidingHeader:]...)
}

// appendSlidingRow is appendSliding with row i in the variable calls; that of
// the fixed ones is not added.
func (g *groupState) appendSlidingRow(dst []byte, start, time int64, base slidingWindow, i int32) ([]byte, error) {
	if len(g.variable) == 0 {
		return g.appendSliding(dst, start, time, base), nil
	}
	dst = appendSlidingHeader(dst, start, time)
	cells := len(dst)
	var rest []byte
	dst = slices.Grow(dst, g.size)[:cells+g.size]
	if base == nil {
		clear(dst[cells:])
	} else {
		copy(dst[cells:], g.slidingCells(base))
		rest = g.slidingVariable(base)
	}
	for c := range g.variable {
		call := &g.variable[c]
		n := g.length(dst[cells:], c)
		part := rest[:n:n]
		rest = rest[n:]
		next, changed, err := call.Add(g.next[:0], part, call.after, int(i))
		if err != nil {
			return dst, fmt.Errorf("%s: %w", call.name, err)
		}
		g.next = next
		if changed {
			part = next
		}
		dst = append(dst, part...)
		binary.LittleEndian.PutUint32(dst[cells+g.lengths+lengthBytes*c:], uint32(len(part)))
	}
	return dst, nil
}
