package memnet

import (
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// How many bytes may be written that the peer has not read.
const window = 256 << 10

type conn struct {
	host           *Host
	local, remote  addr
	peer           *conn      // nil until the listener has answered
	changed        *sync.Cond // on Network.mu
	unread         []byte     // has arrived
	unacknowledged int        // written here, not yet read there
	lastDue        time.Time  // when the last thing written here arrives
	ended          bool       // the peer has closed, and all it wrote has arrived
	closed         bool       // by Close
	err            error      // what ended the stream otherwise
	severed        bool       // nothing arrives any more, see Network.Sever
	readBy         deadline
	writeBy        deadline
}

func newConn(h *Host, port int, remote addr) *conn {
	c := &conn{
		host:    h,
		local:   addr{"tcp", join(h.name, port)},
		remote:  remote,
		changed: sync.NewCond(&h.net.mu),
	}
	h.conns = append(h.conns, c)
	return c
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) Read(b []byte) (int, error) {
	c.host.net.mu.Lock()
	defer c.host.net.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, c.opError("read", net.ErrClosed)
		case c.readBy.passed():
			return 0, c.opError("read", os.ErrDeadlineExceeded)
		case len(b) == 0:
			return 0, nil
		case len(c.unread) > 0:
			return c.take(b), nil
		case c.err != nil:
			return 0, c.opError("read", c.err)
		case c.ended:
			return 0, io.EOF
		}
		c.changed.Wait()
	}
}

func (c *conn) take(b []byte) int {
	count := copy(b, c.unread)
	c.unread = c.unread[count:]
	c.peer.unacknowledged -= count
	c.peer.changed.Broadcast()
	return count
}

func (c *conn) Write(b []byte) (int, error) {
	c.host.net.mu.Lock()
	defer c.host.net.mu.Unlock()
	written := 0
	for {
		switch {
		case c.closed:
			return written, c.opError("write", net.ErrClosed)
		case c.writeBy.passed():
			return written, c.opError("write", os.ErrDeadlineExceeded)
		case c.err != nil:
			return written, c.opError("write", c.err)
		case written == len(b):
			return written, nil
		}
		count := min(len(b)-written, window-c.unacknowledged)
		if count == 0 {
			c.changed.Wait()
			continue
		}
		data := slices.Clone(b[written : written+count])
		c.unacknowledged += count
		c.post(func() { c.peer.receive(data) })
		written += count
	}
}

// What is posted arrives after everything sent before.
func (c *conn) post(arrive func()) {
	p := &transmission{link: c.link(), sender: c.host, stream: true, retransmits: true, due: c.lastDue, arrive: func() {
		if !c.severed {
			arrive()
		}
	}}
	c.host.net.send(p)
	c.lastDue = p.due
}

func (c *conn) link() link { return link{c.host.name, c.peer.host.name} }

func (c *conn) receive(data []byte) {
	if c.closed || c.err != nil {
		c.answerReset()
		return
	}
	c.unread = append(c.unread, data...)
	c.changed.Broadcast()
}

func (c *conn) receiveEnd() {
	c.ended = true
	c.changed.Broadcast()
}

// A lost reset is not repeated.
func (c *conn) answerReset() {
	if c.peer == nil || c.host.net.off[c.host.name] {
		return
	}
	reset := func() {
		if !c.severed {
			c.peer.fail(syscall.ECONNRESET)
		}
	}
	c.host.net.send(&transmission{link: c.link(), sender: c.host, stream: true, arrive: reset, due: c.lastDue})
}

func (c *conn) Close() error {
	c.host.net.mu.Lock()
	defer c.host.net.mu.Unlock()
	if c.closed {
		return c.opError("close", net.ErrClosed)
	}
	if c.err == nil && c.peer != nil {
		c.post(c.peer.receiveEnd)
	}
	c.closed = true
	c.leave()
	return nil
}

func (c *conn) fail(err error) {
	if c.closed || c.err != nil {
		return
	}
	c.err = err
	c.leave()
}

func (c *conn) leave() {
	c.readBy.stop()
	c.writeBy.stop()
	c.host.conns = slices.DeleteFunc(c.host.conns, func(other *conn) bool { return other == c })
	c.changed.Broadcast()
}

func (c *conn) SetDeadline(t time.Time) error {
	return c.setDeadlines(t, &c.readBy, &c.writeBy)
}

func (c *conn) SetReadDeadline(t time.Time) error { return c.setDeadlines(t, &c.readBy) }

func (c *conn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(t, &c.writeBy) }

func (c *conn) setDeadlines(t time.Time, deadlines ...*deadline) error {
	c.host.net.mu.Lock()
	defer c.host.net.mu.Unlock()
	if c.closed {
		return c.opError("set", net.ErrClosed)
	}
	for _, d := range deadlines {
		d.set(t, c.changed)
	}
	return nil
}

func (c *conn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// The zero value is never.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

// set wakes the waiters on cond when t has passed.
func (d *deadline) set(t time.Time, cond *sync.Cond) {
	d.stop()
	d.at = t
	switch {
	case t.IsZero():
	case !t.After(time.Now()):
		cond.Broadcast()
	default:
		d.timer = time.AfterFunc(time.Until(t), func() {
			cond.L.Lock()
			defer cond.L.Unlock()
			cond.Broadcast()
		})
	}
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}
