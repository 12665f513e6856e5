package transport

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/understudy-go/understudy/remote"
)

// Outbound endpoints have opened them, and they wait until something is sent to these.
type reverseConns struct {
	mu      sync.Mutex // guards all below
	waiting map[string][]*reverseConn
	count   int
	arrival chan struct{} // closed when there is another one
}

// A goroutine reads from it, to answer pings and to notice a closed or dead connection.
type reverseConn struct {
	conn   net.Conn
	done   chan struct{} // closed when no goroutine reads any more
	usable bool          // it was wanted, and has not failed; set before done is closed

	mu     sync.Mutex // guards wanted, and the deadline of reading
	wanted bool
}

// A ping is a byte that the client sends on a waiting connection, and that the listener returns,
// so that both notice a dead connection. The byte is no channel, and no answered frame begins with
// it.
const (
	ping         = 'B'
	pingInterval = 2 * time.Second  // after the last sign of life
	pongTimeout  = time.Second      // the client's wait for the answer
	pingTimeout  = 10 * time.Second // the listener's wait for the next ping
)

var errNoPing = errors.New("no sign of life on a connection that waits")

// For one peer. Beyond that, the oldest is closed.
const maxSpare = 2

// wait returns when the connection is taken or closed.
func (r *reverseConns) wait(addr string, conn net.Conn) (taken bool, err error) {
	x := &reverseConn{conn: conn, done: make(chan struct{})}
	if !r.add(addr, x) {
		return false, errTooManyChannels
	}
	err = x.answerPings()
	x.usable = err == nil
	taken = !r.remove(addr, x) && x.usable
	close(x.done)
	return taken, err
}

// answerPings returns nil when the connection is taken.
func (x *reverseConn) answerPings() error {
	for {
		if err := x.setPatience(); err != nil {
			return err
		}
		b, err := readByte(x.conn)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && x.isWanted():
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errNoPing
		case err != nil:
			return err
		case b != ping:
			return fmt.Errorf("%w: a peer talks on a connection on which it is to listen", remote.ErrFrame)
		}
		if err := writePing(x.conn); err != nil {
			return err
		}
	}
}

func (x *reverseConn) setPatience() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.wanted {
		return nil // the deadline has passed
	}
	return x.conn.SetReadDeadline(time.Now().Add(pingTimeout))
}

func (x *reverseConn) isWanted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.wanted
}

func writePing(conn net.Conn) error {
	if err := conn.SetWriteDeadline(time.Now().Add(pongTimeout)); err != nil {
		return err
	}
	_, err := conn.Write([]byte{ping})
	return err
}

// This side opened the connection. It fails with errNoPing if the peer does not answer pings.
func awaitChannel(conn net.Conn) (first byte, err error) {
	for patience, asked := pingInterval, false; ; {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return 0, err
		}
		b, err := readByte(conn)
		switch {
		case err == nil && b == ping:
			patience, asked = pingInterval, false
		case err == nil:
			return b, conn.SetDeadline(time.Time{})
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, err
		case asked:
			return 0, errNoPing
		default:
			if err := writePing(conn); err != nil {
				return 0, err
			}
			patience, asked = pongTimeout, true
		}
	}
}

// The connection was taken while a pong may have been in flight.
type skipPongs struct {
	net.Conn
	over bool
}

func (c *skipPongs) Read(b []byte) (int, error) {
	if c.over || len(b) == 0 {
		return c.Conn.Read(b)
	}
	for {
		count, err := c.Conn.Read(b[:1])
		if err != nil || b[0] != ping {
			c.over = true
			return count, err
		}
	}
}

func (r *reverseConns) addresses() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.waiting))
}

// False means that there are too many.
func (r *reverseConns) add(addr string, x *reverseConn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count >= maxChannels {
		return false
	}
	all := append(r.waiting[addr], x)
	if len(all) > maxSpare {
		discard(all[0].conn) // whose reader removes it
	}
	r.waiting[addr] = all
	r.count++
	close(r.arrival)
	r.arrival = make(chan struct{})
	return true
}

// False means that x does not wait any more.
func (r *reverseConns) remove(addr string, x *reverseConn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.waiting[addr], x)
	if i < 0 {
		return false
	}
	r.drop(addr, i)
	return true
}

// mu is held.
func (r *reverseConns) drop(addr string, i int) {
	r.count--
	r.waiting[addr] = slices.Delete(r.waiting[addr], i, i+1)
	if len(r.waiting[addr]) == 0 {
		delete(r.waiting, addr)
	}
}

// If no connection waits, arrival is closed when one comes.
func (r *reverseConns) newest(addr string) (x *reverseConn, arrival <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.waiting[addr]) - 1
	if last < 0 {
		return nil, r.arrival
	}
	x = r.waiting[addr][last]
	r.drop(addr, last)
	return x, nil
}

func (r *reverseConns) take(ctx context.Context, addr string) (net.Conn, error) {
	for {
		x, arrival := r.newest(addr)
		if x == nil {
			select {
			case <-arrival:
				continue
			case <-ctx.Done():
				return nil, fmt.Errorf("the client has no connection open to this node: %w", ctx.Err())
			}
		}
		if x.take() {
			return x.conn, nil
		}
	}
}

// False means that the connection cannot be used any more.
func (x *reverseConn) take() bool {
	x.want()
	<-x.done
	if !x.usable {
		return false
	}
	return x.conn.SetDeadline(time.Time{}) == nil
}

func (x *reverseConn) want() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.wanted = true
	if err := x.conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
		discard(x.conn)
	}
}
