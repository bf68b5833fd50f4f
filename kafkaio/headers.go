package kafkaio

import "fmt"

// Header is a record's header. A nil value is null.
type Header struct {
	Key   string
	Value []byte
}

// AppendHeaders appends the encoded block of the headers, as a record carries
// it: the count, then keys and values. No headers append nothing.
func AppendHeaders(dst []byte, headers []Header) []byte {
	if len(headers) == 0 {
		return dst
	}
	dst = appendVarint(dst, int64(len(headers)))
	for _, header := range headers {
		dst = appendVarint(dst, int64(len(header.Key)))
		dst = append(dst, header.Key...)
		dst = appendBytes(dst, header.Value)
	}
	return dst
}

// ParseHeaders reads an encoded block; an empty one holds no headers. Values
// point into the block.
func ParseHeaders(block []byte) ([]Header, error) {
	if len(block) == 0 {
		return nil, nil
	}
	count, rest, ok := takeVarint(block)
	if !ok || count < 0 || count > int64(len(rest)/2) {
		return nil, fmt.Errorf("%w: header count in a block of %d bytes", ErrCorrupt, len(block))
	}
	if count == 0 {
		return nil, nil
	}
	headers := make([]Header, count)
	for i := range headers {
		var key []byte
		if key, rest, ok = takeBytes(rest); !ok || key == nil {
			return nil, fmt.Errorf("%w: key of header %d", ErrCorrupt, i)
		}
		headers[i].Key = string(key)
		if headers[i].Value, rest, ok = takeBytes(rest); !ok {
			return nil, fmt.Errorf("%w: value of header %d", ErrCorrupt, i)
		}
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last header", ErrCorrupt, len(rest))
	}
	return headers, nil
}

func takeVarint(encoded []byte) (value int64, rest []byte, ok bool) {
	value, next := varintAt(encoded, 0)
	if next > len(encoded) {
		return 0, nil, false
	}
	return value, encoded[next:], true
}

// takeBytes reads a length and as many bytes; a negative length is null.
func takeBytes(encoded []byte) (value, rest []byte, ok bool) {
	length, encoded, ok := takeVarint(encoded)
	if !ok || length > int64(len(encoded)) {
		return nil, nil, false
	}
	if length < 0 {
		return nil, encoded, true
	}
	return encoded[:length:length], encoded[length:], true
}
