package allot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// newLeasedRig returns a rig whose nodes host only while they have a lease: those in has.
func newLeasedRig(t *testing.T, has map[string]uint64) *rig {
	t.Helper()
	r := newRig(t, func(c *Config) { c.LeaseRetry = 5 * time.Second })
	r.offer.Leased, r.leases = true, has
	return r
}

// asked returns the leases that the machine has asked for so far, and forgets them.
func (r *rig) asked() (all []Fence) {
	for _, e := range r.effects {
		if f, ok := e.(Fence); ok {
			all = append(all, f)
		}
	}
	r.effects = nil
	return all
}

func TestANodeHostsOnlyWhileItHasItsLease(t *testing.T) {
	r := newLeasedRig(t, map[string]uint64{})
	r.join("a", "b")
	require.Equal(t, "no member that hosts the type has its lease: a, b", r.m.Explain("cart", 0).Why)
	r.leases["b"] = 7
	r.view()
	require.Equal(t, map[string]int{"b": 8}, r.homes())
	require.Equal(t, uint64(7), r.record().Lease)
	require.Equal(t, uint64(7), ParseState(r.lastStart.State).Lease, "the node must start it under no other")
	require.Zero(t, ParseState(nil))
	require.Zero(t, ParseState([]byte("other")))
}

func TestTheShardsOfAFormerMemberStartElsewhereWhenItsLeaseHasBeenTaken(t *testing.T) {
	for name, again := range map[string]bool{"by the same coordinator": false, "by the next one": true} {
		t.Run(name, func(t *testing.T) {
			r := newLeasedRig(t, map[string]uint64{"a": 1})
			r.join("a")
			r.leases["b"] = 2
			r.join("b")
			r.nodes = r.nodes[1:] // a has crashed, and its removal margin is over at once
			r.view()
			of := Fence{Type: "cart", Node: home.NodeID{Name: "a", Incarnation: 1}}
			require.Equal(t, []Fence{of}, r.asked(), "once for all its shards")
			require.Equal(t, "a", r.on(0), "it may still run there")
			if again {
				r.begin(2, func(c *Config) { c.LeaseRetry = 5 * time.Second })
				r.pass(3 * time.Second)
				require.Equal(t, []Fence{of}, r.asked())
			}
			r.do(FenceAnswered{Fence: of, Why: "held by another"})
			require.Equal(t, "a is no longer a member, and its lease is not free yet: held by another", r.m.Explain("cart", 0).Why)
			r.pass(4 * time.Second)
			require.Empty(t, r.asked())
			r.pass(time.Second)
			require.Equal(t, []Fence{of}, r.asked(), "it asks again after 5 s")
			r.do(FenceAnswered{Fence: of, Held: true})
			require.Equal(t, map[string]int{"b": 8}, r.homes())
			r.pass(time.Minute)
			require.Empty(t, r.asked())
		})
	}
}

// A process that has the lease of a node's name proves that the former process has it no more.
func TestTheNextProcessOfANodeFreesTheShardsOfTheFormerWithItsLease(t *testing.T) {
	r := newLeasedRig(t, map[string]uint64{"a": 1})
	r.join("a")
	r.nodes, r.leases["a"] = nil, 0
	r.join("a")
	require.Len(t, r.asked(), 1)
	require.Equal(t, uint64(1), r.record().Incarnation, "the shards of the former may run")
	r.leases["a"] = 2
	r.view()
	require.Equal(t, map[string]int{"a": 8}, r.homes())
	require.Equal(t, uint64(2), r.record().Incarnation)
}

func TestAShardThatStartedWithoutALeaseWaitsForTheRemovalMargin(t *testing.T) {
	r := newRig(t)
	r.join("a", "b")
	r.offer.Leased, r.leases = true, map[string]uint64{"b": 3} // a rolling change of the settings
	r.view()
	r.nodes = r.nodes[1:]
	r.gone = []home.Gone{{Name: "a", Incarnation: 1, Until: r.now.Add(10 * time.Second)}}
	r.view()
	r.pass(9 * time.Second)
	require.Empty(t, r.asked())
	require.NotEqual(t, 8, r.homes()["b"])
	r.pass(2 * time.Second)
	require.Equal(t, 8, r.homes()["b"])
}
