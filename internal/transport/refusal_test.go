package transport_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

func TestNodesThatAreNotTrustedAreRefused(t *testing.T) {
	type world struct {
		ours, foreign *authority
	}
	expired := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }
	early := func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }
	serverOnly := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	for name, c := range map[string]struct {
		a, b func(t *testing.T, w world) func(*transport.Config)
		want string
	}{
		"dialler expired": {
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("a", expired) },
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("b") },
			"expired certificate",
		},
		"listener expired": {
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("a") },
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("b", expired) },
			"certificate has expired",
		},
		"listener not valid yet": {
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("a") },
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("b", early) },
			"not yet valid",
		},
		"dialler of a foreign authority": {
			func(t *testing.T, w world) func(*transport.Config) {
				return func(cfg *transport.Config) {
					cfg.TLS = w.ours.config(w.foreign.certify("a"))
				}
			},
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("b") },
			"unknown certificate authority",
		},
		"listener of a foreign authority": {
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("a") },
			func(_ *testing.T, w world) func(*transport.Config) { return w.foreign.node("b") },
			"unknown authority",
		},
		"dialler at another host": {
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("x") },
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("b") },
			"your certificate is not for the address that you advertise",
		},
		"listener at another host": {
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("a") },
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("x") },
			"certificate is valid for x, not b",
		},
		"dialler with a certificate for servers": {
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("a", serverOnly) },
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("b") },
			"bad certificate",
		},
		"another secret": {
			func(t *testing.T, _ world) func(*transport.Config) { return ring(keyring(t, secret(2))) },
			func(t *testing.T, _ world) func(*transport.Config) { return ring(keyring(t, secret(1))) },
			"its secret is not in this node's keyring",
		},
		"another secret that only the dialler accepts": {
			func(t *testing.T, _ world) func(*transport.Config) { return ring(keyring(t, secret(2), secret(1))) },
			func(t *testing.T, _ world) func(*transport.Config) { return ring(keyring(t, secret(1))) },
			"it does not accept the certificate or secret of this node",
		},
		"a secret and certificates": {
			func(t *testing.T, _ world) func(*transport.Config) { return ring(keyring(t, secret(2))) },
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("b") },
			"its secret is not in this node's keyring",
		},
		"no TLS at the listener": {
			func(_ *testing.T, w world) func(*transport.Config) { return w.ours.node("a") },
			func(*testing.T, world) func(*transport.Config) { return func(*transport.Config) {} },
			"it does not speak TLS",
		},
		"no TLS at the dialler": {
			func(*testing.T, world) func(*transport.Config) { return func(*transport.Config) {} },
			func(t *testing.T, _ world) func(*transport.Config) { return ring(keyring(t, secret(1))) },
			"TLS is required",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				w := world{newAuthority(t), newAuthority(t)}
				failures := &collector[error]{}
				a := start(t, n, "a", c.a(t, w), func(cfg *transport.Config) {
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
					require.Equal(t, "beat", c.data, "without authentication a node cannot tell which node sent a datagram")
				}
			})
		})
	}
}

func warnings(x *testNode) (all []string) {
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
			hello[helloAddr] = host
			answer := conn.greet('C', hello)
			require.EqualValues(t, want, answer[answerRefusal], host)
			require.Equal(t, want == 0, answer[answerGrant] != nil, "only who belongs here is granted a key")
		}
	})
}

func TestConfigurationThatProvesNothingIsRefused(t *testing.T) {
	ca := newAuthority(t)
	for want, change := range map[string]func(*transport.Config){
		"are both set": func(c *transport.Config) { c.Keyring = keyring(t, secret(1)) },
		"InsecureSkipVerify": func(c *transport.Config) {
			c.TLS.InsecureSkipVerify = true //nolint:gosec // it is refused
		},
		"no RootCAs":                       func(c *transport.Config) { c.TLS.RootCAs = nil },
		"no ClientCAs":                     func(c *transport.Config) { c.TLS.ClientCAs = nil },
		"MaxVersion":                       func(c *transport.Config) { c.TLS.MaxVersion = tls.VersionTLS12 },
		"for connections that others open": func(c *transport.Config) { c.TLS.Certificates = nil },
		"for connections that this node opens": func(c *transport.Config) {
			c.TLS.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil }
			c.TLS.Certificates = nil
		},
	} {
		cfg := transport.Config{TLS: ca.config(ca.certify("127.0.0.1"))}
		change(&cfg)
		_, err := transport.Listen(cfg)
		require.ErrorContains(t, err, want)
	}
}

func TestNodesThatAreNotTrustedAreToldOverRealTCP(t *testing.T) {
	for name, c := range map[string]struct {
		a, b func(*transport.Config)
		want string
	}{
		"listener refuses": {ring(keyring(t, secret(2), secret(1))), ring(keyring(t, secret(1))), "it does not accept"},
		"dialler refuses":  {ring(keyring(t, secret(2))), ring(keyring(t, secret(1), secret(2))), "not in this node's keyring"},
		"plain dialler":    {func(*transport.Config) {}, ring(keyring(t, secret(1))), "TLS is required"},
		"plain listener":   {ring(keyring(t, secret(1))), func(*transport.Config) {}, "does not speak TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			failures := &collector[error]{}
			a := startTCP(t, c.a, func(cfg *transport.Config) {
				cfg.DialFailed = func(_ string, err error) { failures.add(err) }
			})
			b := startTCP(t, c.b)
			a.SendControl(b.Addr(), []byte("join"))
			eventually(t, func() bool { return len(failures.got()) > 0 })
			require.ErrorContains(t, failures.got()[0], c.want)
		})
	}
}

// An attacker that can only redirect packets must not make one node take the place of another. In a
// cluster with a secret all nodes have the same certificate.
func TestNodeThatAnswersForAnotherOneGetsNoneOfItsMessages(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		failures := &collector[error]{}
		protect := ring(keyring(t, secret(1)))
		note := func(cfg *transport.Config) {
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
