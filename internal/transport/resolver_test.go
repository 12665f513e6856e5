package transport

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeResolver answers after a second.
type fakeResolver struct {
	hosts map[string][]netip.Addr
	asked atomic.Int32
}

func (r *fakeResolver) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	r.asked.Add(1)
	if !sleep(ctx.Done(), time.Second) {
		return nil, ctx.Err()
	}
	found, ok := r.hosts[host]
	if !ok {
		return nil, errors.New("no such host")
	}
	return found, nil
}

func TestNamesAreLookedUpInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v4, v6 := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")
		r := &fakeResolver{hosts: map[string][]netip.Addr{"both": {v6, v4}, "six": {v6}, "none": {}}}
		n := newResolver(r)
		defer n.close()
		for _, name := range []string{"both:1", "six:2", "none:3", "unknown:4", "no port", "both:port"} {
			_, known := n.find(name)
			require.False(t, known, name)
		}
		time.Sleep(2 * time.Second)
		for name, want := range map[string]netip.AddrPort{"both:1": netip.AddrPortFrom(v4, 1), "six:2": netip.AddrPortFrom(v6, 2)} {
			got, known := n.find(name)
			require.True(t, known)
			require.Equal(t, want, got)
		}
		_, known := n.find("none:3")
		require.False(t, known)
	})
}

func TestNamesAreLookedUpAgainInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
		r := &fakeResolver{hosts: map[string][]netip.Addr{"host": {first}}}
		n := newResolver(r)
		defer n.close()
		for range 10 {
			n.find("host:1")
			time.Sleep(2 * time.Second)
		}
		require.Equal(t, int32(1), r.asked.Load())
		r.hosts["host"] = []netip.Addr{second}
		time.Sleep(resolverTTL)
		got, _ := n.find("host:1")
		require.Equal(t, first, got.Addr(), "the old one stays in use meanwhile")
		time.Sleep(2 * time.Second)
		got, _ = n.find("host:1")
		require.Equal(t, second, got.Addr())
		delete(r.hosts, "host")
		time.Sleep(2 * resolverTTL)
		n.find("host:1")
		time.Sleep(2 * time.Second)
		got, _ = n.find("host:1")
		require.Equal(t, second, got.Addr(), "and when there is no new one")
	})
}

func TestCloseEndsLookUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newResolver(&fakeResolver{})
		n.find("host:1")
		synctest.Wait()
		begin := time.Now()
		n.close()
		require.Zero(t, time.Since(begin))
		_, known := n.find("late:1")
		require.False(t, known)
	})
}
