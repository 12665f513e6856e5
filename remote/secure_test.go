package remote_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

// bothWays runs a test with certificates and with a secret: protect is what a node of that
// host is to have.
func bothWays(t *testing.T, f func(t *testing.T, n *memnet.Network, protect func(host string) func(*remote.Config))) {
	t.Helper()
	t.Run("certificates", func(t *testing.T) {
		bubble(t, func(t *testing.T, n *memnet.Network) {
			ca := newAuthority(t)
			f(t, n, func(host string) func(*remote.Config) { return ca.node(host) })
		})
	})
	t.Run("secret", func(t *testing.T) {
		bubble(t, func(t *testing.T, n *memnet.Network) {
			f(t, n, func(string) func(*remote.Config) { return ring(keyring(t, secret(1))) })
		})
	})
}

// A tap is a network that hears what is said on a host.
type tap struct {
	*memnet.Host
	mu    sync.Mutex // guards all below
	heard []byte
	sent  [][]byte // datagrams
}

func (p *tap) hear(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, b...)
}

func (p *tap) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.heard)
}

func (p *tap) datagrams() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

func (p *tap) Dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := p.Host.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &tappedConn{conn, p}, nil
}

func (p *tap) ListenPacket(addr string) (net.PacketConn, error) {
	conn, err := p.Host.ListenPacket(addr)
	if err != nil {
		return nil, err
	}
	return &tappedPackets{conn, p}, nil
}

type tappedConn struct {
	net.Conn
	tap *tap
}

func (c *tappedConn) Write(b []byte) (int, error) {
	c.tap.hear(b)
	return c.Conn.Write(b)
}

func (c *tappedConn) Read(b []byte) (int, error) {
	count, err := c.Conn.Read(b)
	c.tap.hear(b[:count])
	return count, err
}

type tappedPackets struct {
	net.PacketConn
	tap *tap
}

func (c *tappedPackets) WriteTo(b []byte, to net.Addr) (int, error) {
	c.tap.hear(b)
	c.tap.mu.Lock()
	c.tap.sent = append(c.tap.sent, append([]byte(nil), b...))
	c.tap.mu.Unlock()
	return c.PacketConn.WriteTo(b, to)
}

// useTap lets a node talk through a tap.
func useTap(n *memnet.Network, host string) (*tap, func(*remote.Config)) {
	p := &tap{Host: n.Host(host)}
	return p, func(cfg *remote.Config) { cfg.Network = p }
}

// at lets a node advertise an address.
func at(addr string) func(*remote.Config) {
	return func(cfg *remote.Config) { cfg.Advertise = addr }
}

func named(cfg *remote.Config) { cfg.Cluster = "blue-cluster" }

func TestSecureNodesTalkOnAllLanesAndNobodyElseReadsIt(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*remote.Config)) {
		wire, tapped := useTap(n, "a")
		a, b := start(t, n, "a", named, tapped, protect("a")), start(t, n, "b", named, protect("b"))
		inbox, _ := spawn[string](b, "inbox")
		ref[string](a, b, "/user/inbox").Tell("sesame 1")
		a.SendControl(b.Addr(), []byte("sesame 2"))
		soon()
		a.SendPacket(b.Addr(), []byte("sesame 3"))
		require.NoError(t, a.WritePacket([]byte("sesame 4"), b.Addr()))
		soon()
		near, err := a.DialStream(t.Context(), b.Addr())
		require.NoError(t, err)
		_, err = near.Write([]byte("sesame 5"))
		require.NoError(t, err)
		require.NoError(t, near.Close())

		require.Equal(t, []string{"sesame 1"}, inbox.got())
		require.Equal(t, []control{{a.Self(), "sesame 2"}, {a.Self(), "sesame 3"}}, b.control.got())
		require.Equal(t, "sesame 4", string((<-b.Packets()).Data))
		far := <-b.StreamConns()
		all, err := io.ReadAll(far)
		require.NoError(t, err)
		require.Equal(t, "sesame 5", string(all))
		require.NoError(t, far.Close())

		require.NotEmpty(t, wire.all())
		require.NotContains(t, wire.all(), "sesame")
		require.NotContains(t, wire.all(), "blue-cluster")
	})
}

func TestSecureConnectionThatIsCutLosesNothing(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*remote.Config)) {
		a, b := start(t, n, "a", protect("a")), start(t, n, "b", protect("proxy"), at("proxy:9000"))
		proxy := startProxy(t, n, "proxy", "b:7355")
		inbox, _ := spawn[int](b, "inbox")
		to := actor.Resolve[int](a.sys, "understudy://test@"+proxy.addr+"/user/inbox")
		for i := range 2000 {
			to.Tell(i)
			if i%100 == 50 {
				proxy.cut()
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, count(2000), inbox.got())
		require.Empty(t, a.lost.got())
	})
}

func TestFirstPacketToAPeerIsLostAndOpensTheWay(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*remote.Config)) {
		a, b := start(t, n, "a", protect("a")), start(t, n, "b", protect("b"))
		for i := range 3 {
			a.SendPacket(b.Addr(), []byte{'0' + byte(i)})
			soon()
		}
		require.Equal(t, []control{{a.Self(), "1"}, {a.Self(), "2"}}, b.control.got())
		time.Sleep(time.Hour) // the control lane is closed, and b has forgotten the key
		for i := range 3 {
			a.SendPacket(b.Addr(), []byte{'3' + byte(i)})
			soon()
		}
		require.Len(t, b.control.got(), 4)
	})
}

func TestPacketsAreFromWhoTheySayAfterARestartAndARename(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*remote.Config)) {
		a, b := start(t, n, "a", protect("a")), start(t, n, "b", protect("b"))
		beat := func() {
			for range 3 {
				a.SendPacket("b:7355", []byte("beat"))
				soon()
			}
		}
		beat()
		b.stop()
		b = start(t, n, "b", protect("b"))
		beat()
		require.Equal(t, control{a.Self(), "beat"}, b.control.got()[0], "the new process has granted a key of its own")
		a.Rename(4711)
		beat()
		all := b.control.got()
		require.Equal(t, control{remote.Peer{Addr: "a:7355", Incarnation: 4711}, "beat"}, all[len(all)-1])
		b.Rename(4712)
		before := len(b.control.got())
		beat()
		require.Greater(t, len(b.control.got()), before)
	})
}

func TestReplayedAndForgedPacketsAreDropped(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*remote.Config)) {
		wire, tapped := useTap(n, "a")
		a, b := start(t, n, "a", tapped, protect("a")), start(t, n, "b", protect("b"))
		c := start(t, n, "c", protect("c"))
		a.SendControl(b.Addr(), []byte("hello"))
		a.SendControl(c.Addr(), []byte("hello"))
		soon()
		a.SendPacket(b.Addr(), []byte("beat"))
		soon()
		require.Len(t, b.control.got(), 2)

		thief, err := n.Host("thief").ListenPacket("thief:1")
		require.NoError(t, err)
		t.Cleanup(func() { _ = thief.Close() })
		good := wire.datagrams()[0]
		send := func(to string, b []byte) {
			_, err := thief.WriteTo(b, address(to))
			require.NoError(t, err)
		}
		send(b.Addr(), good)
		send(c.Addr(), good)
		for i := range good {
			forged := append([]byte(nil), good...)
			forged[i] ^= 1
			send(b.Addr(), forged)
			send(b.Addr(), good[:i])
		}
		send(b.Addr(), []byte("U\x01 a plain packet of somebody that knows how they look"))
		send(b.Addr(), []byte("M and gossip"))
		soon()
		require.Len(t, b.control.got(), 2)
		require.Len(t, c.control.got(), 1)
		select {
		case p := <-b.Packets():
			require.Fail(t, "gossip of a stranger", "%q", p.Data)
		default:
		}
		a.SendPacket(b.Addr(), []byte("beat"))
		soon()
		require.Len(t, b.control.got(), 3, "and the next one is as good as before")
	})
}

// address is a host:port.
type address string

func (a address) Network() string { return "udp" }
func (a address) String() string  { return string(a) }

func TestNodesThatAreNotTrustedAreRefused(t *testing.T) {
	type world struct {
		ours, foreign *authority
	}
	expired := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }
	early := func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }
	serverOnly := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	for name, c := range map[string]struct {
		a, b func(t *testing.T, w world) func(*remote.Config)
		want string
	}{
		"dialler expired": {
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("a", expired) },
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("b") },
			"expired certificate",
		},
		"listener expired": {
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("a") },
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("b", expired) },
			"certificate has expired",
		},
		"listener not valid yet": {
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("a") },
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("b", early) },
			"not yet valid",
		},
		"dialler of a foreign authority": {
			func(t *testing.T, w world) func(*remote.Config) {
				return func(cfg *remote.Config) {
					cfg.TLS = w.ours.config(w.foreign.certify("a"))
				}
			},
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("b") },
			"unknown certificate authority",
		},
		"listener of a foreign authority": {
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("a") },
			func(_ *testing.T, w world) func(*remote.Config) { return w.foreign.node("b") },
			"unknown authority",
		},
		"dialler at another host": {
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("x") },
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("b") },
			"your certificate is not for the address that you advertise",
		},
		"listener at another host": {
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("a") },
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("x") },
			"certificate is valid for x, not b",
		},
		"dialler with a certificate for servers": {
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("a", serverOnly) },
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("b") },
			"bad certificate",
		},
		"another secret": {
			func(t *testing.T, _ world) func(*remote.Config) { return ring(keyring(t, secret(2))) },
			func(t *testing.T, _ world) func(*remote.Config) { return ring(keyring(t, secret(1))) },
			"its secret is none of this node's keyring",
		},
		"another secret that only the dialler accepts": {
			func(t *testing.T, _ world) func(*remote.Config) { return ring(keyring(t, secret(2), secret(1))) },
			func(t *testing.T, _ world) func(*remote.Config) { return ring(keyring(t, secret(1))) },
			"it does not accept the certificate or secret of this node",
		},
		"a secret and certificates": {
			func(t *testing.T, _ world) func(*remote.Config) { return ring(keyring(t, secret(2))) },
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("b") },
			"its secret is none of this node's keyring",
		},
		"no TLS at the listener": {
			func(_ *testing.T, w world) func(*remote.Config) { return w.ours.node("a") },
			func(*testing.T, world) func(*remote.Config) { return func(*remote.Config) {} },
			"it does not speak TLS",
		},
		"no TLS at the dialler": {
			func(*testing.T, world) func(*remote.Config) { return func(*remote.Config) {} },
			func(t *testing.T, _ world) func(*remote.Config) { return ring(keyring(t, secret(1))) },
			"TLS is required",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				w := world{newAuthority(t), newAuthority(t)}
				failures := &collector[error]{}
				a := start(t, n, "a", c.a(t, w), func(cfg *remote.Config) {
					cfg.DialFailed = func(_ string, err error) { failures.add(err) }
				})
				b := start(t, n, "b", c.b(t, w))
				inbox, _ := spawn[int](b, "inbox")
				ref[int](a, b, "/user/inbox").Tell(1)
				a.SendControl(b.Addr(), []byte("join"))
				a.SendPacket(b.Addr(), []byte("beat"))
				soon()
				require.NotEmpty(t, failures.got(), "it is told at once")
				for _, err := range failures.got() {
					require.ErrorIs(t, err, remote.ErrNotAuthenticated)
					require.ErrorContains(t, err, c.want)
				}
				require.NotEmpty(t, warnings(b), "the other side sees it too")
				time.Sleep(6 * time.Second)
				require.ErrorIs(t, a.lost.got()[0].Reason, remote.ErrNotAuthenticated)
				require.ErrorIs(t, a.lost.got()[0].Reason, actor.ErrUnreachable)
				require.Empty(t, inbox.got())
				for _, c := range b.control.got() {
					require.Equal(t, "beat", c.data, "plain nodes cannot tell who has sent a datagram")
				}
			})
		})
	}
}

func warnings(x *node) (all []string) {
	for _, entry := range x.logs.FilterMessage("connection closed").All() {
		if entry.Level.String() == "warn" {
			all = append(all, entry.Message)
		}
	}
	return all
}

func TestPeerWithoutACertificateOrWithOldTLSIsRefused(t *testing.T) {
	for name, change := range map[string]func(*tls.Config){
		"no certificate": func(c *tls.Config) { c.Certificates = nil },
		"TLS 1.2":        func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				ca := newAuthority(t)
				b := start(t, n, "b", ca.node("b"))
				config := ca.config(ca.certify("raw"))
				config.ServerName = "b"
				change(config)
				conn := tls.Client(dialRaw(t, n, b).Conn, config)
				_, err := conn.Read(make([]byte, 1))
				require.ErrorContains(t, err, "remote error: tls")
				soon()
				require.NotEmpty(t, warnings(b))
			})
		})
	}
}

func TestCertificateOfOneNodeDoesNotPassForAnother(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		ca := newAuthority(t)
		b := start(t, n, "b", ca.node("b"))
		config := ca.config(ca.certify("raw"))
		config.ServerName = "b"
		for host, want := range map[string]remote.Refusal{"raw:7355": 0, "a:7355": remote.RefusedIdentity, "nonsense": remote.RefusedIdentity} {
			conn := &raw{tls.Client(dialRaw(t, n, b).Conn, config), t}
			hello := goodHello()
			hello[3] = host
			answer := conn.greet('C', hello)
			require.EqualValues(t, want, answer[4], host)
			require.Equal(t, want == 0, answer[6] != nil, "only who belongs here is granted a key")
		}
	})
}

func TestCertificatesChangeWithoutARestart(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		ca := newAuthority(t)
		shortly := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(time.Hour) }
		own := map[string]*tls.Certificate{}
		rotating := func(host string) func(*remote.Config) {
			first := ca.certify(host, shortly)
			own[host] = &first
			return func(cfg *remote.Config) {
				cfg.TLS = &tls.Config{
					RootCAs:              ca.pool(),
					ClientCAs:            ca.pool(),
					GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return own[host], nil },
					GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own[host], nil },
				}
			}
		}
		a, b := start(t, n, "a", rotating("a")), start(t, n, "b", rotating("b"))
		inbox, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		for i := range 200 { // over two hours
			if i == 50 {
				for host := range own {
					next := ca.certify(host)
					own[host] = &next
				}
			}
			to.Tell(i)
			time.Sleep(40 * time.Second)
		}
		require.Equal(t, count(200), inbox.got())
		time.Sleep(2 * time.Minute) // idle: a new connection is needed, and the first certificates have expired
		to.Tell(200)
		soon()
		require.Equal(t, count(201), inbox.got())
		require.Empty(t, a.lost.got())
	})
}

func TestAnotherConfigForAClientIsAsStrict(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		ca, foreign := newAuthority(t), newAuthority(t)
		var instead *tls.Config
		b := start(t, n, "b", func(cfg *remote.Config) {
			cfg.TLS = ca.config(ca.certify("b"))
			cfg.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return instead, nil }
		})
		attempt := func(own tls.Certificate) error {
			conn := tls.Client(dialRaw(t, n, b).Conn, &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: ca.pool(), ServerName: "b"})
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Second)))
			if _, err := conn.Write([]byte{'C'}); err != nil {
				return err
			}
			_, err := conn.Read(make([]byte, 1))
			return err
		}
		require.ErrorContains(t, attempt(foreign.certify("raw")), "remote error")
		instead = &tls.Config{Certificates: []tls.Certificate{ca.certify("b")}, ClientCAs: foreign.pool()}
		require.ErrorContains(t, attempt(ca.certify("raw")), "remote error")
		require.ErrorContains(t, attempt(foreign.certify("raw")), "timeout", "let in, and waited for")
		instead = &tls.Config{Certificates: []tls.Certificate{ca.certify("b")}}
		require.ErrorContains(t, attempt(ca.certify("raw")), "remote error", "not the authorities of the operating system")
	})
}

func TestConfigurationThatProvesNothingIsRefused(t *testing.T) {
	ca := newAuthority(t)
	for want, change := range map[string]func(*remote.Config){
		"are both set": func(c *remote.Config) { c.Keyring = keyring(t, secret(1)) },
		"InsecureSkipVerify": func(c *remote.Config) {
			c.TLS.InsecureSkipVerify = true //nolint:gosec // it is refused
		},
		"no RootCAs":                       func(c *remote.Config) { c.TLS.RootCAs = nil },
		"no ClientCAs":                     func(c *remote.Config) { c.TLS.ClientCAs = nil },
		"MaxVersion":                       func(c *remote.Config) { c.TLS.MaxVersion = tls.VersionTLS12 },
		"for connections that others open": func(c *remote.Config) { c.TLS.Certificates = nil },
		"for connections that this node opens": func(c *remote.Config) {
			c.TLS.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil }
			c.TLS.Certificates = nil
		},
	} {
		cfg := remote.Config{TLS: ca.config(ca.certify("127.0.0.1"))}
		change(&cfg)
		_, err := remote.Listen(cfg)
		require.ErrorContains(t, err, want)
	}
}

func TestSecureNodesTalkOverRealTCPAndUDP(t *testing.T) {
	ca := newAuthority(t)
	for name, protect := range map[string]func(*remote.Config){
		"certificates": ca.node("127.0.0.1"),
		"secret":       ring(keyring(t, secret(1))),
	} {
		t.Run(name, func(t *testing.T) {
			a, b := startTCP(t, protect), startTCP(t, protect)
			inbox, _ := spawn[int](b, "inbox")
			for i := range 1000 {
				ref[int](a, b, "/user/inbox").Tell(i)
			}
			eventually(t, func() bool {
				a.SendPacket(b.Addr(), []byte("beat"))
				return len(inbox.got()) == 1000 && len(b.control.got()) > 0
			})
			require.Equal(t, count(1000), inbox.got())
		})
	}
}

func TestNodesThatAreNotTrustedAreToldOverRealTCP(t *testing.T) {
	for name, c := range map[string]struct {
		a, b func(*remote.Config)
		want string
	}{
		"listener refuses": {ring(keyring(t, secret(2), secret(1))), ring(keyring(t, secret(1))), "it does not accept"},
		"dialler refuses":  {ring(keyring(t, secret(2))), ring(keyring(t, secret(1), secret(2))), "none of this node's keyring"},
		"plain dialler":    {func(*remote.Config) {}, ring(keyring(t, secret(1))), "TLS is required"},
		"plain listener":   {ring(keyring(t, secret(1))), func(*remote.Config) {}, "does not speak TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			failures := &collector[error]{}
			a := startTCP(t, c.a, func(cfg *remote.Config) {
				cfg.DialFailed = func(_ string, err error) { failures.add(err) }
			})
			b := startTCP(t, c.b)
			a.SendControl(b.Addr(), []byte("join"))
			eventually(t, func() bool { return len(failures.got()) > 0 })
			require.ErrorContains(t, failures.got()[0], c.want)
		})
	}
}

// Who can redirect packets, and has nothing else, must not make one node take another one's
// place: in a cluster with a secret, all have the same certificate.
func TestNodeThatAnswersForAnotherOneGetsNoneOfItsMessages(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		failures := &collector[error]{}
		protect := ring(keyring(t, secret(1)))
		note := func(cfg *remote.Config) {
			cfg.DialFailed = func(_ string, err error) { failures.add(err) }
		}
		a, d := start(t, n, "a", protect, note), start(t, n, "d", protect, note)
		b, c := start(t, n, "b", protect, at("way:9000")), start(t, n, "c", protect)
		way := startProxy(t, n, "way", "b:7355")
		inbox, _ := spawn[int](b, "inbox")
		wrong, _ := spawn[int](c, "inbox")
		to := ref[int](a, b, "/user/inbox")
		to.Tell(0)
		soon()
		way.redirect("c:7355")
		to.Tell(1)
		soon()
		refused, ok := errors.AsType[*remote.RefusedError](failures.got()[0])
		require.True(t, ok, "it looks for b as it was")
		require.Equal(t, c.Self(), refused.Peer, "which says nothing of b")
		ref[int](d, b, "/user/inbox").Tell(2)
		time.Sleep(time.Second)
		require.True(t, slices.ContainsFunc(failures.got(), func(err error) bool {
			return strings.Contains(err.Error(), "the node that answers at way:9000 advertises c:7355")
		}))
		require.Empty(t, wrong.got())
		way.redirect("b:7355")
		time.Sleep(2 * time.Second)
		require.ElementsMatch(t, count(3), inbox.got(), "none is lost")
	})
}

func TestCertificateOfAListenerIsForTheAddressThatItAdvertises(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		ca := newAuthority(t)
		failures := &collector[error]{}
		a := start(t, n, "a", ca.node("a"), func(cfg *remote.Config) {
			cfg.DialFailed = func(_ string, err error) { failures.add(err) }
		})
		start(t, n, "b", ca.node("b"), at("another:7355"))
		a.SendControl("b:7355", []byte("hello"))
		soon()
		require.ErrorIs(t, failures.got()[0], remote.ErrNotAuthenticated)
		require.ErrorContains(t, failures.got()[0], "the node that answers at b:7355 advertises another:7355, for which its certificate is not")
	})
}
