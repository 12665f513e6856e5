package transport_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

// A panicky network panics in one of its methods, or of what it opens, while it is broken.
type panicky struct {
	remote.Network
	method string
	broken atomic.Bool
}

func (f *panicky) maybe(method string) {
	if f.method == method && f.broken.Load() {
		panic(method)
	}
}

func (f *panicky) Listen(addr string) (net.Listener, error) {
	f.maybe("Listen")
	l, err := f.Network.Listen(addr)
	return panickyListener{l, f}, err
}

func (f *panicky) Dial(ctx context.Context, addr string) (net.Conn, error) {
	f.maybe("Dial")
	c, err := f.Network.Dial(ctx, addr)
	return panickyConn{c, f}, err
}

func (f *panicky) ListenPacket(addr string) (net.PacketConn, error) {
	f.maybe("ListenPacket")
	p, err := f.Network.ListenPacket(addr)
	return panickyPackets{p, f}, err
}

type panickyListener struct {
	net.Listener
	f *panicky
}

func (l panickyListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	l.f.maybe("Accept")
	return panickyConn{c, l.f}, err
}

type panickyConn struct {
	net.Conn
	f *panicky
}

func (c panickyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.f.maybe("Read")
	return n, err
}

func (c panickyConn) Write(b []byte) (int, error) {
	c.f.maybe("Write")
	return c.Conn.Write(b)
}

func (c panickyConn) Close() error {
	err := c.Conn.Close()
	c.f.maybe("Close")
	return err
}

func (c panickyConn) RemoteAddr() net.Addr {
	c.f.maybe("RemoteAddr")
	return c.Conn.RemoteAddr()
}

func (c panickyConn) SetDeadline(t time.Time) error {
	c.f.maybe("SetDeadline")
	return c.Conn.SetDeadline(t)
}

func (c panickyConn) SetReadDeadline(t time.Time) error {
	c.f.maybe("SetReadDeadline")
	return c.Conn.SetReadDeadline(t)
}

func (c panickyConn) SetWriteDeadline(t time.Time) error {
	c.f.maybe("SetWriteDeadline")
	return c.Conn.SetWriteDeadline(t)
}

type panickyPackets struct {
	net.PacketConn
	f *panicky
}

func (p panickyPackets) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := p.PacketConn.ReadFrom(b)
	p.f.maybe("ReadFrom")
	return n, from, err
}

func (p panickyPackets) WriteTo(b []byte, to net.Addr) (int, error) {
	p.f.maybe("WriteTo")
	return p.PacketConn.WriteTo(b, to)
}

// A method of a network that panics costs what it was called for, and not the node.
func TestANodeOutlivesPanicsOfItsNetwork(t *testing.T) {
	methods := []string{
		"Dial", "Accept", "Read", "Write", "Close", "RemoteAddr",
		"SetDeadline", "SetReadDeadline", "SetWriteDeadline", "ReadFrom", "WriteTo",
	}
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				f := &panicky{Network: n.Host("b"), method: method}
				a, b := start(t, n, "a"), start(t, n, "b", func(c *transport.Config) { c.Network = f })
				spawnAdder(a.sys)
				spawnAdder(b.sys)
				f.broken.Store(true)
				there, back := ref[question](a, b, "/user/adder"), ref[question](b, a, "/user/adder")
				there.Tell(question{Number: 1})
				back.Tell(question{Number: 1})
				a.SendPacket(b.Addr(), []byte("datagram"))
				b.SendPacket(a.Addr(), []byte("datagram"))
				time.Sleep(time.Second)
				f.broken.Store(false)
				time.Sleep(10 * time.Second)
				require.Equal(t, 3, ask(t, there, 2))
				require.Equal(t, 3, ask(t, back, 2))
				b.SendPacket(a.Addr(), []byte("another"))
				a.SendPacket(b.Addr(), []byte("another"))
				soon()
				require.Contains(t, b.control.got(), control{a.Self(), "another"})
				require.Contains(t, a.control.got(), control{b.Self(), "another"})
			})
		})
	}
}

func TestANetworkThatPanicsWhenItIsOpenedIsAnErrorOfListen(t *testing.T) {
	for _, method := range []string{"Listen", "ListenPacket"} {
		bubble(t, func(t *testing.T, n *memnet.Network) {
			f := &panicky{Network: n.Host("b"), method: method}
			f.broken.Store(true)
			_, err := transport.Listen(transport.Config{Bind: "b:7355", Network: f})
			require.ErrorContains(t, err, "panic: "+method)
		})
	}
}

// The functions of the configuration may panic, too.
func TestANodeOutlivesPanicsOfItsFunctions(t *testing.T) {
	for name, set := range map[string]func(c *transport.Config, broken *atomic.Bool){
		"Admit": func(c *transport.Config, b *atomic.Bool) { c.Admit = func(remote.NodeID) error { return fail(b) } },
		"AdmitMessages": func(c *transport.Config, b *atomic.Bool) {
			c.AdmitMessages = func(remote.NodeID) error { return fail(b) }
		},
		"Control":    func(c *transport.Config, b *atomic.Bool) { c.Control = func(remote.NodeID, []byte) { _ = fail(b) } },
		"DialFailed": func(c *transport.Config, b *atomic.Bool) { c.DialFailed = func(string, error) { _ = fail(b) } },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				var broken atomic.Bool
				a, b := start(t, n, "a"), start(t, n, "b", func(c *transport.Config) { set(c, &broken) })
				spawnAdder(a.sys)
				spawnAdder(b.sys)
				broken.Store(true)
				b.SendControl("nowhere:1", []byte("frame"))
				a.SendControl(b.Addr(), []byte("frame"))
				ref[question](a, b, "/user/adder").Tell(question{Number: 1})
				time.Sleep(time.Second)
				broken.Store(false)
				time.Sleep(10 * time.Second)
				require.Equal(t, 3, ask(t, ref[question](a, b, "/user/adder"), 2))
				require.Equal(t, 3, ask(t, ref[question](b, a, "/user/adder"), 2))
			})
		})
	}
}

func fail(broken *atomic.Bool) error {
	if broken.Load() {
		panic("as it was told")
	}
	return nil
}
