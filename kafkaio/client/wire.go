package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/segmentio/kafka-go/protocol"
)

type readWriter = io.ReadWriter

// maxAnswer bounds what a broker can make us allocate.
const maxAnswer = 256 << 20

// encoder writes the protocol's primitive types. Flexible versions of the
// messages have compact lengths and tagged fields.
type encoder struct {
	buf         []byte
	flexible    bool
	correlation int32
}

// begin writes the header of a request; finish completes its length.
func (e *encoder) begin(key protocol.ApiKey, version int16, flexible bool, clientID string) {
	e.buf = append(e.buf[:0], 0, 0, 0, 0)
	e.flexible = flexible
	e.correlation = correlation.Add(1)
	e.int16(int16(key))
	e.int16(version)
	e.int32(e.correlation)
	e.int16(int16(len(clientID))) // not compact in any version
	e.buf = append(e.buf, clientID...)
	e.tags()
}

// finish sets the request's length, where extra bytes follow the buffer.
func (e *encoder) finish(extra int) []byte {
	binary.BigEndian.PutUint32(e.buf, uint32(len(e.buf)-4+extra))
	return e.buf
}

func (e *encoder) int8(v int8)   { e.buf = append(e.buf, byte(v)) }
func (e *encoder) int16(v int16) { e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(v)) }
func (e *encoder) int32(v int32) { e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(v)) }
func (e *encoder) int64(v int64) { e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(v)) }

func (e *encoder) bool(v bool) {
	if v {
		e.int8(1)
	} else {
		e.int8(0)
	}
}

func (e *encoder) string(v string) {
	if e.flexible {
		e.buf = binary.AppendUvarint(e.buf, uint64(len(v))+1)
	} else {
		e.int16(int16(len(v)))
	}
	e.buf = append(e.buf, v...)
}

func (e *encoder) array(length int) {
	if e.flexible {
		e.buf = binary.AppendUvarint(e.buf, uint64(length)+1)
	} else {
		e.int32(int32(length))
	}
}

func (e *encoder) nullArray() {
	if e.flexible {
		e.int8(0)
	} else {
		e.int32(-1)
	}
}

// tags ends a structure of a flexible version.
func (e *encoder) tags() {
	if e.flexible {
		e.int8(0)
	}
}

var errShortAnswer = errors.New("the answer is too short")

// decoder reads the protocol's primitive types. The first fault sticks in err
// and everything read after it is zero.
type decoder struct {
	buf      []byte
	flexible bool
	err      error
}

func (d *decoder) fail() {
	d.err = errShortAnswer
	d.buf = nil
}

// take gives the next bytes without copying them, nil if there are not enough.
func (d *decoder) take(length int) []byte {
	if length < 0 || length > len(d.buf) {
		d.fail()
		return nil
	}
	taken := d.buf[:length:length]
	d.buf = d.buf[length:]
	return taken
}

func (d *decoder) int8() int8 {
	if taken := d.take(1); taken != nil {
		return int8(taken[0])
	}
	return 0
}

func (d *decoder) int16() int16 {
	if taken := d.take(2); taken != nil {
		return int16(binary.BigEndian.Uint16(taken))
	}
	return 0
}

func (d *decoder) int32() int32 {
	if taken := d.take(4); taken != nil {
		return int32(binary.BigEndian.Uint32(taken))
	}
	return 0
}

func (d *decoder) int64() int64 {
	if taken := d.take(8); taken != nil {
		return int64(binary.BigEndian.Uint64(taken))
	}
	return 0
}

func (d *decoder) uvarint() int {
	value, length := binary.Uvarint(d.buf)
	if length <= 0 || value > maxAnswer {
		d.fail()
		return 0
	}
	d.buf = d.buf[length:]
	return int(value)
}

// raw reads a string as the bytes of the buffer; null is nil.
func (d *decoder) raw() []byte {
	length := 0
	if d.flexible {
		length = d.uvarint() - 1
	} else {
		length = int(d.int16())
	}
	if d.err != nil || length < 0 {
		return nil
	}
	return d.take(length)
}

func (d *decoder) string() string { return string(d.raw()) }

// bytes reads a field of bytes in the classic form; null is nil.
func (d *decoder) bytes() []byte {
	length := d.int32()
	if d.err != nil || length < 0 {
		return nil
	}
	return d.take(int(length))
}

// array reads a length; null is 0. A length that the rest of the answer cannot
// hold is a fault, so that nobody allocates by it.
func (d *decoder) array() int {
	length := 0
	if d.flexible {
		length = d.uvarint() - 1
	} else {
		length = int(d.int32())
	}
	if d.err != nil || length < 0 {
		return 0
	}
	if length > len(d.buf) {
		d.fail()
		return 0
	}
	return length
}

// tags skips a structure's tagged fields in a flexible version.
func (d *decoder) tags() {
	if !d.flexible {
		return
	}
	for range d.uvarint() {
		d.uvarint()
		d.take(d.uvarint())
		if d.err != nil {
			return
		}
	}
}

// readAnswer reads one answer into buf, growing it when needed, and returns
// what follows the correlation id.
func readAnswer(r io.Reader, correlation int32, buf []byte) (body []byte, err error) {
	var header [8]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return buf, err
	}
	length := int64(int32(binary.BigEndian.Uint32(header[:]))) - 4
	if got := int32(binary.BigEndian.Uint32(header[4:])); got != correlation {
		return buf, fmt.Errorf("answer %d where %d was expected", got, correlation)
	}
	if length < 0 || length > maxAnswer {
		return buf, fmt.Errorf("answer of %d bytes", length)
	}
	buf = slices.Grow(buf[:0], int(length))[:length]
	_, err = io.ReadFull(r, buf)
	return buf, err
}

// rawMessage is a request that kafka-go does not know, or not in the version
// that is needed.
type rawMessage struct {
	key      protocol.ApiKey
	version  int16
	flexible bool
	clientID string
	encode   func(*encoder)
	decode   func(*decoder)
}

// ApiKey implements protocol.Message.
func (m *rawMessage) ApiKey() protocol.ApiKey { return m.key }

// Required implements protocol.RawExchanger.
func (m *rawMessage) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements protocol.RawExchanger.
func (m *rawMessage) RawExchange(rw readWriter) (protocol.Message, error) {
	var e encoder
	e.begin(m.key, m.version, m.flexible, m.clientID)
	m.encode(&e)
	if _, err := rw.Write(e.finish(0)); err != nil {
		return nil, err
	}
	body, err := readAnswer(rw, e.correlation, nil)
	if err != nil {
		return nil, err
	}
	d := &decoder{buf: body, flexible: m.flexible}
	d.tags()
	m.decode(d)
	if d.err != nil {
		return nil, fmt.Errorf("%v: %w", m.key, d.err)
	}
	return m, nil
}
