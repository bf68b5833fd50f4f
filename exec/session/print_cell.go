package session

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"millrace/planner/catalog"
	"millrace/sql/types"
)

// cell is a record's key or value for PRINT, as the source over its topic
// declares it or the payload says: a number of the format KAFKA as such, a row
// with a schema as JSON, everything else as text. Null is nil.
func (p *printer) cell(payload []byte, format catalog.Format, key bool, columns []catalog.Column) any {
	if payload == nil {
		return nil
	}
	if format.Name == "KAFKA" && len(columns) == 1 {
		switch t := columns[0].Type; {
		case t.Kind == types.KindInteger && len(payload) == 4:
			return int64(int32(binary.BigEndian.Uint32(payload)))
		case t.Kind == types.KindBigint && len(payload) == 8:
			return int64(binary.BigEndian.Uint64(payload))
		case t.Kind == types.KindDouble && len(payload) == 8:
			return string(types.AppendDouble(nil, math.Float64frombits(binary.BigEndian.Uint64(payload))))
		}
	}
	if text, ok := p.schemas.read(payload, format, key, columns); ok {
		return text
	}
	return plainCell(payload)
}

// keyCell is cell for a key, with the window that stands behind it.
func (p *printer) keyCell(key []byte, source *catalog.Source) any {
	w := source.Window
	suffix := 8
	if w != nil && w.Kind == catalog.Session {
		suffix = 16
	}
	if w == nil || len(key) < suffix {
		return p.cell(key, source.KeyFormat, true, source.Key)
	}
	bounds := key[len(key)-suffix:]
	start := int64(binary.BigEndian.Uint64(bounds[suffix-8:]))
	end := start + w.Size
	if w.Kind == catalog.Session {
		end = int64(binary.BigEndian.Uint64(bounds))
	}
	return fmt.Sprintf("%v [%d, %d]", p.cell(key[:len(key)-suffix], source.KeyFormat, true, source.Key), start, end)
}

// plainCell is text as such and other bytes in hexadecimal.
func plainCell(payload []byte) any {
	if readable(payload) {
		return string(payload)
	}
	return "0x" + strings.ToUpper(hex.EncodeToString(payload))
}

func readable(payload []byte) bool {
	if !utf8.Valid(payload) {
		return false
	}
	for _, r := range string(payload) {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
	}
	return true
}
