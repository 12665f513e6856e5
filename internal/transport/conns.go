package transport

import (
	"io"
	"net"
	"sync"
)

type conns struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// False means that the endpoint is closed.
func (c *conns) add(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.open[conn] = struct{}{}
	}
	return !c.closed
}

func (c *conns) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

// Further connections are refused.
func (c *conns) close() {
	c.mu.Lock()
	c.closed = true
	open := c.open
	c.open = nil
	c.mu.Unlock()
	for conn := range open {
		discard(conn)
	}
}

// Its errors do not matter any more: everything important has been acknowledged, or is lost
// whatever Close returns.
func discard(conn io.Closer) { _ = conn.Close() }
