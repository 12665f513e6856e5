package singleton_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
)

// fickle finishes when it is told to.
func fickle() actor.Behavior[msg] {
	return behaviors.Receive(func(_ *actor.Context[msg], m msg) actor.Behavior[msg] {
		if m.Text == "finish" {
			return finished
		}
		return behaviors.Same
	})
}

func TestWhatBecomesOfTheLeaseIsPublishedWhereItHappens(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a, b := c.join("a"), c.join("b")
		onA, onB := heard(t, a), heard(t, b)
		l := leaseOnAll(c, fickle)
		c.up(a)
		c.up(b)
		settle()
		expectInOrder(t, onA, singleton.HostChanged{Name: "one", Host: "a"}, acquired(l, "a"), started(l, "a"))
		expectInOrder(t, onB, singleton.HostChanged{Name: "one", Host: "a"})

		l.store.Usurp("one", "stranger", 2*time.Second)
		time.Sleep(ttl / 2)
		lost, ok := next(onA).(singleton.LeaseLost)
		require.True(t, ok)
		require.Equal(t, "one", lost.Name)
		require.ErrorIs(t, lost.Reason, lease.ErrLost)
		_, ok = next(onA).(singleton.Stopped)
		require.True(t, ok)
		expectInOrder(t, onA, acquired(l, "a"), started(l, "a"))

		c.leave("a") // gives the lease back, which is no loss
		settle()
		_, ok = next(onA).(singleton.HostChanged)
		require.True(t, ok)
		_, ok = next(onA).(singleton.Stopped)
		require.True(t, ok)
		expectInOrder(t, onB, singleton.HostChanged{Name: "one", Host: "b"}, acquired(l, "b"), started(l, "b"))
	})
}

func TestTheEndForGoodIsPublishedOnEveryNode(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		all := []*testkit.Probe[any]{}
		for _, n := range c.members {
			all = append(all, heard(t, n))
		}
		refs := onAll(c, fickle)
		settle()
		refs["b"].Tell(msg{Text: "finish"})
		settle()
		c.join("d")
		late := heard(t, c.nodes["d"])
		actor.Spawn(c.nodes["d"].System, behaviors.Singleton(fickle), "one")
		c.up(c.nodes["d"])
		settle()
		for _, p := range append(all, late) {
			for next(p) != any(singleton.Retired{Name: "one"}) { // fails when no more comes
			}
		}
	})
}

func acquired(l *leased, name string) singleton.LeaseAcquired {
	return singleton.LeaseAcquired{Name: "one", Token: l.leases[name].Token()}
}

func started(l *leased, name string) singleton.Started {
	return singleton.Started{Name: "one", Generation: singleton.Generation{Term: l.leases[name].Token(), Seq: 1}}
}

func expectInOrder(t *testing.T, p *testkit.Probe[any], events ...any) {
	t.Helper()
	for i, want := range events {
		require.Equal(t, want, next(p), "event "+strconv.Itoa(i))
	}
}
