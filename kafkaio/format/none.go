package format

import (
	"millrace/exec/column"
	"millrace/sql/types"
)

// noneFormat is the format of a side without columns: its bytes are not read,
// and null is written.
type noneFormat struct{}

func (noneFormat) Check(spec Spec, key bool, fields []Field) error {
	if len(fields) > 0 {
		return types.Errorf(typeCode(key), "the NONE format takes no columns, but column %s is given",
			types.QuoteName(fields[0].Name)).WithHint("choose another %s", property(key))
	}
	return checkNoDelimiter(spec, key)
}

func (noneFormat) Wraps() bool { return false }

func (noneFormat) NewDecoder(Spec, []Field, []bool) Decoder { return noneFormat{} }

func (noneFormat) NewEncoder(Spec, []Field) Encoder { return noneFormat{} }

func (noneFormat) Decode([][]byte, []int32, []*column.Vector, *column.Arena, func(int32, error)) {}

func (noneFormat) Append(dst []byte, _ []*column.Vector, _ int) ([]byte, bool, error) {
	return dst, true, nil
}
