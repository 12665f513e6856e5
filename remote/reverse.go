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

// A reverse is one of them. A goroutine reads from it, to notice that it has been closed.
type reverse struct {
	conn   net.Conn
	done   chan struct{} // closed when nobody reads any more
	usable bool          // nothing was there to be read; set before done is closed
}

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
	_, err = conn.Read(make([]byte, 1))
	x.usable = errors.Is(err, os.ErrDeadlineExceeded)
	taken = !r.remove(addr, x) && x.usable
	close(x.done)
	switch {
	case taken:
		return true, nil
	case err == nil:
		err = fmt.Errorf("%w: a peer talks on a connection on which it is to listen", ErrFrame)
	}
	return false, err
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
	if err := x.conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
		discard(x.conn)
	}
	<-x.done
	if !x.usable {
		return false
	}
	return x.conn.SetDeadline(time.Time{}) == nil
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
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return false, err
	}
	return e.reverses.wait(h.Addr, conn)
}
