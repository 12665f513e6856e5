//go:build !quick

package sharding_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
)

func TestThePersistenceIDNamesTheEntity(t *testing.T) {
	for _, e := range []sharding.Entity{{Type: "cart", ID: "42"}, {Type: "cart", ID: "a|b"}, {Type: "a b", ID: "|"}} {
		typ, id, ok := sharding.ParsePersistenceID(e.PersistenceID())
		require.True(t, ok)
		require.Equal(t, sharding.Entity{Type: typ, ID: id}, e)
		require.True(t, sharding.OfType(e.Type)(e.PersistenceID()))
		require.False(t, sharding.OfType("other")(e.PersistenceID()))
	}
	for _, other := range []string{"", "cart", "cart|", "|42", "cart|a\nb"} {
		_, _, ok := sharding.ParsePersistenceID(other)
		require.False(t, ok, "%q", other)
	}
	inBubble(t, func(t *testing.T, s *actor.System) {
		require.Panics(t, func() { _, _ = sharding.Start(s, "a|b", notebook) })
	})
}

// A library is the read model of all notebooks.
type library struct {
	mu       sync.Mutex // guards all below
	last     map[string]uint64
	texts    map[string]string
	wrong    []string
	repeated int
}

func (l *library) add(_ context.Context, e projection.Event[noted]) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, id, _ := sharding.ParsePersistenceID(e.ID)
	switch last := l.last[id]; {
	case e.Seq <= last:
		l.repeated++
		return nil
	case e.Seq != last+1:
		l.wrong = append(l.wrong, fmt.Sprintf("%s: %d after %d", e.ID, e.Seq, last))
	}
	l.last[id] = e.Seq
	l.texts[id] = strings.TrimSpace(l.texts[id] + " " + e.Event.Text)
	return nil
}

func TestAProjectionOverTheSlicesOfATypeSeesEachEventOnceInOrderWhileEntitiesMove(t *testing.T) {
	const entities, shares = 20, 4
	inShop(t, 3, func(t *testing.T, s *shop) {
		read := &library{last: map[string]uint64{}, texts: map[string]string{}}
		var offsets projection.MemoryOffsets
		var mu sync.Mutex
		hosts := map[string]bool{}
		run := func(n *cluster.Node) (all []actor.ActorRef[projection.Command]) {
			for i, slices := range journal.Split(shares) {
				p := projection.New(fmt.Sprint("library-", i), s.store, journal.Query{Slices: slices},
					projection.AtLeastOnce(&offsets, read.add), projection.OfIDs(sharding.OfType("notebook")))
				all = append(all, actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[projection.Command] {
					mu.Lock()
					defer mu.Unlock()
					hosts[n.View().Self.Name] = true
					return p.Behavior()
				}, spread(i)), p.Name()))
			}
			return all
		}
		projections := run(s.Node("n1"))
		for _, n := range []string{"n2", "n3"} {
			run(s.Node(n))
		}
		diaries, err := sharding.Start(s.Node("n1"), "diary", s.persistent("n1"), sharding.Shards(16))
		require.NoError(t, err)
		for count := range 60 {
			for n := range entities {
				s.tell("n1", fmt.Sprint("e", n), fmt.Sprint(count))
			}
			diaries.Ref("e0").Tell(note{Text: "private"})
			time.Sleep(time.Second)
			switch count {
			case 10:
				s.Leave("n3")
			case 20:
				run(s.Add("n4"))
				s.start("n4")
			case 40:
				s.Kill("n2")
			}
		}
		time.Sleep(time.Minute)
		for _, p := range projections {
			status, err := actor.AskTimeout(t.Context(), p, time.Minute, func(r actor.ActorRef[projection.Status]) projection.Command { return projection.CatchUp{ReplyTo: r} })
			require.NoError(t, err)
			require.Empty(t, status.Failing())
		}
		require.Greater(t, len(hosts), 2, "they are spread")
		require.Empty(t, read.wrong)
		require.LessOrEqual(t, read.repeated, 100, "only the last batch of the node that was killed")
		require.Len(t, read.texts, entities)
		for n := range entities {
			id := fmt.Sprint("e", n)
			require.Equal(t, s.read("n1", id), read.texts[id])
		}
	})
}

func TestAShardIsARangeOfSlices(t *testing.T) {
	const shards = 16
	inBubble(t, func(t *testing.T, s *actor.System) {
		seen := make(chan sharding.Entity, 1)
		r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
			seen <- e
			return behaviors.Ignore[note]
		}, sharding.Shards(shards))
		for n := range 200 {
			r.Ref(fmt.Sprint(n)).Tell(note{})
			e := <-seen
			require.True(t, journal.Split(shards)[e.Shard].Contains(journal.SliceOf(e.PersistenceID())))
		}
	})
}
