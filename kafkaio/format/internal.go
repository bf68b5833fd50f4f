package format

import (
	"fmt"

	"millrace/exec/column"
	"millrace/sql/types"
)

// internalFormat is the row form of column.AppendRow. It holds every type as
// it is, so rows between two parts of a query cross a topic unchanged.
type internalFormat struct{}

func (internalFormat) Check(spec Spec, key bool, fields []Field) error {
	if err := checkKeyMaps(key, fields); err != nil {
		return err
	}
	return checkNoDelimiter(spec, key)
}

func (internalFormat) Wraps() bool { return false }

func (internalFormat) NewDecoder(_ Spec, fields []Field, _ []bool) Decoder {
	d := &internalDecoder{}
	for _, field := range fields {
		d.types = append(d.types, field.Type)
	}
	return d
}

func (internalFormat) NewEncoder(Spec, []Field) Encoder { return internalEncoder{} }

type internalDecoder struct{ types []*types.Type }

func (d *internalDecoder) Decode(
	payloads [][]byte, rows []int32, out []*column.Vector, _ *column.Arena, bad func(int32, error),
) {
	for _, row := range rows {
		if err := column.DecodeRow(payloads[row], out, d.types, int(row)); err != nil {
			bad(row, &RecordError{Reason: fmt.Sprintf("%v of %d bytes", err, len(payloads[row]))})
		}
	}
}

type internalEncoder struct{}

func (internalEncoder) Append(dst []byte, columns []*column.Vector, i int) ([]byte, bool, error) {
	return column.AppendRow(dst, columns, i), false, nil
}
