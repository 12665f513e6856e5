package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// reverses are connections that outbound endpoints have opened, and that wait for something
// to be sent to those.
type reverses struct {
	mu      sync.Mutex // guards all below
	waiting map[string][]*reverse
	count   int
	arrival chan struct{} // closed when there is another one
}

// A reverse is one of them. A goroutine reads from it, to answer beats, and to notice that it has
// been closed or is silent.
type reverse struct {
	conn   net.Conn
	done   chan struct{} // closed when nobody reads any more
	usable bool          // it was wanted, and has not failed; set before done is closed

	mu     sync.Mutex // guards wanted, and the deadline of reading
	wanted bool
}

// A beat is a byte that the client sends on a connection that waits, and that the listener returns:
// so both find out that the other is not there any more, whatever the network does. No lane has
// that byte, and no frame that is answered on a lane begins with it.
const (
	beat         = 'B'
	beatEvery    = 2 * time.Second  // after a sign of life
	beatPatience = time.Second      // of the client with the answer
	beatsAreOver = 10 * time.Second // of the listener with the next beat
)

// errNoBeats ends a connection that waits, of a peer that is not there any more.
var errNoBeats = errors.New("no sign of life on a connection that waits")

// spares is how many may wait for one peer; the oldest has to go.
const spares = 2

func newReverses() *reverses {
	return &reverses{waiting: map[string][]*reverse{}, arrival: make(chan struct{})}
}

// wait keeps a connection until it is taken, or closed. It returns whether it was taken.
func (r *reverses) wait(addr string, conn net.Conn) (taken bool, err error) {
	x := &reverse{conn: conn, done: make(chan struct{})}
	if !r.add(addr, x) {
		return false, errTooManyLanes
	}
	err = x.answerBeats()
	x.usable = err == nil
	taken = !r.remove(addr, x) && x.usable
	close(x.done)
	return taken, err
}

// answerBeats returns nil when the connection is wanted.
func (x *reverse) answerBeats() error {
	for {
		if err := x.setPatience(); err != nil {
			return err
		}
		b, err := readByte(x.conn)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && x.isWanted():
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errNoBeats
		case err != nil:
			return err
		case b != beat:
			return fmt.Errorf("%w: a peer talks on a connection on which it is to listen", ErrFrame)
		}
		if err := writeBeat(x.conn); err != nil {
			return err
		}
	}
}

// setPatience lets the next read take as long as a beat may, or no time when the connection is
// wanted.
func (x *reverse) setPatience() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.wanted {
		return nil // the deadline has passed
	}
	return x.conn.SetReadDeadline(time.Now().Add(beatsAreOver))
}

func (x *reverse) isWanted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.wanted
}

func writeBeat(conn net.Conn) error {
	if err := conn.SetWriteDeadline(time.Now().Add(beatPatience)); err != nil {
		return err
	}
	_, err := conn.Write([]byte{beat})
	return err
}

// awaitLane waits on a connection of this side for the first byte of the lane that the peer begins
// on it. It ends with errNoBeats when the peer does not answer beats.
func awaitLane(conn net.Conn) (first byte, err error) {
	for patience, asked := beatEvery, false; ; {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return 0, err
		}
		b, err := readByte(conn)
		switch {
		case err == nil && b == beat:
			patience, asked = beatEvery, false
		case err == nil:
			return b, conn.SetDeadline(time.Time{})
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, err
		case asked:
			return 0, errNoBeats
		default:
			if err := writeBeat(conn); err != nil {
				return 0, err
			}
			patience, asked = beatPatience, true
		}
	}
}

// An afterBeats is a connection that was taken while a beat may have been under way.
type afterBeats struct {
	net.Conn
	over bool // the peer has said something else
}

// Read leaves out the beats before everything else.
func (c *afterBeats) Read(b []byte) (int, error) {
	if c.over || len(b) == 0 {
		return c.Conn.Read(b)
	}
	for {
		count, err := c.Conn.Read(b[:1])
		if err != nil || b[0] != beat {
			c.over = true
			return count, err
		}
	}
}

// add returns false when there are too many.
func (r *reverses) add(addr string, x *reverse) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count >= maxLanes {
		return false
	}
	all := append(r.waiting[addr], x)
	if len(all) > spares {
		discard(all[0].conn) // whose reader removes it
	}
	r.waiting[addr] = all
	r.count++
	close(r.arrival)
	r.arrival = make(chan struct{})
	return true
}

// remove returns false when x is not there any more.
func (r *reverses) remove(addr string, x *reverse) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.waiting[addr], x)
	if i < 0 {
		return false
	}
	r.drop(addr, i)
	return true
}

// drop takes one out. The caller holds mu.
func (r *reverses) drop(addr string, i int) {
	r.count--
	r.waiting[addr] = slices.Delete(r.waiting[addr], i, i+1)
	if len(r.waiting[addr]) == 0 {
		delete(r.waiting, addr)
	}
}

// newest takes out the connection that has come last, or returns what to wait for.
func (r *reverses) newest(addr string) (x *reverse, arrival <-chan struct{}) {
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

// take returns a connection to an outbound endpoint, as soon as there is one.
func (r *reverses) take(ctx context.Context, addr string) (net.Conn, error) {
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

// take ends the reading; false means that the connection is of no use any more.
func (x *reverse) take() bool {
	x.want()
	<-x.done
	if !x.usable {
		return false
	}
	return x.conn.SetDeadline(time.Time{}) == nil
}

// want ends the reading with its deadline.
func (x *reverse) want() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.wanted = true
	if err := x.conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
		discard(x.conn)
	}
}

// keepForSending shakes hands on a reverse lane, and keeps the connection until there is
// something to send to who has opened it. It returns whether somebody else owns it now.
func (e *Endpoint) keepForSending(x *stranger, conn net.Conn) (kept bool, err error) {
	body, err := readFrame(conn, maxHandshake)
	if err != nil {
		return false, err
	}
	h, err := parseHello(body)
	if err == nil && !isOutbound(h.Addr) {
		err = refuse(RefusedHello, "%s can be dialled", h.Addr)
	}
	if err == nil {
		err = e.judge(conn, laneReverse, h)
	}
	if err != nil {
		return false, e.turnAway(conn, err)
	}
	e.strangers.leave(x)
	if err := sendAnswer(conn, answer{Incarnation: e.incarnation.Load(), Addr: e.addr}); err != nil {
		return false, err
	}
	return e.reverses.wait(h.Addr, conn)
}
