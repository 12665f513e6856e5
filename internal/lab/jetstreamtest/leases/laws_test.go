package leases

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

func TestConformanceOnOneServer(t *testing.T) { conformance(t, 1) }

func TestConformanceOnThreeServers(t *testing.T) { conformance(t, 3) }

// Three servers need longer for an election than the TTL of the laws: store_test.go has
// what becomes of leases meanwhile.
func conformance(t *testing.T, n int) {
	t.Parallel()
	c := start(t, n)
	kv := c.bucket(t, jetstream.DefaultLeasesBucket)
	leasetest.Run(t, func(t *testing.T) leasetest.Backend {
		b := leasetest.Backend{
			Open: func(t *testing.T) lease.Store { return c.open(t, jetstream.DefaultLeasesBucket) },
			TTL:  4 * time.Second,
			Delete: func(t *testing.T, name string) {
				require.NoError(t, kv.Delete(t.Context(), "holder."+name))
				require.NoError(t, kv.Purge(t.Context(), "token."+name))
			},
			Usurp: func(t *testing.T, name string) {
				require.NoError(t, kv.Purge(t.Context(), "holder."+name))
				_, err := c.open(t, jetstream.DefaultLeasesBucket).Take(t.Context(), claim(name, "usurper"))
				require.NoError(t, err)
			},
		}
		if n == 1 {
			b.Outage = c.outage
			b.Restart = func(t *testing.T) { c.outage(t)() }
		}
		return b
	})
}

const ttl = time.Minute

func claim(name, holder string) lease.Claim {
	return lease.Claim{Name: name, Holder: holder, TTL: ttl}
}

func TestTheLeaseOfAKilledProcessIsFreeAfterTheTTL(t *testing.T) {
	t.Parallel()
	leasetest.KilledHolder(t, func() string { return start(t, 1).urls() }, func(t *testing.T, urls string) lease.Store {
		return openAt(t, urls, jetstream.LeasesConfig{Replicas: 1})
	})
}

func TestOfEightContendersOneGetsTheLease(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			c := start(t, n)
			stores := make([]*jetstream.Leases, 8)
			for i := range stores {
				stores[i] = c.open(t, "leases")
			}
			leasetest.Contenders(t, stores, 30)
		})
	}
}

func BenchmarkStore(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { leasetest.BenchmarkStore(b, start(b, n).open(b, "leases")) })
	}
}
