package transport_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

// bothWays runs a test with certificates and with a secret: protect is what a node of that
// host is to have.
func bothWays(t *testing.T, f func(t *testing.T, n *memnet.Network, protect func(host string) func(*transport.Config))) {
	t.Helper()
	t.Run("certificates", func(t *testing.T) {
		bubble(t, func(t *testing.T, n *memnet.Network) {
			ca := newAuthority(t)
			f(t, n, func(host string) func(*transport.Config) { return ca.node(host) })
		})
	})
	t.Run("secret", func(t *testing.T) {
		bubble(t, func(t *testing.T, n *memnet.Network) {
			f(t, n, func(string) func(*transport.Config) { return ring(keyring(t, secret(1))) })
		})
	})
}

// at lets a node advertise an address.
func at(addr string) func(*transport.Config) {
	return func(cfg *transport.Config) { cfg.Advertise = addr }
}

func named(cfg *transport.Config) { cfg.Cluster = "blue-cluster" }

func TestSecureNodesTalkOnAllChannelsAndNobodyElseReadsIt(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*transport.Config)) {
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
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*transport.Config)) {
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
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*transport.Config)) {
		a, b := start(t, n, "a", protect("a")), start(t, n, "b", protect("b"))
		for i := range 3 {
			a.SendPacket(b.Addr(), []byte{'0' + byte(i)})
			soon()
		}
		require.Equal(t, []control{{a.Self(), "1"}, {a.Self(), "2"}}, b.control.got())
		time.Sleep(time.Hour) // the control channel is closed, and b has forgotten the key
		for i := range 3 {
			a.SendPacket(b.Addr(), []byte{'3' + byte(i)})
			soon()
		}
		require.Len(t, b.control.got(), 4)
	})
}

func TestAKeyThatHasSealedTooMuchIsReplacedWithoutLosingMessages(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*transport.Config)) {
		a, b := start(t, n, "a", protect("a")), start(t, n, "b", protect("b"))
		send := func(text string) {
			a.SendPacket(b.Addr(), []byte(text))
			soon()
		}
		send("opens the channel")
		for range 2 {
			before := len(b.control.got())
			send("first")
			transport.WearOut(a.Endpoint, b.Addr())
			send("last of its key")
			send("lost, and asks for another key")
			send("waits for it")
			send("of the next key")
			var texts []string
			for _, c := range b.control.got()[before:] {
				require.Equal(t, a.Self(), c.from)
				texts = append(texts, c.data)
			}
			require.Equal(t, []string{"first", "last of its key", "of the next key"}, texts)
		}
		require.Empty(t, a.lost.got())
	})
}

func TestPacketsAreFromWhoTheySayAfterARestartAndARename(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*transport.Config)) {
		a, b := start(t, n, "a", protect("a")), start(t, n, "b", protect("b"))
		ping := func() {
			for range 3 {
				a.SendPacket("b:7355", []byte("beat"))
				soon()
			}
		}
		ping()
		b.stop()
		b = start(t, n, "b", protect("b"))
		ping()
		require.Equal(t, control{a.Self(), "beat"}, b.control.got()[0], "the new process has granted a key of its own")
		a.Rename(4711)
		ping()
		all := b.control.got()
		require.Equal(t, control{remote.NodeID{Address: "a:7355", Incarnation: 4711}, "beat"}, all[len(all)-1])
		b.Rename(4712)
		before := len(b.control.got())
		ping()
		require.Greater(t, len(b.control.got()), before)
	})
}

func TestReplayedAndForgedPacketsAreDropped(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*transport.Config)) {
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
			require.Fail(t, "gossip of an unknown node", "%q", p.Data)
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

func TestCertificatesChangeWithoutARestart(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		ca := newAuthority(t)
		shortly := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(time.Hour) }
		own := map[string]*tls.Certificate{}
		rotating := func(host string) func(*transport.Config) {
			first := ca.certify(host, shortly)
			own[host] = &first
			return func(cfg *transport.Config) {
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
		b := start(t, n, "b", func(cfg *transport.Config) {
			cfg.TLS = ca.config(ca.certify("b"))
			cfg.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return instead, nil }
		})
		attempt := func(own tls.Certificate) error {
			conn := tls.Client(dialRaw(t, n, b).Conn, &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: ca.pool(), ServerName: "b"})
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Second)))
			if _, err := conn.Write(opened('C')); err != nil {
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

func TestSecureNodesTalkOverRealTCPAndUDP(t *testing.T) {
	ca := newAuthority(t)
	for name, protect := range map[string]func(*transport.Config){
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

func TestCertificateOfAListenerIsForTheAddressThatItAdvertises(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		ca := newAuthority(t)
		failures := &collector[error]{}
		a := start(t, n, "a", ca.node("a"), func(cfg *transport.Config) {
			cfg.DialFailed = func(_ string, err error) { failures.add(err) }
		})
		start(t, n, "b", ca.node("b"), at("another:7355"))
		a.SendControl("b:7355", []byte("hello"))
		soon()
		require.ErrorIs(t, failures.got()[0], remote.ErrNotAuthenticated)
		require.ErrorContains(t, failures.got()[0], "the node that answers at b:7355 advertises another:7355, for which its certificate is not")
	})
}
