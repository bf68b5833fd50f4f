package embedded

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxRequestBytes is Kafka's default of socket.request.max.bytes.
const maxRequestBytes = 100 << 20

// guardedConn ends a connection whose bytes are no Kafka request: kfake
// allocates whatever length a frame claims, and fails on unknown API keys.
// One goroutine reads it at a time.
type guardedConn struct {
	net.Conn
	head    [6]byte // frame length and API key
	pending []byte  // of head, not yet handed on
	rest    int     // bytes of the frame behind head
}

func (c *guardedConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(c.pending) == 0 && c.rest == 0 {
		if err := c.readHead(); err != nil {
			return 0, err
		}
	}
	if len(c.pending) > 0 {
		n := copy(p, c.pending)
		c.pending = c.pending[n:]
		return n, nil
	}
	n, err := c.Conn.Read(p[:min(len(p), c.rest)])
	c.rest -= n
	return n, err
}

func (c *guardedConn) readHead() error {
	if _, err := io.ReadFull(c.Conn, c.head[:]); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(c.head[:])
	key := int16(binary.BigEndian.Uint16(c.head[4:]))
	if length < 2 || length > maxRequestBytes {
		return fmt.Errorf("request of %d bytes from %s", length, c.RemoteAddr())
	}
	if kmsg.RequestForKey(key) == nil {
		return fmt.Errorf("unknown API key %d from %s", key, c.RemoteAddr())
	}
	c.pending, c.rest = c.head[:], int(length)-2
	return nil
}
