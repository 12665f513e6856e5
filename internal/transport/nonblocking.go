package transport

import (
	"net"
	"sync"
	"sync/atomic"
)

// A nonBlockingConn is a connection with non-blocking writes. What the operating system does not
// accept at once is kept until flush, which may block. It lies below TLS, which could not continue
// after a partial write. Its user keeps writes in order.
type nonBlockingConn struct {
	net.Conn
	try          nonBlockingWriter
	mustNotBlock atomic.Bool // writes must not block

	mu   sync.Mutex // guards all below, and lets one write go after the other
	rest []byte     // written but not sent yet
	err  error      // not reported yet
}

// A nonBlockingWriter writes what a connection accepts without blocking, which may be nothing. No
// other write runs meanwhile.
type nonBlockingWriter interface {
	tryWrite(b []byte) (sent int, err error)
}

// nonBlocking returns conn itself if that is no nonBlockingWriter.
func nonBlocking(conn net.Conn) net.Conn {
	try, ok := conn.(nonBlockingWriter)
	if !ok {
		return conn
	}
	return &nonBlockingConn{Conn: conn, try: try}
}

func asNonBlocking(conn net.Conn) *nonBlockingConn {
	if secure, ok := conn.(*secureConn); ok {
		conn = secure.raw
	}
	p, _ := conn.(*nonBlockingConn)
	return p
}

// The writes to the connection, or to TLS above it, do not block. left says that something is left
// for flush.
func (c *nonBlockingConn) withoutBlocking(write func()) (left bool) {
	c.mustNotBlock.Store(true)
	write()
	c.mustNotBlock.Store(false)
	return c.hasPending()
}

func (c *nonBlockingConn) hasPending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.rest) > 0 || c.err != nil
}

// A non-blocking write never fails: flush reports the error.
func (c *nonBlockingConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mustNotBlock.Load() {
		c.writeNow(b)
		return len(b), nil
	}
	if err := c.writePending(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *nonBlockingConn) writeNow(b []byte) {
	sent := 0
	if len(c.rest) == 0 && c.err == nil {
		sent, c.err = c.try.tryWrite(b)
	}
	c.rest = append(c.rest, b[sent:]...)
}

// flush blocks up to the write deadline.
func (c *nonBlockingConn) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writePending()
}

func (c *nonBlockingConn) writePending() error {
	if c.err != nil {
		return c.err
	}
	if len(c.rest) == 0 {
		return nil
	}
	_, err := c.Conn.Write(c.rest)
	c.rest, c.err = nil, err
	return err
}
