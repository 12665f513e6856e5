package singleton_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// hanging blocks at each message "hang" until the channel is closed, and answers others.
func hanging(until <-chan struct{}) func() actor.Behavior[msg] {
	return func() actor.Behavior[msg] {
		return behaviors.Receive(func(_ *actor.Context[msg], m msg) actor.Behavior[msg] {
			if m.Text == "hang" {
				<-until
			} else {
				m.ReplyTo.Tell(m.Text)
			}
			return behaviors.Same
		})
	}
}

// diaryHanging is an event-sourced instance that does the same.
func diaryHanging(until <-chan struct{}, j persistence.Journal) actor.Behavior[msg] {
	return behaviors.Singleton(func() actor.Behavior[msg] {
		return behaviors.EventSourced("stuck", j, 0,
			func(n int, _ written) int { return n + 1 },
			func(_ *actor.Context[msg], _ int, m msg) persistence.Effect[written] {
				if m.Text == "hang" {
					<-until
				}
				return persistence.ThenReply(persistence.Persist(written{}), m.ReplyTo, m.Text)
			})
	})
}

// stuckAtA lets the instance on a hang, and a leave. It returns when b has asked.
func stuckAtA(t *testing.T, c *cluster, refs map[string]actor.ActorRef[msg]) (stuck map[string]*testkit.Probe[singleton.Stuck]) {
	settle()
	p := testkit.NewProbe[string](t, c.nodes["a"].System)
	refs["a"].Tell(msg{"before", p.Ref()})
	p.Expect("before")
	refs["a"].Tell(msg{"hang", p.Ref()})
	stuck = map[string]*testkit.Probe[singleton.Stuck]{}
	for name, n := range c.nodes {
		stuck[name] = testkit.NewProbe[singleton.Stuck](t, n.System)
		actor.Subscribe(n.System, stuck[name].Ref())
	}
	c.startLeaving("a")
	go func() { _ = singletons.Drain(t.Context(), c.nodes["a"].System) }()
	settle()
	return stuck
}

// An instance whose handler never returns is given up: after StopTimeout both nodes report it as
// stuck, and after the margin the next one starts.
func TestAnInstanceThatNeverEndsIsGivenUpAfterTheMargin(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		never := make(chan struct{})
		t.Cleanup(func() { close(never) })
		refs := onAll(c, hanging(never))
		stuck := stuckAtA(t, c, refs)
		began := time.Now()
		a, b := c.nodes["a"], c.nodes["b"]
		require.Zero(t, a.status("one").Stuck)
		time.Sleep(singleton.DefaultStopTimeout + 600*time.Millisecond)

		for name, probe := range stuck {
			s := probe.Receive()
			require.Equal(t, "one", s.Name)
			require.Equal(t, "a", s.Host, "as %s says", name)
			require.WithinDuration(t, began, s.Since, 100*time.Millisecond)
			require.WithinDuration(t, began.Add(singleton.DefaultStopTimeout+margin), s.Until, time.Second)
			probe.ExpectNone(0)
		}
		require.WithinDuration(t, began, a.status("one").Stuck, 100*time.Millisecond)
		require.Contains(t, a.status("one").Why, "does not end, as its handler does not return; it is given up at")
		require.Contains(t, b.status("one").Why, "waits for the permission of a, where the instance was told to stop at")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := actor.Ask(ctx, refs["b"], func(to actor.ActorRef[string]) msg { return msg{"lost?", to} })
		require.ErrorIs(t, err, singleton.ErrUnavailable)
		require.ErrorContains(t, err, "and does not end; it is given up at")

		time.Sleep(margin)
		p := testkit.NewProbe[string](t, b.System)
		refs["b"].Tell(msg{"after", p.Ref()})
		p.Receive() // what waited
		require.True(t, b.status("one").Here)
		require.False(t, a.status("one").Here)
		require.Less(t, time.Since(began), singleton.DefaultStopTimeout+margin+5*time.Second)

		c.change(func() { a.peer.Up = true }) // it is preferred again, and cannot start anything
		time.Sleep(time.Minute)
		require.True(t, b.status("one").Here)
	})
}

// Where a journal fences the writes of the old instance, there is nothing to wait for.
func TestAStuckInstanceWhoseWritesAreFencedIsGivenUpAtOnce(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		never, j := make(chan struct{}), journal.NewMemory()
		t.Cleanup(func() { close(never) })
		refs := map[string]actor.ActorRef[msg]{}
		for name, n := range c.nodes {
			refs[name] = actor.Spawn(n.System, diaryHanging(never, j), "one")
		}
		stuckAtA(t, c, refs)
		time.Sleep(singleton.DefaultStopTimeout + time.Second)
		require.True(t, c.nodes["b"].status("one").Here)
	})
}
