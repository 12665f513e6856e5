//go:build !quick

package clustertest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// certified gives each node a certificate of one authority for the host of its name.
func certified(t *testing.T) clustertest.Option {
	t.Helper()
	authority := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(1000 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	sign := func(c *x509.Certificate, key *ecdsa.PrivateKey, by *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, c, authority, key.Public(), by)
		require.NoError(t, err)
		return der
	}
	newKey := func() *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		return key
	}
	root := newKey()
	parsed, err := x509.ParseCertificate(sign(authority, root, root))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return func(name string, cfg *cluster.Config) {
		key := newKey()
		der := sign(&x509.Certificate{
			SerialNumber: big.NewInt(2),
			DNSNames:     []string{name},
			NotBefore:    time.Now().Add(-time.Hour),
			NotAfter:     time.Now().Add(100 * time.Hour),
			ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}, key, root)
		cfg.TLS = &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
			RootCAs:      pool,
			ClientCAs:    pool,
		}
	}
}

func withSecret(secret string) clustertest.Option {
	return func(_ string, cfg *cluster.Config) { cfg.Secret = []byte(secret) }
}

const goodSecret = "Wn1Pq0yT6kXw2uJf4cE8bR5mZs7vA3dL"

func TestASecureClusterFormsAndFailsOverLikeAnyOther(t *testing.T) {
	for name, protect := range map[string]func(*testing.T) clustertest.Option{
		"certificates": certified,
		"secret":       func(*testing.T) clustertest.Option { return withSecret(goodSecret) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 3, protect(t))
				census := testkit.NewCensus(t)
				journal := journal.NewMemory()
				logs := map[string]actor.ActorRef[Entry]{}
				for _, n := range c.Nodes() {
					logs[n.View().Self.Name] = actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, entries(journal))), "log")
				}
				c.AwaitQuiet()
				for i := range 10 {
					logs["n2"].Tell(Entry{N: i})
				}
				time.Sleep(long(10 * time.Minute))
				require.Equal(t, 1, census.Started(), "nobody was suspected")

				c.Crash("n1")
				time.Sleep(5 * time.Second) // as fast as without
				all := testkit.Ask(t.Context(), t, logs["n3"], func(replyTo actor.ActorRef[[]int]) Entry { return Entry{ReplyTo: replyTo} })
				require.Equal(t, numbers(10), all)
				require.Equal(t, 1, census.Running())

				c.Partition([]string{"n2"}, []string{"n3"})
				time.Sleep(time.Second)
				c.Heal()
				c.AwaitQuiet()
				c.Add("n1")
				c.AwaitQuiet()
			})
		})
	}
}

func TestSecretsOfAClusterChangeWhileItRuns(t *testing.T) {
	const next = "another secret, made by openssl, of course"
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3, withSecret(goodSecret))
		before := c.Node("n1").View().Members
		for _, round := range []func(*cluster.Node) error{
			func(n *cluster.Node) error { return n.Keyring().Add([]byte(next)) },
			func(n *cluster.Node) error { return n.Keyring().Use([]byte(next)) },
			func(n *cluster.Node) error { return n.Keyring().Remove([]byte(goodSecret)) },
		} {
			for _, n := range c.Nodes() {
				require.NoError(t, round(n))
				time.Sleep(long(time.Minute))
			}
		}
		require.Equal(t, before, c.Node("n1").View().Members, "nobody has come, gone, or been unreachable for long")
		c.Add("n4", withSecret(next))
		c.Restart("n2", withSecret(next))
		c.AwaitQuiet()
		require.Len(t, c.Node("n1").View().Members, 4)
	})
}

func TestNodesWithoutASecretHaveNoKeyring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.Nil(t, clustertest.Start(t, 1).Node("n1").Keyring())
	})
}
