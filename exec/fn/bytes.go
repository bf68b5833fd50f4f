package fn

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

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
			b, err := decodeText(c.begin(), c.text(0, i), c.text(1, i))
			if err == nil {
				c.end(i, b)
			}
			return err
		}}},
	},
	{
		Name: "FROM_BYTES", Doc: "Writes bytes as a text of an encoding, hex, utf8, ascii or base64.",
		Overloads: []*Overload{{Signature: "(BYTES, STRING) STRING", Row: func(c *Call, i int) error {
			text, err := encodeText(c.begin(), column.Bytes(c.text(0, i)), c.text(1, i))
			if err == nil {
				c.end(i, text)
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
	switch order := c.optional(1, i, "BIG_ENDIAN"); {
	case isWord(order, "BIG_ENDIAN"):
		return binary.BigEndian, nil
	case isWord(order, "LITTLE_ENDIAN"):
		return binary.LittleEndian, nil
	}
	return nil, errByteOrder
}

// decodeText appends the bytes that a text of an encoding stands for.
func decodeText(dst []byte, text, encoding string) ([]byte, error) {
	switch {
	case isWord(encoding, "HEX"):
		return decodeHex(dst, text)
	case isWord(encoding, "UTF8"):
		return append(dst, text...), nil
	case isWord(encoding, "ASCII"):
		return appendASCII(dst, text), nil
	case isWord(encoding, "BASE64"):
		b, err := base64.StdEncoding.AppendDecode(dst, column.Bytes(text))
		if err != nil {
			return nil, fmt.Errorf("'%s' is no base64: %w", text, err)
		}
		return b, nil
	}
	return nil, fmt.Errorf("'%s': %w", encoding, errEncoding)
}

// decodeHex reads hexadecimal digits, also of the forms 0x.. and X'..'; an odd
// number of them has a zero before it.
func decodeHex(dst []byte, text string) ([]byte, error) {
	digits := text
	if cut, ok := strings.CutPrefix(text, "0x"); ok {
		digits = cut
	} else if cut, ok := strings.CutPrefix(text, "X'"); ok {
		digits = strings.TrimSuffix(cut, "'")
	}
	if len(digits)%2 != 0 {
		pair := [2]byte{'0', digits[0]}
		var err error
		if dst, err = hex.AppendDecode(dst, pair[:]); err != nil {
			return nil, fmt.Errorf("'%s' is no hex: %w", text, err)
		}
		digits = digits[1:]
	}
	b, err := hex.AppendDecode(dst, column.Bytes(digits))
	if err != nil {
		return nil, fmt.Errorf("'%s' is no hex: %w", text, err)
	}
	return b, nil
}

// encodeText appends the text of an encoding that stands for bytes.
func encodeText(dst, b []byte, encoding string) ([]byte, error) {
	switch {
	case isWord(encoding, "HEX"):
		return appendHex(dst, b, "0123456789ABCDEF"), nil
	case isWord(encoding, "UTF8"):
		return appendValid(dst, b), nil
	case isWord(encoding, "ASCII"):
		return appendReplaced(dst, b), nil
	case isWord(encoding, "BASE64"):
		return base64.StdEncoding.AppendEncode(dst, b), nil
	}
	return nil, fmt.Errorf("'%s': %w", encoding, errEncoding)
}

func appendHex(dst, b []byte, digits string) []byte {
	for _, c := range b {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}

// appendASCII puts a question mark for every character beyond ASCII.
func appendASCII(dst []byte, text string) []byte {
	for _, r := range text {
		if r >= utf8.RuneSelf {
			r = '?'
		}
		dst = append(dst, byte(r))
	}
	return dst
}

const replacement = "\uFFFD"

// appendValid makes every run of bytes that are no UTF-8 a replacement character.
func appendValid(dst, b []byte) []byte {
	broken := false
	for len(b) > 0 {
		r, width := utf8.DecodeRune(b)
		if r == utf8.RuneError && width == 1 {
			if !broken {
				dst = append(dst, replacement...)
			}
			broken = true
		} else {
			dst = append(dst, b[:width]...)
			broken = false
		}
		b = b[width:]
	}
	return dst
}

// appendReplaced makes every byte beyond ASCII a replacement character.
func appendReplaced(dst, b []byte) []byte {
	for _, c := range b {
		if c < utf8.RuneSelf {
			dst = append(dst, c)
		} else {
			dst = append(dst, replacement...)
		}
	}
	return dst
}

// encode writes hex digits in lower case, unlike FROM_BYTES.
func encode(c *Call, i int) error {
	from, to := c.text(1, i), c.text(2, i)
	if strings.EqualFold(from, to) {
		return fmt.Errorf("from %s to %s: %w", from, to, errEncoding)
	}
	b, err := decodeText(c.begin(), c.text(0, i), from)
	if err != nil {
		return err
	}
	// The text goes behind the bytes in the same buffer.
	size := len(b)
	if isWord(to, "HEX") {
		b = appendHex(b, b, "0123456789abcdef")
	} else if b, err = encodeText(b, b, to); err != nil {
		return err
	}
	c.scratch.text = b
	c.Out.SetText(i, c.Arena.Copy(column.View(b[size:])))
	return nil
}
