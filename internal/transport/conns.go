package transport

import (
	"errors"
	"io"
	"net"
	"sync"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/remote"
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

// Forget ends all connections with the incarnation p, which is gone for good. What waits for it
// becomes dead letters with [actor.ErrUnreachable], unless another incarnation is known to have its
// address: that one gets what waits. Later messages to the address go to the incarnation that is
// there then. Without such an incarnation, the pending asks of the address end as well.
func (e *Endpoint) Forget(p remote.NodeID) {
	successor := e.successor(p)
	e.peers.forget(p)
	e.hangUp(func(from remote.NodeID) bool { return from == p })
	for _, l := range e.links.to(p.Address) {
		l.forget(p.Incarnation, successor)
	}
	if s := e.acceptor.system.Load(); s != nil && successor == 0 {
		// p may have acknowledged a request since it was removed, and its reply or refusal had no
		// connection any more: that ask is in no link. The number is drawn after the links have
		// closed, because until then requests go to p.
		next := extension.NextNumber(s)
		extension.EndAsks(s, p.Address, func(_, ask uint64) bool { return ask < next })
	}
}

var errForgotten = errors.New("the node was removed from the cluster")

// successor is 0 if none is known. The members and the handshakes each know of successors that the
// other does not know yet.
func (e *Endpoint) successor(p remote.NodeID) uint64 {
	if members := e.members.Load(); members != nil {
		if now := (*members)[p.Address]; now != 0 && now != p.Incarnation {
			return now
		}
	}
	if met, ok := e.peers.at(p.Address); ok && met.ID != p {
		return met.ID.Incarnation
	}
	return 0
}

// If another incarnation is there, it ends only a connection with the former. A link that has never
// been connected is for the one that is there.
func (l *link) forget(gone, successor uint64) {
	l.mu.Lock()
	with := l.session.with
	l.mu.Unlock()
	if successor != 0 || with != 0 && with != gone {
		l.hangUp(successor)
		return
	}
	l.close(errForgotten)
}
