package sharding_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A studio is a cluster whose notebooks are event-sourced as long as it has a journal.
type studio struct {
	*shop
	plain atomic.Bool // those that start now are not
}

func inStudio(t *testing.T, opts []clustertest.Option, f func(t *testing.T, s *studio), more ...sharding.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &studio{shop: &shop{t: t, store: journal.NewMemory(), regions: map[string]*sharding.Region[note]{}}}
		s.Cluster = clustertest.Start(t, 5, opts...)
		for _, n := range s.Nodes() {
			name := n.View().Self.Name
			r, err := sharding.Start(n, "notebook", func(e sharding.Entity) actor.Behavior[note] { return s.entity(e, name) },
				append(more, sharding.Shards(16), sharding.PassivateAfter(time.Minute))...)
			require.NoError(t, err)
			s.regions[name] = r
		}
		s.AwaitQuiet()
		time.Sleep(10 * time.Second)
		f(t, s)
	})
}

// entity is wrapped, as those of users are.
func (s *studio) entity(e sharding.Entity, node string) actor.Behavior[note] {
	return behaviors.Supervise(behaviors.Setup(func(*actor.Context[note]) actor.Behavior[note] {
		if s.plain.Load() {
			return notebook(e)
		}
		return persistentNotebook(e, s.store, node)
	}), actor.Strategy{Limit: 3})
}

// on returns the id of an entity whose home is a node, as n5 knows it.
func (s *studio) on(node string) string {
	for i := 0; ; i++ {
		id := fmt.Sprint("on-", node, i)
		if s.homeOf(s.region("n5").Shard(id)) == s.Node(node).Address() {
			return id
		}
	}
}

func (s *studio) homeOf(shard int) string { return s.region("n5").Stats().Shards[shard].Home }

// failover kills a node, and returns how long its shards take to run elsewhere.
func (s *studio) failover(of string) time.Duration {
	address, begun := s.Node(of).Address(), time.Now()
	s.Kill(of)
	for shard := 0; shard < 16; {
		if at := s.homeOf(shard); at == "" || at == address {
			time.Sleep(10 * time.Millisecond)
		} else {
			shard++
		}
	}
	return time.Since(begun)
}

// The first entity tells what all are, whatever node it starts on. The next coordinators know it,
// and nodes that have had none take the shards of a node that has crashed at once.
func TestATypeKnowsThatItIsEventSourced(t *testing.T) {
	for name, opts := range map[string][]clustertest.Option{"with a journal of the coordinator": nil, "without": {clustertest.WithJournal(nil)}} {
		t.Run(name, func(t *testing.T) {
			inStudio(t, opts, func(t *testing.T, s *studio) {
				s.read("n1", s.on("n2"))
				time.Sleep(time.Second)
				require.Less(t, s.failover("n1"), 5*time.Second, "which has had the coordinator")
				require.Less(t, s.failover("n2"), 5*time.Second, "likewise")
			})
		})
	}
}

func TestATypeThatIsSaidToBeEventSourcedNeedsNoEntityToKnowIt(t *testing.T) {
	inStudio(t, nil, func(t *testing.T, s *studio) {
		require.Less(t, s.failover("n1"), 5*time.Second)
		s.plain.Store(true)
		_, err := s.ask("n5", s.on("n3"), "")
		require.ErrorContains(t, err, "the type is event-sourced, and this entity is not")
	}, sharding.EventSourced())
}

func TestAnEntityThatIsNotEventSourcedIsRefusedBesideOthersThatAre(t *testing.T) {
	inStudio(t, nil, func(t *testing.T, s *studio) {
		s.read("n1", s.on("n2"))
		time.Sleep(time.Second)
		s.plain.Store(true)
		id := s.on("n3") // which has had no entity
		lost := testkit.NewProbe[actor.DeadLetter](t, s.Node("n3").System)
		actor.Subscribe(s.Node("n3").System, lost.Ref())
		_, err := s.ask("n1", id, "")
		require.ErrorIs(t, err, sharding.ErrEntityFailed)
		require.ErrorContains(t, err, "the type is event-sourced, and this entity is not")
		reason := lost.Receive().Reason
		require.ErrorIs(t, reason, sharding.ErrEntityFailed)
		require.ErrorContains(t, reason, "the type is event-sourced, and this entity is not")
		s.plain.Store(false)
		time.Sleep(time.Minute)
		at, err := s.ask("n1", id, "where")
		require.NoError(t, err)
		require.Equal(t, "n3", at)
	})
}

func TestTheShardsOfATypeThatIsNotEventSourcedWaitForTheMargin(t *testing.T) {
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprint("it has had an entity ", first), func(t *testing.T) {
			inStudio(t, nil, func(t *testing.T, s *studio) {
				if first {
					s.plain.Store(true)
					s.read("n1", s.on("n2"))
					s.plain.Store(false)
					s.read("n1", s.on("n2")+"0") // it may be event-sourced, and changes nothing
				}
				time.Sleep(time.Second)
				require.Greater(t, s.failover("n1"), 13*time.Second)
			})
		})
	}
}
