package placement_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

// The node of the coordinator, which runs an actor too, dies. The next one knows all specs, moves
// the actors of the dead node, and accepts new specs.
func TestTheNextCoordinatorGoesOn(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("there").WithConstraints(w.on("n2")))
		w.submit(w.spec("anywhere").WithConstraints(placement.Constraints{Roles: []string{"role-n1"}}))
		w.submit(w.spec("moves"))
		settle()
		leader, ok := w.client["n3"].Leader()
		require.True(t, ok)
		require.Equal(t, "n1", leader)
		w.Crash("n1")
		time.Sleep(time.Minute)
		leader, _ = w.client["n3"].Leader()
		require.Equal(t, "n2", leader)
		require.Equal(t, []string{"anywhere unplaced ", "moves running n3", "there running n2"}, w.states("n3"))
		d, err := w.client["n3"].Submit(t.Context(), w.spec("new"))
		require.NoError(t, err)
		require.NotEqual(t, "n1", d.Node)
		require.Equal(t, 1, w.add("n2", "new").Sum)
	})
}

// All nodes end, and new ones begin on the same journal.
func TestSpecsSurviveTheEndOfAllNodes(t *testing.T) {
	journal := journal.NewMemory()
	onJournal := func(cfg *setup) { cfg.Journal = journal }
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(w.on("n2")))
		_, err := w.client["n1"].StartSingleton(t.Context(), counters.Singleton("two", origin{Plan: w.name}, placement.Role("role-n1")))
		require.NoError(t, err)
		settle()
	}, onJournal)
	inWorld(t, 2, func(t *testing.T, w *world) {
		time.Sleep(time.Minute)
		require.Equal(t, []string{"one running n2"}, w.states("n1"))
		require.Equal(t, 1, w.add("n1", "one").Sum)
		require.Equal(t, singletonGeneration(2, 0), w.add("n2", "two").Generation)
	}, onJournal)
}

// The process returns under the same name, as another incarnation.
func TestARestartedProcessHasReturned(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		s := w.spec("one").WithCrashStrategy(placement.WaitForReturn(time.Hour))
		w.submit(s.WithConstraints(placement.Constraints{Roles: []string{"role-n2", "role-n3"}}))
		settle()
		at := w.add("n1", "one").Node[:2]
		w.Crash(at)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"one waiting for return " + at}, w.states("n1"))
		w.join(w.Add(at, profile))
		settle()
		require.Equal(t, []string{"one running " + at}, w.states("n1"))
		require.Equal(t, 1, w.add("n1", "one").Sum)
	})
}

// Three strategies on one node that dies.
func TestEachSpecHasItsOwnCrashStrategy(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		for label, strategy := range map[string]placement.CrashStrategy{
			"moves": placement.Redistribute(), "waits": placement.WaitForReturn(2 * time.Minute), "goes": placement.Abandon(),
		} {
			w.submit(w.spec(label).WithCrashStrategy(strategy))
		}
		settle()
		require.Equal(t, []string{"goes running n3", "moves running n3", "waits running n3"}, w.states("n1"))
		w.Crash("n3")
		time.Sleep(time.Minute)
		require.Equal(t, []string{"moves running n1", "waits waiting for return n3"}, w.states("n1"))
		time.Sleep(2 * time.Minute)
		require.Equal(t, []string{"moves running n1", "waits running n1"}, w.states("n2"))
	}, func(cfg *setup) { cfg.Strategy = placement.Pinned("n3") })
}

// A drain: the node leaves gracefully, after its actors have moved.
func TestWhatRunsOnANodeMovesBeforeItLeaves(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		for _, label := range []string{"a", "b", "c", "d", "e", "f"} {
			w.submit(w.spec(label))
		}
		settle()
		began := time.Now()
		require.NoError(t, w.Node("n2").Leave(t.Context()))
		require.Less(t, time.Since(began), 15*time.Second)
		now, peak := w.plan.alive()
		require.Equal(t, 6, now)
		require.Equal(t, 6, peak)
		for _, label := range []string{"a", "b", "c", "d", "e", "f"} {
			require.NotEqual(t, "n2:7355", w.add("n1", label).Node)
		}
		settle()
		require.Len(t, w.states("n3"), 6)
	})
}

// The life of a managed singleton.
func TestAManagedSingletonStartsMovesAndStops(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		ctx := t.Context()
		spec := counters.Singleton("one", origin{Plan: w.name}, placement.OnNode("n2"))
		o, err := w.client["n1"].StartSingleton(ctx, spec)
		require.NoError(t, err)
		require.Equal(t, singletonGeneration(1, 0), o.Generation)
		require.Equal(t, singletonGeneration(1, 0), w.add("n3", "one").Generation)
		o, err = w.client["n3"].StartSingleton(ctx, spec)
		require.NoError(t, err)
		require.Equal(t, singletonGeneration(1, 1), o.Generation)
		require.Equal(t, placement.SingletonActive, o.Phase)
		require.Equal(t, 2, w.add("n3", "one").Sum, "it is the same instance")

		spec.Anchor = placement.OnNode("n3")
		_, err = w.client["n1"].StartSingleton(ctx, spec)
		require.NoError(t, err)
		settle()
		r := w.add("n1", "one")
		require.Equal(t, "n3:7355", r.Node)
		require.Equal(t, singletonGeneration(2, 0), r.Generation)
		_, peak := w.plan.alive()
		require.Equal(t, 1, peak)

		w.Crash("n3")
		time.Sleep(time.Minute)
		o, err = w.client["n1"].Singleton(ctx, "one")
		require.NoError(t, err)
		require.Equal(t, placement.SingletonOwnerless, o.Phase)
		require.Equal(t, singletonGeneration(2, 0), o.Generation)
		w.join(w.Add("n3", profile))
		settle()
		require.Equal(t, singletonGeneration(3, 0), w.add("n2", "one").Generation)

		require.NoError(t, w.client["n2"].StopSingleton(ctx, "one"))
		now, _ := w.plan.alive()
		require.Zero(t, now)
		_, err = w.client["n1"].Singleton(ctx, "one")
		require.ErrorIs(t, err, placement.ErrNotFound)
	})
}

// Both sides of a partition, and the state after it heals.
func TestAfterAPartitionThereIsOne(t *testing.T) {
	effort.Unraced(t)
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(placement.Constraints{Roles: []string{"role-n3", "role-n2"}}))
		_, err := w.client["n1"].StartSingleton(t.Context(), counters.Singleton("two", origin{Plan: w.name}, placement.Role("role-n3")))
		require.NoError(t, err)
		settle()
		at := w.add("n1", "one").Node[:2]
		var others []string
		for _, n := range []string{"n1", "n2", "n3"} {
			if n != at {
				others = append(others, n)
			}
		}
		w.Partition([]string{at}, others)
		time.Sleep(2 * time.Minute)
		require.NotEqual(t, at, w.add("n1", "one").Node[:2])
		w.Heal()
		time.Sleep(2 * time.Minute)
		now, peak := w.plan.alive()
		require.Equal(t, 2, now)
		require.Equal(t, 2, peak, "the side that has lost had stopped before")
	})
}

// A burst of changes, and the view is the membership in the end.
func TestABurstOfChangesEndsInTheRightView(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		for range 30 {
			w.Partition([]string{"n3"}, []string{"n1", "n2"})
			time.Sleep(1200 * time.Millisecond)
			w.Heal()
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		v, err := w.client["n1"].View(t.Context())
		require.NoError(t, err)
		var names []string
		for _, n := range v.Alive() {
			names = append(names, n.Name)
		}
		var members []string
		for _, m := range w.Node("n1").View().Members {
			members = append(members, m.Name)
		}
		require.Equal(t, members, names)
	})
}

func singletonGeneration(term, seq uint64) singleton.Generation {
	return singleton.Generation{Term: term, Seq: seq}
}

func errorOf[T any](_ T, err error) error { return err }

// The system ends while factories run.
func TestTheEndOfASystemDoesNotWaitForWhatStarts(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.plan.set(func(p *plan) { p.takes = time.Second })
		for _, label := range []string{"a", "b", "c"} {
			w.submit(w.spec(label))
		}
		require.NoError(t, w.Node("n1").Leave(t.Context()))
		err := errorOf(w.client["n1"].Submit(t.Context(), w.spec("late")))
		require.Error(t, err)
		require.True(t, errors.Is(err, placement.ErrNotLeader) || errors.Is(err, actor.ErrTerminated))
	})
}

// A slow actor does not reply.
func TestAnAskThroughARefEndsWhenTheNodeOfItsActorIsRemoved(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(slow.Spec("gone", slowness{Plan: w.name}).WithConstraints(w.on("n3")))
		w.submit(slow.Spec("stays", slowness{Plan: w.name}).WithConstraints(w.on("n2")))
		settle()
		address, began := w.Node("n3").Address(), time.Now()
		ends, other := make(chan error, 2), make(chan error, 1)
		asks := func(r actor.ActorRef[result]) message { return increment{ReplyTo: r} }
		for label, ended := range map[string]chan error{"gone": ends, "stays": other} {
			go func() {
				ended <- errorOf(actor.AskTimeout(t.Context(), slow.Ref(w.Node("n1").System, label), time.Minute, asks))
			}()
		}
		actor.Spawn(w.Node("n1"), func(ctx *actor.Context[error], next *actor.Next[error]) {
			actor.AskToSelf(ctx, slow.Ref(ctx.System(), "gone"), time.Minute, asks, func(_ result, err error) error { return err })
			next.OnMessage = func(_ *actor.Context[error], err error) actor.Behavior[error] {
				ends <- err
				return nil
			}
		}, "")
		time.Sleep(time.Second)
		w.Crash("n3")
		for range 2 {
			err := <-ends
			require.ErrorIs(t, err, actor.ErrUnreachable)
			require.ErrorContains(t, err, address+" was removed from the cluster")
		}
		require.Less(t, time.Since(began), 10*time.Second)
		require.ErrorIs(t, <-other, context.DeadlineExceeded)
	})
}
