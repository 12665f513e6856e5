//go:build !quick

package sharding_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
)

var (
	news    = topic.New[note]("news")
	readers = receptionist.NewKey[note]("readers")
)

// startReaders starts a type of event-sourced notebooks that read the news and are registered.
func (s *shop) startReaders(node string) *sharding.Region[note] {
	s.t.Helper()
	r, err := sharding.Start(s.Node(node), "reader", func(e sharding.Entity) actor.Behavior[note] {
		return behaviors.Discoverable(readers, behaviors.Setup(func(ctx *actor.Context[note]) actor.Behavior[note] {
			news.Subscribe(ctx.System(), ctx.Self())
			return persistentNotebook(e, s.store, node)
		}))
	}, sharding.Shards(16), sharding.PassivateAfter(time.Minute))
	require.NoError(s.t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.regions[node] = r
	return r
}

func (s *shop) listed(from string) int {
	return len(receptionist.Find(s.Node(from).System, readers).Reachable())
}

func TestAnEntityThatSubscribesItselfGetsEachMessageOnceWhereverItRuns(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		for _, n := range []string{"n1", "n2", "n3"} {
			s.startReaders(n)
		}
		at, err := s.ask("n1", "e0", "where")
		require.NoError(t, err)
		for _, n := range []string{"n1", "n2", "n3"} {
			time.Sleep(time.Second)
			news.Publish(s.Node(n).System, note{Text: "from-" + n})
		}
		time.Sleep(time.Second)
		require.Equal(t, "from-n1 from-n2 from-n3", s.read("n1", "e0"))

		from := "n1"
		if at == from {
			from = "n2"
		}
		s.Leave(at)
		s.read(from, "e0") // wakes it, where it subscribes
		time.Sleep(time.Second)
		news.Publish(s.Node(from).System, note{Text: "later"})
		time.Sleep(time.Second)
		require.Equal(t, "from-n1 from-n2 from-n3 later", s.read(from, "e0"))
		require.Equal(t, 1, s.listed(from))
	})
}

func TestSubscriptionsAndRegistrationsOfAnEntityEndWhenItPassivates(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		r := s.startReaders("n1")
		s.startReaders("n2")
		s.read("n1", "e0")
		s.read("n1", "e1")
		time.Sleep(time.Second)
		require.Equal(t, 2, s.listed("n1"))
		require.Equal(t, 2, s.listed("n2"))
		for range 3 { // the news keep them awake
			time.Sleep(45 * time.Second)
			news.Publish(s.Node("n2").System, note{Text: "news"})
		}
		time.Sleep(time.Second)
		require.Equal(t, 2, s.listed("n1"))
		time.Sleep(2 * time.Minute)
		require.Zero(t, r.Stats().Awake)
		for _, n := range []string{"n1", "n2"} {
			require.Zero(t, s.listed(n))
			require.Zero(t, news.Stats(s.Node(n).System).Nodes)
		}
		news.Publish(s.Node("n1").System, note{Text: "while they sleep"})
		time.Sleep(time.Second)
		require.Zero(t, r.Stats().Awake, "nobody has woken them")
		require.Equal(t, "news news news", s.read("n2", "e0"))
	})
}

func TestAnEntityIsToldThroughTheReceptionistAsLongAsItIsAwake(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		s.startReaders("n1")
		s.startReaders("n2")
		for n := range 8 {
			s.read("n1", "e"+string(rune('0'+n)))
		}
		time.Sleep(time.Second)
		for _, from := range []string{"n1", "n2"} {
			for _, ref := range receptionist.Find(s.Node(from).System, readers).Reachable() {
				ref.Tell(note{Text: "hello-from-" + from})
			}
			time.Sleep(time.Second)
		}
		for n := range 8 {
			require.Equal(t, "hello-from-n1 hello-from-n2", s.read("n2", "e"+string(rune('0'+n))))
		}
	})
}

// A message that is published while the entity passivates reaches its next incarnation.
func TestNoPublishedMessageIsLostWhileASubscriberPassivates(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		r := s.startReaders("n1")
		s.read("n1", "e0")
		published := 0
		for range 200 {
			time.Sleep(75*time.Second - 20*time.Millisecond)
			for range 40 { // some of them about when it ends
				if news.Stats(s.Node("n1").System).Subscribers > 0 {
					news.Publish(s.Node("n1").System, note{Text: "x"})
					published++
				}
				time.Sleep(time.Millisecond)
			}
			s.read("n1", "e0")
		}
		require.NotZero(t, published)
		require.Len(t, strings.Fields(s.read("n1", "e0")), published)
		require.Equal(t, 1, r.Stats().Awake)
	})
}

// The ref that Region.Ref returns stands for the entity also when it sleeps.
func TestARegionRefThatIsSubscribedWakesItsEntity(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		cancel := news.Subscribe(s.Node("n1").System, s.region("n1").Ref("e0"))
		for _, n := range []string{"n1", "n2"} {
			time.Sleep(5 * time.Minute)
			news.Publish(s.Node(n).System, note{Text: "from-" + n})
		}
		time.Sleep(time.Second)
		require.Equal(t, "from-n1 from-n2", s.read("n2", "e0"))
		cancel()
		time.Sleep(time.Second)
		require.Zero(t, news.Stats(s.Node("n1").System).Nodes)
	})
}
