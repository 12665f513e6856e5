package memnet

import (
	"context"
	"net"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// Ports that are picked for port 0 and for dialing.
const (
	firstPicked = 20000
	lastPicked  = 60000
)

// A Host is one machine of the network. Its addresses are "name:port".
type Host struct {
	net       *Network
	name      string
	listeners map[int]*listener
	packets   map[int]*packetConn
	conns     []*conn
	port      int // the last one that was picked
	failed    bool
	down      chan struct{} // closed when failed
}

func newHost(n *Network, name string) *Host {
	return &Host{
		net:       n,
		name:      name,
		listeners: map[int]*listener{},
		packets:   map[int]*packetConn{},
		port:      firstPicked - 1,
		down:      make(chan struct{}),
	}
}

// Name returns the name of the host.
func (h *Host) Name() string { return h.name }

// Listen opens a stream listener at "name:port" or ":port". Port 0 picks one that is free for
// streams.
func (h *Host) Listen(address string) (net.Listener, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	port, err := h.bind(address, h.streamsAt)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: addr{"tcp", address}, Err: err}
	}
	l := &listener{host: h, port: port, changed: sync.NewCond(&h.net.mu)}
	h.listeners[port] = l
	return l, nil
}

// ListenPacket opens a datagram socket at "name:port" or ":port". Port 0 picks one that is
// free for datagrams.
func (h *Host) ListenPacket(address string) (net.PacketConn, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	port, err := h.bind(address, h.packetsAt)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "udp", Addr: addr{"udp", address}, Err: err}
	}
	p := &packetConn{host: h, port: port, changed: sync.NewCond(&h.net.mu)}
	h.packets[port] = p
	return p, nil
}

func (h *Host) bind(address string, taken func(port int) bool) (int, error) {
	name, port, err := split(address)
	switch {
	case err != nil:
		return 0, err
	case h.failed:
		return 0, syscall.ENETDOWN
	case name != "" && name != h.name:
		return 0, syscall.EADDRNOTAVAIL
	case port == 0:
		return h.pick(taken), nil
	case taken(port):
		return 0, syscall.EADDRINUSE
	}
	return port, nil
}

// Ports are taken in a circle.
func (h *Host) pick(taken func(port int) bool) int {
	for {
		h.port++
		if h.port > lastPicked {
			h.port = firstPicked
		}
		if !taken(h.port) {
			return h.port
		}
	}
}

func (h *Host) streamsAt(port int) bool { return h.listeners[port] != nil }
func (h *Host) packetsAt(port int) bool { return h.packets[port] != nil }

// Dial connects to a listener. It blocks until the answer arrives or ctx ends.
func (h *Host) Dial(ctx context.Context, address string) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: addr{"tcp", address}, Err: err}
	}
	name, port, err := split(address)
	if err != nil {
		return fail(err)
	}
	c, answer, err := h.connect(name, port)
	if err != nil {
		return fail(err)
	}
	select {
	case err = <-answer:
	case <-ctx.Done():
		err = ctx.Err()
	case <-h.down:
		err = syscall.ENETDOWN
	}
	if err != nil {
		_ = c.Close() // nobody else has it, so it was open
		return fail(err)
	}
	return c, nil
}

// The answer is nil once the listener has the connection.
func (h *Host) connect(name string, port int) (*conn, <-chan error, error) {
	n := h.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if h.failed {
		return nil, nil, syscall.ENETDOWN
	}
	answer := make(chan error, 1)
	c := newConn(h, h.pick(h.streamsAt), addr{"tcp", join(name, port)})
	n.send(&transmission{link: link{h.name, name}, sender: h, stream: true, retransmits: true, arrive: func() {
		if n.off[name] {
			return
		}
		err := n.admit(c, name, port)
		n.send(&transmission{link: link{name, h.name}, sender: n.hosts[name], stream: true, retransmits: true, arrive: func() { answer <- err }})
	}})
	return c, answer, nil
}

// c is the dialing end.
func (n *Network) admit(c *conn, name string, port int) error {
	h := n.hosts[name]
	if h == nil || h.listeners[port] == nil {
		return syscall.ECONNREFUSED
	}
	if c.closed {
		return net.ErrClosed
	}
	far := newConn(h, port, c.local)
	c.peer, far.peer = far, c
	l := h.listeners[port]
	l.backlog = append(l.backlog, far)
	l.changed.Signal()
	return nil
}

func (h *Host) fail() {
	if h.failed {
		return
	}
	h.failed = true
	close(h.down)
	for _, l := range h.listeners {
		l.shut()
	}
	for _, p := range h.packets {
		p.shut()
	}
	for _, c := range slices.Clone(h.conns) {
		c.fail(syscall.ENETDOWN)
	}
}

type addr struct{ network, address string }

func (a addr) Network() string { return a.network }
func (a addr) String() string  { return a.address }

func join(name string, port int) string { return net.JoinHostPort(name, strconv.Itoa(port)) }

func split(address string) (name string, port int, err error) {
	name, digits, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", 0, &net.AddrError{Err: "invalid port", Addr: address}
	}
	return name, int(number), nil
}

type listener struct {
	host    *Host
	port    int
	backlog []*conn
	closed  bool
	changed *sync.Cond // on Network.mu
}

func (l *listener) Addr() net.Addr { return addr{"tcp", join(l.host.name, l.port)} }

func (l *listener) Accept() (net.Conn, error) {
	l.host.net.mu.Lock()
	defer l.host.net.mu.Unlock()
	for len(l.backlog) == 0 && !l.closed {
		l.changed.Wait()
	}
	if l.closed {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	c := l.backlog[0]
	l.backlog = l.backlog[1:]
	return c, nil
}

// Connections that were not accepted are reset.
func (l *listener) Close() error {
	l.host.net.mu.Lock()
	defer l.host.net.mu.Unlock()
	if l.closed {
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	for _, c := range l.backlog {
		c.answerReset()
		c.fail(net.ErrClosed)
	}
	delete(l.host.listeners, l.port)
	l.shut()
	return nil
}

func (l *listener) shut() {
	l.closed = true
	l.backlog = nil
	l.changed.Broadcast()
}
