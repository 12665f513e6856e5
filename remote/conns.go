package remote

import (
	"io"
	"net"
	"sync"
)

// conns is the set of accepted connections that the endpoint must close.
type conns struct {
	mu     sync.Mutex // guards all below
	open   map[net.Conn]struct{}
	closed bool
}

// add returns false if the endpoint is closed.
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

// close closes all connections and refuses further ones.
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

// discard closes a connection whose errors do not matter any more: everything important has been
// acknowledged, or is lost whatever Close returns.
func discard(conn io.Closer) { _ = conn.Close() }
