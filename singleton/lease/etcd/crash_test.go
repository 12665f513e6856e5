package etcd_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/etcd"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

func TestTheLeaseOfAKilledProcessIsFreeAfterTheTTL(t *testing.T) {
	leasetest.KilledHolder(t, func() string { return shared(t).client }, func(t *testing.T, addr string) lease.Store {
		return openAt(t, addr, etcd.Prefix(t.Name()+"/"))
	})
}

func BenchmarkStore(b *testing.B) {
	client := connect(b, shared(b).client)
	b.Cleanup(func() { _ = client.Close() })
	store, err := etcd.New(client, etcd.Prefix(b.Name()+"/"))
	require.NoError(b, err)
	leasetest.BenchmarkStore(b, store)
}
