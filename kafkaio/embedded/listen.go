package embedded

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Ports that we choose lie below 32768, where systems begin to hand out ports
// for outgoing connections: such a connection could take the port of a stopped
// broker.
const (
	firstPort = 20000
	lastPort  = 32767

	portTries    = 1000
	portPatience = 500 * time.Millisecond // while a former holder's process ends
)

// listen opens the broker's port: the one asked for, else the one that the
// folder remembers, else a free one, which the folder then remembers.
func listen(ctx context.Context, dir string, port int) (*gate, error) {
	if port != 0 {
		listener, err := listenPatiently(ctx, port)
		if err != nil {
			return nil, fmt.Errorf("listen on port %d: %w", port, err)
		}
		return newGate(listener), nil
	}
	memory := filepath.Join(dir, portName)
	if remembered := rememberedPort(memory); remembered != 0 {
		if listener, err := listenPatiently(ctx, remembered); err == nil {
			return newGate(listener), nil
		}
	}
	listener, err := listenAnywhere(dir)
	if err != nil {
		return nil, err
	}
	chosen := listener.Addr().(*net.TCPAddr).Port
	if err := os.WriteFile(memory, []byte(strconv.Itoa(chosen)+"\n"), 0o644); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("remember the port: %w", err)
	}
	return newGate(listener), nil
}

func rememberedPort(path string) int {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || port < 1 || port > 65535 {
		return 0
	}
	return port
}

func listenPatiently(ctx context.Context, port int) (net.Listener, error) {
	for end := time.Now().Add(portPatience); ; {
		listener, err := listenOn(port)
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(end) {
			return listener, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// listenAnywhere walks from a port that the folder's name decides, so that
// brokers of several folders do not try the same ones.
func listenAnywhere(dir string) (net.Listener, error) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(dir))
	const span = lastPort - firstPort + 1
	start := int(hash.Sum32() % span)
	var last error
	for i := range portTries {
		listener, err := listenOn(firstPort + (start+i)%span)
		if err == nil {
			return listener, nil
		}
		last = err
	}
	return nil, fmt.Errorf("find a free port in %d..%d: %w", firstPort, lastPort, last)
}

func listenOn(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// gate is a listener that accepts nobody before it is opened: kfake listens
// from its first moment, before the control function is in place.
type gate struct {
	net.Listener
	opened, closed chan struct{}
	openOnce       sync.Once
	closeOnce      sync.Once
}

func newGate(listener net.Listener) *gate {
	return &gate{Listener: listener, opened: make(chan struct{}), closed: make(chan struct{})}
}

func (g *gate) open() { g.openOnce.Do(func() { close(g.opened) }) }

func (g *gate) Accept() (net.Conn, error) {
	select {
	case <-g.opened:
	case <-g.closed:
		return nil, net.ErrClosed
	}
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &guardedConn{Conn: conn}, nil
}

func (g *gate) Close() (err error) {
	g.closeOnce.Do(func() {
		close(g.closed)
		err = g.Listener.Close()
	})
	return err
}
