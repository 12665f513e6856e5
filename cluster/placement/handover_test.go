package placement_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/internal/effort"
)

// The source fails while a new coordinator takes over. The singleton is known, and stays.
func TestASingletonIsKnownWithoutTheSource(t *testing.T) {
	source := &moodySource{}
	inWorld(t, 3, func(t *testing.T, w *world) {
		_, err := w.client["n1"].StartSingleton(t.Context(), counters.Singleton("two", origin{Plan: w.name}, placement.Role("role-n3")))
		require.NoError(t, err)
		settle()
		source.set(errors.New("away"))
		w.Leave("n1")
		o, err := within(w, 30*time.Second, func(ctx context.Context) (placement.Ownership, error) { return w.client["n3"].Singleton(ctx, "two") })
		require.NoError(t, err)
		require.Equal(t, "n3", o.Owner)
	}, func(cfg *setup) { cfg.Generations = source })
}

// Two nodes leave at once, one of them the coordinator's. The actor on the other one takes long to
// end, and must not be started there again.
func TestTheNextCoordinatorKnowsWhoIsBeingDrained(t *testing.T) {
	inWorld(t, 4, func(t *testing.T, w *world) {
		w.submit(slow.Spec("one", slowness{Plan: w.name, End: 8 * time.Second}).
			WithConstraints(placement.Constraints{Roles: []string{"role-n2", "role-n3"}}))
		settle()
		states := w.states("n1")
		require.Equal(t, []string{"one running n2"}, states)
		var both sync.WaitGroup
		took := map[string]time.Duration{}
		errs := map[string]error{}
		var mu sync.Mutex
		for i, name := range []string{"n2", "n1"} {
			node := w.Node(name)
			both.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				began := time.Now()
				err := node.Leave(t.Context())
				mu.Lock()
				defer mu.Unlock()
				took[name], errs[name] = time.Since(began), err
			})
		}
		both.Wait()
		t.Log(took, errs)
		time.Sleep(time.Minute)
		now, peak := w.plan.alive()
		require.Equal(t, 1, now)
		require.Equal(t, 1, peak)
		require.NoError(t, errs["n2"])
		require.Less(t, took["n2"], 25*time.Second)
		w.plan.set(func(p *plan) {
			require.Equal(t, []string{"n2:7355", "n3:7355"}, p.starts, "it was started on a node that leaves")
		})
	})
}

func TestAllNodesLeaveWithinSeconds(t *testing.T) {
	inWorld(t, 4, func(t *testing.T, w *world) {
		for i := range 12 {
			w.submit(w.spec(fmt.Sprint("s", i)))
		}
		settle()
		var all sync.WaitGroup
		var mu sync.Mutex
		for _, node := range w.Nodes() {
			all.Go(func() {
				began := time.Now()
				err := node.Leave(t.Context())
				mu.Lock()
				defer mu.Unlock()
				t.Log(node.View().Self.Name, time.Since(began), err)
				if err != nil || time.Since(began) > 25*time.Second {
					t.Errorf("%s took %v to leave: %v", node.View().Self.Name, time.Since(began), err)
				}
			})
		}
		all.Wait()
		_, peak := w.plan.alive()
		require.Equal(t, 12, peak)
	})
}

// A submission while the coordinator moves is answered, because a client waits for it.
func TestWhatIsSubmittedWhileTheCoordinatorMovesIsAnswered(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		var all sync.WaitGroup
		var mu sync.Mutex
		lost := 0
		for i := range 400 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 5 * time.Millisecond)
				_, err := w.submitWithin("n3", time.Minute, w.spec(fmt.Sprint("s", i)).WithConstraints(w.on("n3")))
				if errors.Is(err, context.DeadlineExceeded) {
					mu.Lock()
					lost++
					mu.Unlock()
				}
			})
		}
		time.Sleep(500 * time.Millisecond)
		w.Leave("n1")
		all.Wait()
		require.Zero(t, lost, "submissions whose asker never heard")
	})
}

// Remove is in progress when the coordinator moves. The next coordinator finishes it, and answers
// the waiting client.
func TestARemovalIsAnsweredThoughTheCoordinatorMoves(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(slow.Spec("one", slowness{Plan: w.name, End: 20 * time.Second}).WithConstraints(w.on("n3")))
		settle()
		var removed sync.WaitGroup
		var err error
		removed.Go(func() {
			_, err = within(w, 3*time.Minute, func(ctx context.Context) (any, error) { return nil, w.client["n3"].Remove(ctx, "one") })
		})
		time.Sleep(time.Second)
		w.Leave("n1")
		removed.Wait()
		now, _ := w.plan.alive()
		require.Zero(t, now)
		require.NoError(t, err)
	})
}

// An actor that could not be moved ends while its node is exiting. Until it has ended, it is not
// started elsewhere, although another node is eligible by then.
func TestWhatHasNotEndedIsNotStartedElsewhere(t *testing.T) {
	var open atomic.Bool
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(slow.Spec("one", slowness{Plan: w.name, End: 7 * time.Second, Only: "n2"}))
		settle()
		time.AfterFunc(2*time.Second, func() { open.Store(true) })
		w.Leave("n2")
		time.Sleep(2 * time.Minute)
		now, peak := w.plan.alive()
		require.Equal(t, 1, now)
		require.Equal(t, 1, peak, "two live actors of one label, on nodes that can reach each other")
	}, func(cfg *setup) {
		cfg.Strategy = placement.StrategyFunc(func(n placement.Node, _ placement.Spec, _ placement.View) float64 {
			if n.Name != "n2" && !open.Load() {
				return 0
			}
			return 1
		})
	})
}

// n1, which runs the coordinator, is partitioned, and downs itself. It must not consider the other
// nodes gone.
func TestACoordinatorThatIsDownForgetsNothing(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("goes").WithConstraints(w.on("n2")).WithCrashStrategy(placement.Abandon()))
		w.submit(w.spec("waits").WithConstraints(w.on("n3")).WithCrashStrategy(placement.WaitForReturn(time.Hour)))
		settle()
		w.Partition([]string{"n1"}, []string{"n2", "n3"})
		time.Sleep(3 * time.Minute)
		states, err := w.specsSoon("n3")
		require.NoError(t, err)
		require.Equal(t, []string{"goes running n2", "waits running n3"}, states)
		w.plan.set(func(p *plan) { require.Len(t, p.starts, 2, "nothing was started anew") })
		w.Heal()
	})
}

// A partitioned node keeps its actors running for a while: the coordinator waits for the margin.
func TestTheMarginIsKeptAfterADownNode(t *testing.T) {
	const margin = time.Minute
	inWorld(t, 4, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(placement.Constraints{Roles: []string{"role-n4", "role-n3"}}))
		settle()
		require.Equal(t, []string{"one running n3"}, w.states("n1"))
		began := time.Now()
		w.Crash("n3")
		starts := 1
		for starts < 2 && time.Since(began) < time.Hour {
			time.Sleep(100 * time.Millisecond)
			w.plan.set(func(p *plan) { starts = len(p.starts) })
		}
		t.Log("started elsewhere after", time.Since(began))
		require.Greater(t, time.Since(began), margin)
	}, func(cfg *setup) { cfg.RemovalMargin = margin })
}

// A coordinator that joins after the removal also waits for the margin.
func TestTheMarginIsKeptByACoordinatorThatHasJustJoined(t *testing.T) {
	effort.Unraced(t)
	const margin = 2 * time.Minute
	inWorld(t, 4, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(placement.Constraints{Roles: []string{"role-n4", "role-n3"}}))
		settle()
		began := time.Now()
		w.Crash("n3")
		time.Sleep(time.Minute)
		w.join(w.Add("n0", profile))
		settle()
		leader, _ := w.client["n0"].Leader()
		require.Equal(t, "n0", leader)
		starts := 1
		for starts < 2 && time.Since(began) < time.Hour {
			time.Sleep(100 * time.Millisecond)
			w.plan.set(func(p *plan) { starts = len(p.starts) })
		}
		t.Log("started elsewhere after", time.Since(began))
		require.Greater(t, time.Since(began), margin)
	}, func(cfg *setup) { cfg.RemovalMargin, cfg.Election = margin, cluster.LowestAddress() })
}

// The leader ends by Shutdown, which hands nothing over.
func TestAfterAShutdownOfTheLeaderTheNextOneGoesOn(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(placement.Constraints{Roles: []string{"role-n1"}}))
		w.submit(w.spec("moves"))
		w.submit(w.spec("goes").WithConstraints(w.on("n2")).WithCrashStrategy(placement.Abandon()))
		settle()
		t.Log(w.states("n1"))
		began := time.Now()
		require.NoError(t, w.Node("n1").Shutdown(t.Context()))
		t.Log("took", time.Since(began))
		time.Sleep(time.Minute)
		states, err := w.specsSoon("n3")
		require.NoError(t, err)
		require.Equal(t, []string{"goes running n2", "moves running n2", "one unplaced "}, states)
	})
}
