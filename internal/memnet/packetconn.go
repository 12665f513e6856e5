package memnet

import (
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	maxDatagram = 65507
	maxQueue    = 1024 // unread datagrams
)

type packetConn struct {
	host    *Host
	port    int
	queue   []datagram
	closed  bool
	changed *sync.Cond // on Network.mu
	readBy  deadline
}

type datagram struct {
	from addr
	data []byte
}

func (p *packetConn) LocalAddr() net.Addr { return p.addr() }

func (p *packetConn) addr() addr { return addr{"udp", join(p.host.name, p.port)} }

// What does not fit into b is lost.
func (p *packetConn) ReadFrom(b []byte) (int, net.Addr, error) {
	p.host.net.mu.Lock()
	defer p.host.net.mu.Unlock()
	for {
		switch {
		case p.closed:
			return 0, nil, p.opError("read", net.ErrClosed)
		case p.readBy.passed():
			return 0, nil, p.opError("read", os.ErrDeadlineExceeded)
		case len(p.queue) > 0:
			d := p.queue[0]
			p.queue = p.queue[1:]
			return copy(b, d.data), d.from, nil
		}
		p.changed.Wait()
	}
}

// WriteTo never blocks. A lost datagram is no error.
func (p *packetConn) WriteTo(b []byte, to net.Addr) (int, error) {
	name, port, err := split(to.String())
	if err != nil {
		return 0, p.opError("write", err)
	}
	n := p.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	path := link{p.host.name, name}
	switch {
	case p.closed:
		return 0, p.opError("write", net.ErrClosed)
	case len(b) > maxDatagram:
		return 0, p.opError("write", syscall.EMSGSIZE)
	case n.draw(path) < max(n.faults.loss, n.faults.losses[path]):
		return len(b), nil
	}
	d := datagram{p.addr(), slices.Clone(b)}
	if n.faults.drop != nil && n.faults.drop(path.from, path.to, d.data) {
		return len(b), nil
	}
	p.post(path, port, d)
	if n.faults.duplicates > 0 && n.draw(path) < n.faults.duplicates {
		p.post(path, port, d)
	}
	return len(b), nil
}

func (p *packetConn) post(path link, port int, d datagram) {
	n := p.host.net
	n.send(&transmission{link: path, sender: p.host, arrive: func() {
		if there := n.hosts[path.to]; there != nil && there.packets[port] != nil {
			there.packets[port].receive(d)
		}
	}})
}

func (p *packetConn) receive(d datagram) {
	if len(p.queue) < maxQueue {
		p.queue = append(p.queue, d)
		p.changed.Signal()
	}
}

func (p *packetConn) Close() error {
	p.host.net.mu.Lock()
	defer p.host.net.mu.Unlock()
	if p.closed {
		return p.opError("close", net.ErrClosed)
	}
	delete(p.host.packets, p.port)
	p.shut()
	return nil
}

func (p *packetConn) shut() {
	p.closed = true
	p.queue = nil
	p.readBy.stop()
	p.changed.Broadcast()
}

func (p *packetConn) SetDeadline(t time.Time) error { return p.SetReadDeadline(t) }

func (p *packetConn) SetReadDeadline(t time.Time) error {
	p.host.net.mu.Lock()
	defer p.host.net.mu.Unlock()
	if p.closed {
		return p.opError("set", net.ErrClosed)
	}
	p.readBy.set(t, p.changed)
	return nil
}

// Writes do not block.
func (p *packetConn) SetWriteDeadline(time.Time) error { return nil }

func (p *packetConn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "udp", Source: p.addr(), Err: err}
}
