package effects

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// A network is the TCP and UDP of the operating system. It can be cut: connections to some
// addresses break, new ones get no answer, and datagrams are lost. A cut between two nodes is made
// on both.
type network struct {
	mu    sync.Mutex            // guards the fields below
	cuts  []string              // addresses
	whole chan struct{}         // closed at the end of the cuts
	conns map[string][]net.Conn // by the address that was dialed; some are closed
}

func newNetwork() *network {
	return &network{conns: map[string][]net.Conn{}, whole: make(chan struct{})}
}

// cut cuts this node off from addresses.
func (n *network) cut(addresses []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cuts = addresses
	for _, addr := range addresses {
		for _, conn := range n.conns[addr] {
			_ = conn.Close() // it may be closed already
		}
		delete(n.conns, addr)
	}
}

// mend ends all cuts.
func (n *network) mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cuts = nil
	close(n.whole)
	n.whole = make(chan struct{})
}

// broken returns whether an address is cut off, and a channel that is closed when it no longer is.
func (n *network) broken(addr string) (bool, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.cuts, addr), n.whole
}

// Listen implements [remote.Network].
func (n *network) Listen(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }

// Dial implements [remote.Network].
func (n *network) Dial(ctx context.Context, addr string) (net.Conn, error) {
	for {
		cut, whole := n.broken(addr)
		if !cut {
			break
		}
		select {
		case <-whole:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.conns[addr] = append(n.conns[addr], conn)
	}
	return conn, err
}

// ListenPacket implements [remote.Network].
func (n *network) ListenPacket(addr string) (net.PacketConn, error) {
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		return nil, err
	}
	return packets{conn, n}, nil
}

type packets struct {
	net.PacketConn
	network *network
}

// WriteTo implements [net.PacketConn]. Addresses of nodes are those of the loopback interface.
func (p packets) WriteTo(b []byte, to net.Addr) (int, error) {
	if cut, _ := p.network.broken(to.String()); cut {
		return len(b), nil
	}
	addr, err := netip.ParseAddrPort(to.String())
	if err != nil {
		return 0, err
	}
	return p.PacketConn.WriteTo(b, net.UDPAddrFromAddrPort(addr))
}
