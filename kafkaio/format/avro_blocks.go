package format

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"millrace/exec/column"
)

// block reads the head of a block of an array or map: how many elements follow,
// 0 at the end. Each takes at least as many bytes as given. end is the offset
// behind the block where the writer told it, else -1.
func (d *avroDecoder) block(b []byte, i, least int) (count, end, next int) {
	n, next := zigzag(b, i)
	if next < 0 {
		return 0, -1, d.fail(avroCut)
	}
	end = -1
	if n < 0 {
		n = -n
		size, behind := zigzag(b, next)
		switch {
		case behind < 0 || size > int64(len(b)-behind):
			return 0, -1, d.fail(avroCut)
		case size < 0:
			return 0, -1, d.fail(fmt.Sprintf("a length of %d bytes", size))
		}
		next, end = behind, behind+int(size)
	}
	switch {
	case n < 0 || least > 0 && n > int64(len(b)-next)/int64(least):
		return 0, -1, d.fail(fmt.Sprintf("%d elements cannot be in the %d bytes that are left", uint64(n), len(b)-next))
	case least == 0 && n > int64(d.empty):
		return 0, -1, d.fail(fmt.Sprintf("there are more than %d elements without bytes", maxEmptyElements))
	case least == 0:
		d.empty -= int(n)
	}
	return int(n), end, next
}

func (d *avroDecoder) array(b []byte, i int, v *column.Vector, r *avroReader, row, depth int) int {
	elements := v.Children[0]
	start := elements.Len()
	for {
		count, _, next := d.block(b, i, r.elem.least)
		if next < 0 {
			return -1
		}
		if i = next; count == 0 {
			v.SetSpan(row, start, elements.Len()-start)
			return i
		}
		first := elements.Extend(count)
		for n := range count {
			if i = d.value(b, i, elements, r.elem, first+n, depth+1); i < 0 {
				d.fault.path = "[" + strconv.Itoa(first-start+n+1) + "]" + d.fault.path
				return -1
			}
		}
	}
}

// mapping reads a map, or the array of entries that stands for one.
func (d *avroDecoder) mapping(b []byte, i int, v *column.Vector, r *avroReader, row, depth int) int {
	entries := mapEntries{keys: v.Children[0], values: v.Children[1], start: v.Children[0].Len()}
	least := 1 + r.elem.least
	if r.op == avroReadEntries {
		least = r.key.least + r.elem.least
	}
	for {
		count, _, next := d.block(b, i, least)
		if next < 0 {
			return -1
		}
		if i = next; count == 0 {
			v.SetSpan(row, entries.start, entries.keys.Len()-entries.start)
			return i
		}
		for range count {
			if r.op == avroReadEntries {
				i = d.entry(b, i, &entries, r, depth)
			} else {
				i = d.mapEntry(b, i, &entries, r, depth)
			}
			if i < 0 {
				return -1
			}
		}
	}
}

func (d *avroDecoder) mapEntry(b []byte, i int, entries *mapEntries, r *avroReader, depth int) int {
	text, i := d.bytes(b, i)
	if i < 0 {
		return -1
	}
	key, reason := validKey(text)
	if reason != "" {
		return d.fail(reason)
	}
	if i = d.value(b, i, entries.values, r.elem, entries.at(key), depth+1); i < 0 {
		d.fault.path = "['" + clip(key) + "']" + d.fault.path
	}
	return i
}

func validKey(text []byte) (key, reason string) {
	if !utf8.Valid(text) {
		return "", "the key is not valid UTF-8"
	}
	return column.View(text), ""
}

// entry reads a record of a key and a value. A null key becomes the text null,
// as it does in JSON.
func (d *avroDecoder) entry(b []byte, i int, entries *mapEntries, r *avroReader, depth int) int {
	d.key.Reset(1)
	if i = d.value(b, i, d.key, r.key, 0, depth+1); i < 0 {
		d.fault.path = "['']" + d.fault.path
		return -1
	}
	key := "null"
	if !d.key.Null(0) {
		key = d.key.Texts[0]
	}
	if i = d.value(b, i, entries.values, r.elem, entries.at(key), depth+1); i < 0 {
		d.fault.path = "['" + clip(key) + "']" + d.fault.path
	}
	return i
}

// skip passes over the value at i, inside depth others.
func (d *avroDecoder) skip(b []byte, i int, r *avroReader, depth int) int {
	if r.null >= 0 {
		switch {
		case i < len(b) && b[i] == r.present:
			i++
		case i < len(b) && b[i] == 2-r.present:
			return i + 1
		default:
			return d.skipRareBranch(b, i, r, depth)
		}
	}
	switch r.op {
	case avroSkipNull:
		return i
	case avroSkipVarint:
		_, next := zigzag(b, i)
		if next < 0 {
			return d.fail(avroCut)
		}
		return next
	case avroSkipFixed:
		if r.size > len(b)-i {
			return d.fail(avroCut)
		}
		return i + r.size
	case avroSkipBytes:
		n, start := shortLength(b, i)
		if n >= 0 && n <= len(b)-start {
			return start + n
		}
		_, next := d.bytes(b, i)
		return next
	}
	if depth >= maxAvroDepth {
		return d.fail(avroTooDeep)
	}
	return d.skipNested(b, i, r, depth)
}

func (d *avroDecoder) skipNested(b []byte, i int, r *avroReader, depth int) int {
	switch r.op {
	case avroSkipRecord:
		for k := range r.steps {
			if i = d.skip(b, i, r.steps[k].reader, depth+1); i < 0 {
				d.fault.path = "->" + r.steps[k].name + d.fault.path
				return -1
			}
		}
		return i
	case avroSkipUnion:
		branch, next := zigzag(b, i)
		if next < 0 || branch < 0 || branch >= int64(len(r.steps)) {
			return d.fail(badBranch(branch, next, len(r.steps)))
		}
		return d.skip(b, next, r.steps[branch].reader, depth+1)
	}
	return d.skipBlocks(b, i, r, depth)
}

func (d *avroDecoder) skipRareBranch(b []byte, i int, r *avroReader, depth int) int {
	branch, next := zigzag(b, i)
	switch {
	case next < 0 || branch != 0 && branch != 1:
		return d.fail(badBranch(branch, next, 2))
	case int(branch) == r.null:
		return next
	}
	bare := *r
	bare.null = -1
	return d.skip(b, next, &bare, depth)
}

func (d *avroDecoder) skipBlocks(b []byte, i int, r *avroReader, depth int) int {
	least := r.elem.least
	if r.keyed {
		least++
	}
	for {
		count, end, next := d.block(b, i, least)
		if next < 0 {
			return -1
		}
		if i = next; count == 0 {
			return i
		}
		if end >= 0 {
			i = end
			continue
		}
		for range count {
			if r.keyed {
				if _, i = d.bytes(b, i); i < 0 {
					return -1
				}
			}
			if i = d.skip(b, i, r.elem, depth+1); i < 0 {
				return -1
			}
		}
	}
}
