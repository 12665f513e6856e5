package placement_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence/journal"
)

// everyRequest has all requests to a coordinator.
func (w *world) everyRequest(ctx context.Context, c *placement.Coordinator) map[string]error {
	return map[string]error{
		"Submit":         errorOf(c.Submit(ctx, w.spec("new"))),
		"Remove":         c.Remove(ctx, "one"),
		"Specs":          errorOf(c.Specs(ctx)),
		"View":           errorOf(c.View(ctx)),
		"Explain":        errorOf(c.Explain(ctx, "one")),
		"StartSingleton": errorOf(c.StartSingleton(ctx, counters.Singleton("two", origin{Plan: w.name}, placement.Leader()))),
		"Singleton":      errorOf(c.Singleton(ctx, "two")),
		"MoveSingleton":  errorOf(c.MoveSingleton(ctx, "two")),
		"StopSingleton":  c.StopSingleton(ctx, "two"),
	}
}

// A node that does not lead forwards all requests. If the leader does not answer, each request
// fails with an error that names the leader. Each node knows the leader.
func TestEveryRequestOfANodeThatDoesNotLeadNamesTheLeader(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("one"))
		for _, client := range w.client {
			leader, ok := client.Leader()
			require.True(t, ok)
			require.Equal(t, "n1", leader)
		}
		ctx := t.Context()
		for name, err := range w.everyRequest(ctx, w.client["n3"]) {
			require.NotErrorIs(t, err, placement.ErrNotLeader, name)
		}
		w.Partition([]string{"n1"}, []string{"n2", "n3"})
		ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		for name, err := range w.everyRequest(ctx, w.client["n3"]) {
			require.ErrorIs(t, err, placement.ErrNotLeader, name)
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			var who *placement.NotLeaderError
			require.ErrorAs(t, err, &who, name)
			require.Equal(t, "n1", who.Leader, name)
			require.ErrorContains(t, err, "it runs on n1", name)
		}
		w.Heal()
	})
}

// If no node may lead, each request fails at once.
func TestEveryRequestWithoutALeaderFailsAtOnce(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		began := time.Now()
		for name, err := range w.everyRequest(t.Context(), w.client["n1"]) {
			require.ErrorIs(t, err, placement.ErrNotLeader, name)
			require.ErrorContains(t, err, "start placement on one that the election admits", name)
		}
		require.Zero(t, time.Since(began))
	}, func(cfg *setup) { cfg.Election, cfg.Role = cluster.LowestAddress(), "nobody's" })
}

// When the leader leaves, the next one takes requests at once and knows all specs. The actors of
// the former leader run on other nodes.
func TestTheLeaderLeavesAndTheNextOneGoesOn(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("there").WithConstraints(w.on("n2")))
		w.submit(w.spec("moves").WithConstraints(placement.Constraints{Roles: []string{"role-n1", "role-n3"}}))
		settle()
		require.Contains(t, w.states("n2"), "moves running n1")
		require.NoError(t, w.Node("n1").Leave(t.Context()))
		_, err := w.client["n3"].Submit(t.Context(), w.spec("new"))
		require.NoError(t, err)
		settle()
		leader, ok := w.client["n3"].Leader()
		require.True(t, ok)
		require.Equal(t, "n2", leader)
		states := w.states("n2")
		require.Contains(t, states, "moves running n3")
		require.Contains(t, states, "there running n2")
		require.Len(t, states, 3)
		now, peak := w.plan.alive()
		require.Equal(t, 3, now)
		require.Equal(t, 3, peak)
	})
}

// One of two nodes leaves. Actors on the other node keep their state; those that had to move start
// with the state of their spec.
func TestWhatRunsElsewhereKeepsItsStateWhenANodeLeaves(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.submit(w.spec("stays").WithConstraints(w.on("n1")))
		w.submit(w.spec("moves"))
		for range 3 {
			w.add("n2", "stays")
			w.add("n1", "moves")
		}
		require.Equal(t, []string{"moves running n2", "stays running n1"}, w.states("n1"))
		require.NoError(t, w.Node("n2").Leave(t.Context()))
		require.Equal(t, 4, w.add("n1", "stays").Sum)
		require.Equal(t, 1, w.add("n1", "moves").Sum)
		require.Equal(t, []string{"moves running n1", "stays running n1"}, w.states("n1"))
	})
}

// At each start, on any node, the actor begins with the state of the spec.
func TestAnActorBeginsWithTheStateOfItsSpec(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.submit(counters.Spec("one", origin{Plan: w.name, Count: 40}).WithConstraints(w.on("n2")))
		require.Equal(t, 41, w.add("n1", "one").Sum)
		counters.Ref(w.Node("n1").System, "one").Tell(crash{})
		settle()
		require.Equal(t, 41, w.add("n2", "one").Sum)
	})
}

// The factory of another node panics. The panic is an answer of that node. The node stays a member,
// and runs other specs.
func TestAFactoryOfAnotherNodeThatPanicsHarmsNothing(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.plan.set(func(p *plan) { p.failing = true })
		w.submit(w.spec("one").WithConstraints(w.on("n2")))
		settle()
		x, err := w.client["n1"].Explain(t.Context(), "one")
		require.NoError(t, err)
		require.Contains(t, x.Status.LastError, "the factory is broken")
		require.True(t, x.Candidates[1].Why == "" && x.Candidates[1].Node == "n2", "it is eligible")
		healthy := w.Node("n1").View()
		require.Len(t, healthy.Members, 2)
		for _, m := range healthy.Members {
			require.True(t, healthy.Reachable(m))
		}
		w.plan.set(func(p *plan) { p.failing = false })
		w.submit(w.spec("two").WithConstraints(w.on("n2")))
		require.Equal(t, "n2:7355", w.add("n1", "two").Node)
	})
}

// A factory of another node takes a minute. Meanwhile that node answers probes, and starts other
// actors.
func TestASlowFactoryOfAnotherNodeHoldsNothingUp(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.plan.set(func(p *plan) { p.takes = time.Minute })
		w.submit(w.spec("slow").WithConstraints(w.on("n2")))
		settle()
		w.plan.set(func(p *plan) { p.takes = 0 })
		began := time.Now()
		w.submit(w.spec("quick").WithConstraints(w.on("n2")))
		require.Equal(t, "n2:7355", w.add("n1", "quick").Node)
		require.Less(t, time.Since(began), time.Second)
		for range 30 {
			time.Sleep(time.Second)
			v := w.Node("n1").View()
			for _, m := range v.Members {
				require.True(t, v.Reachable(m))
			}
		}
		require.Equal(t, []string{"quick running n2", "slow pending n2"}, w.states("n1"))
		time.Sleep(time.Minute)
		require.Equal(t, []string{"quick running n2", "slow running n2"}, w.states("n1"))
		_, peak := w.plan.alive()
		require.Equal(t, 2, peak)
	})
}

// A node dies while its factory runs; the actor starts elsewhere, once. The behavior that the
// factory on the dead node returns is not started.
func TestANodeThatDiesWhileItsFactoryRunsIsReplaced(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.plan.set(func(p *plan) { p.takes = 20 * time.Second })
		w.submit(w.spec("one").WithConstraints(placement.Constraints{Roles: []string{"role-n2", "role-n3"}}))
		time.Sleep(time.Second)
		w.plan.set(func(p *plan) { p.takes = 0 })
		require.Equal(t, []string{"one pending n2"}, w.states("n1"))
		w.Crash("n2")
		time.Sleep(time.Minute)
		require.Equal(t, []string{"one running n3"}, w.states("n1"))
		require.Equal(t, "n3:7355", w.add("n1", "one").Node)
		require.NotContains(t, w.plan.starts, "n2:7355")
	})
}

// Each coordinator starts with the current nodes, and learns of a later crash.
func TestACoordinatorThatBeginsLateSeesTheCrashThatFollows(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.Crash("n1")
		time.Sleep(time.Minute)
		v, err := w.client["n3"].View(t.Context())
		require.NoError(t, err)
		require.Len(t, v.Nodes, 2)
		w.Crash("n3")
		time.Sleep(time.Minute)
		v, err = w.client["n2"].View(t.Context())
		require.NoError(t, err)
		require.Len(t, v.Nodes, 1)
		require.Equal(t, "n2", v.Nodes[0].Name)
	})
}

// A second StartSingleton while the first one starts returns the same generation, and starts
// nothing. A singleton anchored at the leader follows it.
func TestASingletonOfTheLeaderFollowsIt(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.plan.set(func(p *plan) { p.takes = time.Second })
		spec := counters.Singleton("one", origin{Plan: w.name}, placement.Leader())
		for range 2 {
			o, err := w.client["n2"].StartSingleton(t.Context(), spec)
			require.NoError(t, err)
			require.Equal(t, placement.SingletonStarting, o.Phase)
			require.Equal(t, singletonGeneration(1, 0), o.Generation)
		}
		settle()
		require.Equal(t, "n1:7355", w.add("n3", "one").Node)
		require.NoError(t, w.Node("n1").Leave(t.Context()))
		settle()
		r := w.add("n3", "one")
		require.Equal(t, "n2:7355", r.Node)
		require.Equal(t, singletonGeneration(2, 0), r.Generation)
		_, peak := w.plan.alive()
		require.Equal(t, 1, peak)
	})
}

// During a partition each side continues with a journal of its own. When it heals there is one
// actor of each label, and no orphan.
func TestWhatBothSidesOfASplitRanIsOneAgain(t *testing.T) {
	effort.Unraced(t)
	inWorld(t, 3, func(t *testing.T, w *world) {
		for _, label := range []string{"a", "b", "c", "d"} {
			w.submit(w.spec(label))
		}
		settle()
		w.Partition([]string{"n1"}, []string{"n2", "n3"}) // of the coordinator
		time.Sleep(2 * time.Minute)
		require.NoError(t, w.client["n2"].Remove(t.Context(), "a"))
		w.Heal()
		time.Sleep(2 * time.Minute)
		now, _ := w.plan.alive()
		require.Equal(t, 3, now)
		require.Len(t, w.states("n2"), 3)
		for _, label := range []string{"b", "c", "d"} {
			require.Positive(t, w.add("n1", label).Sum)
		}
		v, err := w.client["n1"].View(t.Context())
		require.NoError(t, err)
		require.Len(t, v.Alive(), 3)
	})
}

// A ref works before the submission. After a removal it buffers messages until the next submission.
func TestARefOutlivesWhatItRefersTo(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		ref := counters.Ref(w.Node("n1").System, "one")
		answers := make(chan result, 1)
		go func() {
			r, err := actor.Ask(t.Context(), ref, func(replyTo actor.ActorRef[result]) message { return increment{1, replyTo} })
			if err == nil {
				answers <- r
			}
		}()
		settle()
		require.Empty(t, answers)
		w.submit(w.spec("one").WithConstraints(w.on("n2")))
		settle()
		require.Equal(t, "n2:7355", (<-answers).Node)
		require.NoError(t, w.client["n1"].Remove(t.Context(), "one"))
		w.submit(w.spec("one").WithConstraints(w.on("n1")))
		require.Equal(t, "n1:7355", w.add("n2", "one").Node)
	})
}

// All nodes leave at once. No node waits for another one in vain, all actors stop, and the next
// cluster has all specs.
func TestAllNodesMayLeaveAtOnce(t *testing.T) {
	journal := journal.NewMemory()
	onJournal := func(cfg *setup) { cfg.Journal = journal }
	inWorld(t, 3, func(t *testing.T, w *world) {
		for _, label := range []string{"a", "b", "c", "d"} {
			w.submit(w.spec(label))
		}
		settle()
		began := time.Now()
		var leaving sync.WaitGroup
		for _, n := range w.Nodes() {
			leaving.Go(func() { require.NoError(t, n.Leave(t.Context())) })
		}
		leaving.Wait()
		require.Less(t, time.Since(began), 40*time.Second)
		now, peak := w.plan.alive()
		require.Zero(t, now)
		require.Equal(t, 4, peak)
	}, onJournal)
	inWorld(t, 2, func(t *testing.T, w *world) {
		time.Sleep(time.Minute)
		require.Len(t, w.states("n2"), 4)
		for _, label := range []string{"a", "b", "c", "d"} {
			require.Equal(t, 1, w.add("n1", label).Sum)
		}
	}, onJournal)
}

// A node without placement runs no actors, and is reported as such. When placement is started
// there, the node is used.
func TestANodeWithoutPlacementRunsNothingUntilItHasIt(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		late := w.Add("n2", profile)
		settle()
		_, err := w.client["n1"].Submit(t.Context(), w.spec("one").WithConstraints(w.on("n2")))
		var none *placement.NoEligibleNodesError
		require.ErrorAs(t, err, &none)
		require.Equal(t, map[string]int{"Meta": 1, "without placement": 1}, none.Removed)
		w.join(late)
		time.Sleep(time.Second)
		w.submit(w.spec("one").WithConstraints(w.on("n2")))
		require.Equal(t, "n2:7355", w.add("n1", "one").Node)
	})
}

// The other nodes are members with agents long before the leading node joins.
func TestACoordinatorThatStartsLastSeesAllNodes(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(w.on("n2")))
		settle()
		w.join(w.Add("n0"))
		settle()
		v, err := w.client["n0"].View(t.Context())
		require.NoError(t, err)
		name, ok := w.client["n0"].Leader()
		require.True(t, ok)
		require.Equal(t, "n0", name)
		require.Len(t, v.Alive(), 4)
		n, ok := v.Find("one")
		require.True(t, ok)
		require.Equal(t, "n2", n.Name)
		require.Equal(t, []string{"one"}, n.Actors)
	}, func(cfg *setup) { cfg.Election = cluster.LowestAddress() })
}
