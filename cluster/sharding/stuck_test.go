package sharding_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A job is handled at once, or never.
type job struct {
	Hang    bool
	ReplyTo actor.ActorRef[string] // gets the name of the node
}

// A stuckRig is a type whose entities may hang, on three nodes.
type stuckRig struct {
	*clustertest.Cluster
	regions map[string]*sharding.Region[job]
	never   chan struct{}
	mates   []string // of "e0", in its shard
	home    string   // of that shard
	events  *testkit.Probe[sharding.Stuck]

	mu      sync.Mutex
	handled map[string]int // jobs, by entity
}

func newStuckRig(t *testing.T, sourced bool) *stuckRig {
	s := &stuckRig{Cluster: clustertest.Start(t, 3), regions: map[string]*sharding.Region[job]{}, never: make(chan struct{}), handled: map[string]int{}}
	t.Cleanup(sync.OnceFunc(func() {
		select {
		case <-s.never:
		default:
			close(s.never)
		}
	}))
	j := journal.NewMemory()
	for _, n := range s.Nodes() {
		r, err := sharding.Start(n, "hanging", func(e sharding.Entity) actor.Behavior[job] { return s.entity(n, e, sourced, j) }, sharding.Shards(4))
		require.NoError(t, err)
		s.regions[n.View().Self.Name] = r
	}
	s.AwaitQuiet()
	for i := range 20 {
		id := fmt.Sprint("e", i)
		at, err := s.ask("n1", id, time.Minute)
		require.NoError(t, err)
		switch {
		case i == 0:
			s.home = at
		case s.regions["n1"].Shard(id) == s.regions["n1"].Shard("e0"):
			s.mates = append(s.mates, id)
		}
	}
	require.NotEmpty(t, s.mates)
	s.events = testkit.NewProbe[sharding.Stuck](t, s.Node(s.home).System)
	actor.Subscribe(s.Node(s.home).System, s.events.Ref())
	return s
}

func (s *stuckRig) entity(n *cluster.Node, e sharding.Entity, sourced bool, j persistence.Journal) actor.Behavior[job] {
	handle := func(m job) string {
		if m.Hang {
			<-s.never
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.handled[e.ID]++
		return n.View().Self.Name
	}
	if !sourced {
		return behaviors.Receive(func(_ *actor.Context[job], m job) actor.Behavior[job] {
			m.ReplyTo.Tell(handle(m))
			return behaviors.Same
		})
	}
	return behaviors.EventSourced(e.PersistenceID(), j, 0, func(n int, _ written) int { return n + 1 },
		func(_ *actor.Context[job], _ int, m job) persistence.Effect[written] {
			at := handle(m)
			return persistence.ThenReply(persistence.Persist(written{}), m.ReplyTo, at)
		})
}

type written struct{ Of int }

func init() {
	actor.RegisterType[job]("stuck-test.job")
	actor.RegisterType[written]("stuck-test.written")
}

func (s *stuckRig) ask(from, id string, within time.Duration) (node string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return actor.Ask(ctx, s.regions[from].Ref(id), func(to actor.ActorRef[string]) job { return job{ReplyTo: to} })
}

// hang lets an entity hang, and returns why the ask has no reply.
func (s *stuckRig) hang(from, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := actor.Ask(ctx, s.regions[from].Ref(id), func(to actor.ActorRef[string]) job { return job{Hang: true, ReplyTo: to} })
	return err
}

// A handler that never returns costs its own entity only: when the shard moves or the node leaves,
// the others of the shard go on, and so does the next incarnation of the entity.
func TestAStuckEntityDoesNotKeepItsShard(t *testing.T) {
	const margin = 13 * time.Second // of clustertest
	for name, move := range map[string]func(t *testing.T, s *stuckRig, other string) (done func()){
		"pinned elsewhere": func(t *testing.T, s *stuckRig, other string) func() {
			r := s.regions[s.home]
			require.NoError(t, r.Pin(t.Context(), other, r.Shard("e0")))
			return func() {}
		},
		"the node leaves": func(t *testing.T, s *stuckRig, _ string) func() {
			left := make(chan error, 1)
			go func() { left <- s.Node(s.home).Leave(context.Background()) }()
			return func() { require.NoError(t, <-left) }
		},
	} {
		for _, sourced := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", event-sourced ", sourced), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStuckRig(t, sourced)
					other := "n1"
					if s.home == other {
						other = "n2"
					}
					require.ErrorIs(t, s.hang(other, "e0"), context.DeadlineExceeded)
					waits := make(chan error, 1)
					go func() { _, err := s.ask(other, "e0", 5*time.Minute); waits <- err }()
					synctest.Wait()
					began := time.Now()
					done := move(t, s, other)
					grace := sharding.DefaultStopTimeout + 2*time.Second
					if !sourced {
						grace += margin
					}
					for _, id := range append(s.mates, "e0") {
						at, err := s.ask(other, id, time.Minute)
						require.NoError(t, err)
						require.NotEqual(t, s.home, at)
						require.Less(t, time.Since(began), grace, id)
					}
					require.NoError(t, <-waits, "what waited behind the handler is for the next incarnation")
					stuck := s.events.Receive()
					require.Equal(t, "e0", stuck.ID)
					require.WithinDuration(t, began, stuck.Since, time.Second)
					require.Equal(t, sourced, stuck.Until.Sub(stuck.Since) < margin)
					done()
					close(s.never)
					time.Sleep(time.Minute)
					at, err := s.ask(other, "e0", time.Minute)
					require.NoError(t, err)
					require.NotEqual(t, s.home, at)
				})
			})
		}
	}
}
