package placement_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A spec may be submitted on any node. It runs once, and can be reached from all nodes.
func TestWhatIsSubmittedRunsOnceAndAnswersEverywhere(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		d, err := w.client["n2"].Submit(t.Context(), w.spec("one").WithConstraints(w.on("n3")))
		require.NoError(t, err)
		require.Equal(t, "n3", d.Node)
		for i, from := range []string{"n1", "n2", "n3"} {
			r := w.add(from, "one")
			require.Equal(t, i+1, r.Sum)
			require.Equal(t, "n3:7355", r.Node)
			require.Zero(t, r.Generation, "it is no singleton")
		}
		require.Equal(t, []string{"one running n3"}, w.states("n1"))
	})
}

// The last node to start learns of all other nodes by itself.
func TestTheViewShowsAllNodesThatWereThereBefore(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(w.on("n2")))
		settle()
		v, err := w.client["n3"].View(t.Context())
		require.NoError(t, err)
		require.Len(t, v.Alive(), 3)
		n, ok := v.Find("one")
		require.True(t, ok)
		require.Equal(t, "n2", n.Name)
		require.Equal(t, []string{"role-n2"}, n.Roles)
		require.Equal(t, map[string]string{"name": "n2"}, n.Meta)
		require.Equal(t, []string{"one"}, n.Actors)
	})
}

// Slow factories run at the same time, and delay no other request.
func TestSlowFactoriesRunAtTheSameTime(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.plan.set(func(p *plan) { p.takes = 200 * time.Millisecond })
		began := time.Now()
		for i := range 20 {
			w.submit(w.spec(string(rune('a' + i))))
		}
		for {
			if now, _ := w.plan.alive(); now == 20 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		require.Less(t, time.Since(began), 210*time.Millisecond)
	})
}

// A factory that fails is retried until it succeeds, and the error is kept.
func TestAFactoryThatFailsIsTriedAgain(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.plan.set(func(p *plan) { p.failing = true })
		w.submit(w.spec("one"))
		settle()
		x, err := w.client["n2"].Explain(t.Context(), "one")
		require.NoError(t, err)
		require.Equal(t, placement.Unplaced, x.Status.State)
		require.Contains(t, x.Status.LastError, "the factory is broken")
		require.Greater(t, x.Status.Attempts, 1)
		w.plan.set(func(p *plan) { p.failing = false })
		time.Sleep(time.Minute)
		require.Equal(t, 1, w.add("n1", "one").Sum)
	})
}

func TestATypeThatNobodyHasRegisteredIsAnError(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		s := w.spec("one")
		s.Type = "nobody's"
		w.submit(s)
		settle()
		x, err := w.client["n1"].Explain(t.Context(), "one")
		require.NoError(t, err)
		require.Contains(t, x.Status.LastError, `"nobody's"`)
	})
}

func TestAnActorThatFailsIsStartedAgain(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.submit(w.spec("one"))
		require.Equal(t, 1, w.add("n1", "one").Sum)
		counters.Ref(w.Node("n2").System, "one").Tell(crash{})
		settle()
		require.Equal(t, 1, w.add("n2", "one").Sum, "from its initial state")
		_, peak := w.plan.alive()
		require.Equal(t, 1, peak)
	})
}

// When Remove returns, the actor has ended and cannot be found.
func TestWhatIsRemovedHasEnded(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(w.on("n2")))
		w.add("n1", "one")
		require.NoError(t, w.client["n2"].Remove(t.Context(), "one"))
		now, _ := w.plan.alive()
		require.Zero(t, now)
		require.Empty(t, w.states("n1"))
		require.ErrorIs(t, w.client["n1"].Remove(t.Context(), "one"), placement.ErrNotFound)
		w.submit(w.spec("one"))
		require.Equal(t, 1, w.add("n2", "one").Sum)
	})
}

// A refusal says why, on every node.
func TestWhatCannotBePlacedSaysWhy(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		for _, through := range []string{"n1", "n2"} {
			_, err := w.client[through].Submit(t.Context(), w.spec("one").WithConstraints(w.on("n9")))
			require.ErrorIs(t, err, placement.ErrNoEligibleNodes)
			var why *placement.NoEligibleNodesError
			require.ErrorAs(t, err, &why)
			require.Equal(t, map[string]int{"Meta": 2}, why.Removed)
			_, err = w.client[through].Submit(t.Context(), placement.Spec{Label: "one"})
			require.ErrorIs(t, err, placement.ErrInvalid)
			_, err = w.client[through].Explain(t.Context(), "one")
			require.ErrorIs(t, err, placement.ErrNotFound)
		}
		w.submit(w.spec("one"))
		_, err := w.client["n2"].Submit(t.Context(), w.spec("one"))
		require.ErrorIs(t, err, placement.ErrExists)
	})
}

func TestAStrategyThatPanicsFailsTheSubmissionOnly(t *testing.T) {
	broken := placement.StrategyFunc(func(_ placement.Node, s placement.Spec, _ placement.View) float64 {
		if s.Label == "bad" {
			panic("no idea")
		}
		return 1
	})
	inWorld(t, 2, func(t *testing.T, w *world) {
		_, err := w.client["n2"].Submit(t.Context(), w.spec("bad"))
		require.ErrorIs(t, err, placement.ErrStrategy)
		require.ErrorContains(t, err, "no idea")
		w.submit(w.spec("good"))
		require.Equal(t, 1, w.add("n1", "good").Sum)
	}, func(cfg *setup) { cfg.Strategy = broken })
}

func TestWithoutALeaderNothingIsAccepted(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		_, err := w.client["n2"].Submit(t.Context(), w.spec("one"))
		require.ErrorIs(t, err, placement.ErrNotLeader)
		var who *placement.NotLeaderError
		require.ErrorAs(t, err, &who)
		require.Empty(t, who.Leader)
	}, func(cfg *setup) { cfg.Role = "nobody's" })
}

// The error names a leader that does not answer.
func TestALeaderThatDoesNotAnswerIsNamed(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.Partition([]string{"n1"}, []string{"n2", "n3"})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := w.client["n2"].Submit(ctx, w.spec("one"))
		var who *placement.NotLeaderError
		require.ErrorAs(t, err, &who)
		require.Equal(t, "n1", who.Leader)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		w.Heal()
	})
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := clustertest.Start(t, 1).Node("n1")
		for want, cfg := range map[string]placement.Config{
			"Config.AckTimeout": {AckTimeout: -1},
			"Name":              {Election: cluster.LeaderElection{Compare: cluster.Oldest().Compare}},
			"Config.Retry.Min":  {Retry: actor.Backoff{Min: -1}},
			"Config.Factories":  {Factories: append(slices.Clone(kinds), kinds...)},
		} {
			_, err := placement.Start(n, cfg)
			require.ErrorContains(t, err, want)
			var bad *placement.FieldError
			require.ErrorAs(t, err, &bad)
			require.Contains(t, bad.Field, want)
		}
		_, found := placement.Of(n.System)
		require.False(t, found)
		c, err := placement.Start(n, placement.Config{})
		require.NoError(t, err)
		again, found := placement.Of(n.System)
		require.True(t, found)
		require.Same(t, c, again)
		_, err = placement.Start(n, placement.Config{})
		require.ErrorContains(t, err, "before")
	})
}

func TestPlacementNeedsAJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := placement.Start(clustertest.Start(t, 1, clustertest.WithJournal(nil)).Node("n1"), placement.Config{})
		require.ErrorIs(t, err, persistence.ErrNoJournal)
	})
}

// There is no coordinator where placement was not started.
func TestWithoutPlacementThereIsNoCoordinator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, found := placement.Of(clustertest.Start(t, 1).Node("n1").System)
		require.False(t, found)
	})
}

func TestABadFieldIsNamedByAnErrorOfAType(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("b"))
		w.submit(w.spec("a").WithConstraints(placement.Constraints{ColocateWith: "b"}))
		require.NoError(t, w.client["n1"].Remove(t.Context(), "b"))
		for name, client := range w.client { // that one the coordinator finds, on whichever node
			_, err := client.Submit(t.Context(), w.spec("b").WithConstraints(placement.Constraints{ColocateWith: "a"}))
			require.ErrorIs(t, err, placement.ErrInvalid, name)
			var bad *placement.FieldError
			require.ErrorAs(t, err, &bad, name)
			require.Equal(t, "Spec.Constraints.ColocateWith", bad.Field)
			require.Contains(t, bad.Problem, `spec "b" is colocated with itself by way of "a"`)
		}
	})
}

// A lamp is a resource that only some nodes have.
type lamp struct{ node string }

func TestFactoriesHaveWhatIsOfTheirNode(t *testing.T) {
	lamps := placement.NewType[string, actor.ActorRef[string]]("lamp")
	for range 2 { // as by go test -count=2
		synctest.Test(t, func(t *testing.T) {
			c := clustertest.Start(t, 3)
			clients := map[string]*placement.Coordinator{}
			for _, n := range c.Nodes() {
				here := &lamp{n.View().Self.Name}
				light := func(color string) actor.Behavior[actor.ActorRef[string]] {
					return behaviors.Receive(func(_ *actor.Context[actor.ActorRef[string]], to actor.ActorRef[string]) actor.Behavior[actor.ActorRef[string]] {
						to.Tell(color + " on " + here.node)
						return behaviors.Same
					})
				}
				cfg := placement.Config{}
				if here.node != "n3" {
					cfg.Factories = []placement.Factory{lamps.Factory(light)}
				}
				client, err := placement.Start(n, cfg)
				require.NoError(t, err)
				clients[here.node] = client
			}
			settle()
			for _, node := range []string{"n1", "n2", "n3"} {
				_, err := clients["n3"].Submit(t.Context(), lamps.Spec("on/"+node, "red").WithConstraints(placement.Constraints{RequiredNode: node}))
				require.NoError(t, err)
			}
			settle()
			for _, node := range []string{"n1", "n2"} {
				got := testkit.Ask(t.Context(), t, lamps.Ref(c.Node("n3").System, "on/"+node), func(r actor.ActorRef[string]) actor.ActorRef[string] { return r })
				require.Equal(t, "red on "+node, got)
			}
			explained, err := clients["n1"].Explain(t.Context(), "on/n3")
			require.NoError(t, err)
			require.Contains(t, fmt.Sprint(explained), "no factory for type \"lamp\"")
		})
	}
}

func init() { actor.RegisterType[actor.ActorRef[string]]("placement-test.lamp") }

func TestARequestWithAContextThatHasEndedAsksForNothing(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for name, client := range w.client { // beside the coordinator, and on another node
			_, err := client.Submit(ended, w.spec(name))
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, placement.ErrNotLeader)
			_, err = client.StartSingleton(ended, counters.Singleton(name, origin{Plan: w.name}, placement.Leader()))
			require.ErrorIs(t, err, context.Canceled)
		}
		settle()
		require.Empty(t, w.states("n1"))
		now, _ := w.plan.alive()
		require.Zero(t, now)
	})
}
