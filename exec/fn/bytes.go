package fn

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"

	"millrace/exec/column"
)

var bytesFunctions = []*Function{
	{
		Name: "INT_FROM_BYTES", Doc: "Reads 4 bytes as an INTEGER, big-endian unless LITTLE_ENDIAN is asked for.",
		Overloads: []*Overload{{Signature: "(BYTES[, STRING]) INTEGER", Row: func(c *Call, i int) error {
			order, err := c.byteOrder(i, 4)
			if err == nil {
				c.Out.SetInt(i, int64(int32(order.Uint32(column.Bytes(c.text(0, i))))))
			}
			return err
		}}},
	},
	{
		Name: "BIGINT_FROM_BYTES", Doc: "Reads 8 bytes as a BIGINT, big-endian unless LITTLE_ENDIAN is asked for.",
		Overloads: []*Overload{{Signature: "(BYTES[, STRING]) BIGINT", Row: func(c *Call, i int) error {
			order, err := c.byteOrder(i, 8)
			if err == nil {
				c.Out.SetInt(i, int64(order.Uint64(column.Bytes(c.text(0, i)))))
			}
			return err
		}}},
	},
	{
		Name: "DOUBLE_FROM_BYTES", Doc: "Reads 8 bytes as a DOUBLE, big-endian unless LITTLE_ENDIAN is asked for.",
		Overloads: []*Overload{{Signature: "(BYTES[, STRING]) DOUBLE", Row: func(c *Call, i int) error {
			order, err := c.byteOrder(i, 8)
			if err == nil {
				c.Out.SetDouble(i, math.Float64frombits(order.Uint64(column.Bytes(c.text(0, i)))))
			}
			return err
		}}},
	},
	{
		Name: "TO_BYTES", Doc: "Reads a text of an encoding, hex, utf8, ascii or base64, into bytes.",
		Overloads: []*Overload{{Signature: "(STRING, STRING) BYTES", Row: func(c *Call, i int) error {
			b, err := decodeText(c.text(0, i), strings.ToLower(c.text(1, i)))
			if err == nil {
				c.keep(i, b)
			}
			return err
		}}},
	},
	{
		Name: "FROM_BYTES", Doc: "Writes bytes as a text of an encoding, hex, utf8, ascii or base64.",
		Overloads: []*Overload{{Signature: "(BYTES, STRING) STRING", Row: func(c *Call, i int) error {
			text, err := encodeText(column.Bytes(c.text(0, i)), strings.ToLower(c.text(1, i)))
			if err == nil {
				c.keep(i, []byte(text))
			}
			return err
		}}},
	},
	{
		Name: "ENCODE", Doc: "Converts a text from one encoding to another of hex, utf8, ascii and base64.",
		Overloads: []*Overload{{Signature: "(STRING, STRING, STRING) STRING", Row: encode}},
	},
}

var (
	errByteOrder  = errors.New("the byte order has to be BIG_ENDIAN or LITTLE_ENDIAN")
	errByteLength = errors.New("wrong number of bytes")
	errEncoding   = errors.New("the encodings are hex, utf8, ascii and base64")
)

func (c *Call) byteOrder(i, size int) (binary.ByteOrder, error) {
	if n := len(c.text(0, i)); n != size {
		return nil, fmt.Errorf("%d instead of %d: %w", n, size, errByteLength)
	}
	switch strings.ToUpper(c.optional(1, i, "BIG_ENDIAN")) {
	case "BIG_ENDIAN":
		return binary.BigEndian, nil
	case "LITTLE_ENDIAN":
		return binary.LittleEndian, nil
	}
	return nil, errByteOrder
}

func decodeText(text, encoding string) ([]byte, error) {
	switch encoding {
	case "hex":
		return decodeHex(text)
	case "utf8":
		return []byte(text), nil
	case "ascii":
		return []byte(questionMarks(text)), nil
	case "base64":
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("'%s' is no base64: %w", text, err)
		}
		return b, nil
	}
	return nil, fmt.Errorf("'%s': %w", encoding, errEncoding)
}

func decodeHex(text string) ([]byte, error) {
	digits := text
	if cut, ok := strings.CutPrefix(text, "0x"); ok {
		digits = cut
	} else if cut, ok := strings.CutPrefix(text, "X'"); ok {
		digits = strings.TrimSuffix(cut, "'")
	}
	if len(digits)%2 != 0 {
		digits = "0" + digits
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil, fmt.Errorf("'%s' is no hex: %w", text, err)
	}
	return b, nil
}

func encodeText(b []byte, encoding string) (string, error) {
	switch encoding {
	case "hex":
		return strings.ToUpper(hex.EncodeToString(b)), nil
	case "utf8":
		return strings.ToValidUTF8(string(b), "�"), nil
	case "ascii":
		return asciiText(b), nil
	case "base64":
		return base64.StdEncoding.EncodeToString(b), nil
	}
	return "", fmt.Errorf("'%s': %w", encoding, errEncoding)
}

// questionMarks puts a question mark for every character beyond ASCII.
func questionMarks(text string) string {
	if ascii(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '?'
		}
		return r
	}, text)
}

// asciiText makes every byte beyond ASCII a replacement character.
func asciiText(b []byte) string {
	var text strings.Builder
	for _, c := range b {
		if c < 0x80 {
			text.WriteByte(c)
		} else {
			text.WriteRune('�')
		}
	}
	return text.String()
}

func encode(c *Call, i int) error {
	from, to := strings.ToLower(c.text(1, i)), strings.ToLower(c.text(2, i))
	if from == to {
		return fmt.Errorf("from %s to %s: %w", from, to, errEncoding)
	}
	b, err := decodeText(c.text(0, i), from)
	if err != nil {
		return err
	}
	text, err := encodeText(b, to)
	if err != nil {
		return err
	}
	if to == "hex" {
		text = strings.ToLower(text)
	}
	c.keep(i, []byte(text))
	return nil
}
