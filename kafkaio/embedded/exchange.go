package embedded

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// exchange sends one request of a version without flexible fields on a
// connection of its own and reads the response.
func exchange(ctx context.Context, address string, request kmsg.Request) (kmsg.Response, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, request, 1)); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < 4 || size > maxRequestBytes {
		return nil, fmt.Errorf("a response of %d bytes", size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(conn, body); err != nil {
		return nil, err
	}
	response := request.ResponseKind()
	return response, response.ReadFrom(body[4:])
}
