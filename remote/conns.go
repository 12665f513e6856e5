package remote

import (
	"io"
	"net"
	"sync"
)

// conns is the set of accepted connections that the endpoint has to close.
type conns struct {
	mu     sync.Mutex // guards all below
	open   map[net.Conn]struct{}
	closed bool
}

// add returns false when it is too late.
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

// close closes all connections, and lets no more in.
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

// discard closes a connection of which nothing is expected any more: what counts has been
// acknowledged before, or is lost whatever Close says.
func discard(conn io.Closer) { _ = conn.Close() }
