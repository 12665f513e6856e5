package transport_test

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
)

// An order is what an obedient actor does.
type order func(ctx *actor.Context[order]) actor.Behavior[order]

// A warden watches other actors on order, and collects the ends that it is notified of.
type warden struct {
	*collector[string]
	actor.ActorRef[order]
}

func spawnWarden(x *testNode) warden {
	w := warden{collector: &collector[string]{}}
	w.ActorRef = actor.Spawn(x.sys, w.behavior(), "warden")
	return w
}

// behavior shadows the collector's method.
func (w warden) behavior() actor.Behavior[order] {
	return func(_ *actor.Context[order], next *actor.Next[order]) {
		next.OnMessage = func(ctx *actor.Context[order], o order) actor.Behavior[order] { return o(ctx) }
		next.OnSignal = func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
			if end, ok := sig.(actor.Terminated); ok {
				w.add("end of " + end.Ref.Path())
			}
			return nil
		}
	}
}

func watching(refs ...actor.AnyRef) order {
	return func(ctx *actor.Context[order]) actor.Behavior[order] {
		for _, ref := range refs {
			ctx.Watch(ref)
		}
		return nil
	}
}

func unwatching(ref actor.AnyRef) order {
	return func(ctx *actor.Context[order]) actor.Behavior[order] {
		ctx.Unwatch(ref)
		return nil
	}
}

// spawnMortal starts an actor that ends when it is told 0.
func spawnMortal(x *testNode, name string) actor.ActorRef[int] {
	return actor.Spawn(x.sys, func(_ *actor.Context[int], next *actor.Next[int]) {
		next.OnMessage = func(_ *actor.Context[int], m int) actor.Behavior[int] {
			if m == 0 {
				return func(_ *actor.Context[int], next *actor.Next[int]) { next.Stop() }
			}
			return nil
		}
	}, name)
}

func init() { actor.RegisterType[actor.ActorRef[[]byte]]("transport_test.listener") }

// seenFrom returns the ref of an actor, with its number, as another node has it.
func seenFrom[M any](x *testNode, ref actor.ActorRef[M]) actor.ActorRef[M] {
	return actor.Resolve[M](x.sys, ref.String())
}

func TestTheEndOfAnActorComesAfterTheLargeMessagesThatItHasTold(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		talker := actor.Spawn(b.sys, func(_ *actor.Context[actor.ActorRef[[]byte]], next *actor.Next[actor.ActorRef[[]byte]]) {
			next.OnMessage = func(_ *actor.Context[actor.ActorRef[[]byte]], to actor.ActorRef[[]byte]) actor.Behavior[actor.ActorRef[[]byte]] {
				for range 3 {
					to.Tell(make([]byte, 4_000_000))
				}
				to.Tell([]byte("last words"))
				return func(_ *actor.Context[actor.ActorRef[[]byte]], next *actor.Next[actor.ActorRef[[]byte]]) { next.Stop() }
			}
		}, "talker")
		heard := &collector[int]{}
		listener := actor.Spawn(a.sys, func(ctx *actor.Context[[]byte], next *actor.Next[[]byte]) {
			ctx.Watch(seenFrom(a, talker))
			next.OnMessage = func(_ *actor.Context[[]byte], msg []byte) actor.Behavior[[]byte] {
				heard.add(len(msg))
				return nil
			}
			next.OnSignal = func(_ *actor.Context[[]byte], sig actor.Signal) actor.Behavior[[]byte] {
				if _, ok := sig.(actor.Terminated); ok {
					heard.add(-1)
				}
				return nil
			}
		}, "listener")
		soon()
		seenFrom(a, talker).Tell(listener)
		time.Sleep(time.Minute)
		require.Equal(t, []int{4_000_000, 4_000_000, 4_000_000, 10, -1}, heard.got())
	})
}

func TestTheEndOfAnActorOnAnotherNodeIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		w, mortal := spawnWarden(a), spawnMortal(b, "mortal")
		w.Tell(watching(seenFrom(a, mortal)))
		time.Sleep(time.Hour)
		require.Empty(t, w.got())
		mortal.Tell(0)
		soon()
		require.Equal(t, []string{"end of understudy://test@b:7355/user/mortal"}, w.got())
		time.Sleep(time.Hour)
		require.Len(t, w.got(), 1)
		require.Empty(t, append(a.lost.got(), b.lost.got()...))
	})
}

func TestTheEndOfAnActorOnAnotherNodeComesAfterAllThatItHasTold(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		n.Delay(time.Millisecond, time.Millisecond)
		chatter := actor.Spawn(b.sys, func(_ *actor.Context[actor.ActorRef[int]], next *actor.Next[actor.ActorRef[int]]) {
			next.OnMessage = func(_ *actor.Context[actor.ActorRef[int]], to actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]] {
				for i := range 2000 {
					to.Tell(i)
				}
				return func(_ *actor.Context[actor.ActorRef[int]], next *actor.Next[actor.ActorRef[int]]) { next.Stop() }
			}
		}, "chatter")
		heard := &collector[int]{}
		listener := actor.Spawn(a.sys, func(ctx *actor.Context[int], next *actor.Next[int]) {
			ctx.WatchWith(seenFrom(a, chatter), 2000)
			next.OnMessage = func(_ *actor.Context[int], m int) actor.Behavior[int] {
				heard.add(m)
				return nil
			}
		}, "listener")
		soon()
		chatter.Tell(seenFrom(b, listener))
		time.Sleep(time.Second)
		require.Equal(t, count(2001), heard.got())
	})
}

func TestWatchingWhomNobodyKnowsOnAnotherNodeYieldsItsEnd(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		w := spawnWarden(a)
		first := spawnMortal(b, "reused")
		first.Tell(0)
		soon()
		spawnMortal(b, "reused")
		w.Tell(watching(seenFrom(a, first), ref[int](a, b, "/user/nobody")))
		soon()
		require.ElementsMatch(t, []string{
			"end of understudy://test@b:7355/user/reused",
			"end of understudy://test@b:7355/user/nobody",
		}, w.got())
	})
}

func TestAPathOfAnotherNodeIsWatchedForWhoLivesThereThen(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		w, path := spawnWarden(a), ref[int](a, b, "/user/mortal")
		for range 3 {
			mortal := spawnMortal(b, "mortal")
			w.Tell(watching(path))
			soon()
			mortal.Tell(0)
			soon()
		}
		require.Len(t, w.got(), 3)
	})
}

func TestARefToAnActorWhoseNameWasReusedNeverReachesTheNewOneAcrossNodes(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		first := spawnMortal(b, "inbox")
		old := seenFrom(a, first)
		first.Tell(0)
		soon()
		inbox, _ := spawn[int](b, "inbox")
		old.Tell(7)
		soon()
		require.Empty(t, inbox.got())
		require.Len(t, b.lost.got(), 1)
		require.ErrorIs(t, b.lost.got()[0].Reason, actor.ErrStaleRef)

		n.Crash("b") // and now the whole node
		b.stop()
		b = start(t, n, "b")
		inbox, _ = spawn[int](b, "inbox")
		time.Sleep(2 * time.Second)
		old.Tell(8)
		soon()
		require.Empty(t, inbox.got())
		require.Len(t, b.lost.got(), 1)
		require.ErrorIs(t, b.lost.got()[0].Reason, actor.ErrStaleRef)
	})
}

func TestNothingIsToldOfWhatIsNotWatchedAnyMoreOnAnotherNode(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		w, mortal := spawnWarden(a), spawnMortal(b, "mortal")
		far := seenFrom(a, mortal)
		w.Tell(watching(far))
		soon()
		w.Tell(unwatching(far))
		w.Tell(watching(far))
		w.Tell(unwatching(far))
		mortal.Tell(0)
		time.Sleep(time.Minute)
		require.Empty(t, w.got())
	})
}

func TestUnreachableIsNotTerminatedAndAnEndMeanwhileIsToldAfterwards(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		w, mortal, living := spawnWarden(a), spawnMortal(b, "mortal"), spawnMortal(b, "living")
		w.Tell(watching(seenFrom(a, mortal), seenFrom(a, living)))
		soon()
		n.Partition([]string{"a"}, []string{"b"})
		time.Sleep(time.Minute)
		mortal.Tell(0)
		time.Sleep(time.Hour) // the news is lost, and the other node has forgotten its watchers
		require.Empty(t, w.got())
		n.Heal()
		time.Sleep(10 * time.Second)
		require.Equal(t, []string{"end of understudy://test@b:7355/user/mortal"}, w.got())
		living.Tell(0)
		soon()
		require.Len(t, w.got(), 2)
	})
}

func TestAWatchBeginsWhenTheOtherNodeCanBeReached(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		n.Partition([]string{"a"}, []string{"b"})
		w, mortal := spawnWarden(a), spawnMortal(b, "mortal")
		w.Tell(watching(seenFrom(a, mortal)))
		time.Sleep(time.Hour)
		n.Heal()
		time.Sleep(10 * time.Second)
		mortal.Tell(0)
		soon()
		require.Len(t, w.got(), 1)
	})
}

func TestANewProcessAtTheAddressEndsTheWatchesOfTheOneBefore(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		w := spawnWarden(a)
		mortal := spawnMortal(b, "mortal")
		w.Tell(watching(seenFrom(a, mortal), ref[int](a, b, "/user/mortal")))
		soon()
		time.Sleep(time.Minute)
		n.Crash("b")
		b.stop()
		time.Sleep(time.Hour)
		require.Empty(t, w.got(), "nobody knows better")
		b = start(t, n, "b")
		spawnMortal(b, "mortal")
		time.Sleep(10 * time.Second)
		require.Len(t, w.got(), 2)
	})
}

func TestTheEndOfAWatcherEndsItsWatchesAndSoDoesItsRestart(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		heard := &collector[string]{}
		mortal := spawnMortal(b, "mortal")
		far := seenFrom(a, mortal)
		w := warden{collector: heard}
		watcher := actor.Spawn(a.sys, func(_ *actor.Context[order], next *actor.Next[order]) {
			next.Supervise(w.behavior(), actor.Strategy{})
		}, "watcher")
		watcher.Tell(watching(far))
		soon()
		watcher.Tell(func(*actor.Context[order]) actor.Behavior[order] { panic("restart") })
		soon()
		mortal.Tell(0)
		time.Sleep(time.Minute)
		require.Empty(t, heard.got())
	})
}

func TestASystemThatShutsDownTellsOfTheEndOfItsActors(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		w := spawnWarden(a)
		w.Tell(watching(seenFrom(a, spawnMortal(b, "one")), seenFrom(a, spawnMortal(b, "two")), ref[any](a, b, "/system/watcher")))
		time.Sleep(2 * time.Second) // by then b is connected to a
		require.NoError(t, b.sys.Shutdown(t.Context()))
		b.stop()
		soon()
		for _, l := range a.logs.All() {
			t.Log(l.Message, l.ContextMap())
		}
		for _, l := range b.logs.All() {
			t.Log(l.Message, l.ContextMap())
		}
		require.Len(t, w.got(), 3)
	})
}

func TestManyWatchesAreToldOfOnce(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		w := spawnWarden(a)
		var mortals []actor.ActorRef[int]
		for range 1000 {
			m := spawnMortal(b, "")
			mortals = append(mortals, m)
			w.Tell(watching(seenFrom(a, m)))
		}
		soon()
		n.Partition([]string{"a"}, []string{"b"})
		for _, m := range mortals[:500] {
			m.Tell(0)
		}
		time.Sleep(2 * time.Minute)
		n.Heal()
		time.Sleep(20 * time.Second)
		require.Len(t, w.got(), 500)
		for _, m := range mortals[500:] {
			m.Tell(0)
		}
		soon()
		require.Len(t, w.got(), 1000)
	})
}

func TestANodeBehindAnotherAddressIsReachedAndWatchedAtTheOneThatItAdvertises(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		gateway := startProxy(t, n, "gateway", "b:7355")
		b := start(t, n, "b", func(c *transport.Config) { c.Advertise = gateway.addr })
		spawnAdder(a.sys)
		require.Equal(t, 8, ask(t, ref[question](b, a, "/user/adder"), 7), "replies come to the address that is advertised")
		mortal := spawnMortal(b, "mortal")
		require.Equal(t, "understudy://test@gateway:9000/user/mortal", mortal.Path())
		w := spawnWarden(a)
		w.Tell(watching(seenFrom(a, mortal)))
		soon()
		mortal.Tell(0)
		soon()
		require.Len(t, w.got(), 1)
	})
}
