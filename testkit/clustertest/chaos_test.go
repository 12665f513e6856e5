//go:build !quick

package clustertest_test

import (
	"fmt"
	"testing"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func TestMembershipSurvivesChaos(t *testing.T) {
	effort.Verify(t)
	for _, nodes := range []int{3, 5} {
		t.Run(fmt.Sprintf("%d nodes", nodes), func(t *testing.T) {
			clustertest.Chaos{Nodes: nodes, Count: 2, MembershipOnly: true}.Run(t, func(r *clustertest.Round) {
				r.Check(clustertest.OneLeaderPerSide(), clustertest.MajoritySurvives())
			})
		})
	}
}

// Write stores N and acknowledges it to Kept. With All set, it asks for all stored numbers instead.
type Write struct {
	N    int
	Kept actor.ActorRef[int]
	All  actor.ActorRef[[]int]
}

func init() { actor.RegisterType[Write]("clustertest.write") }

// ledger returns the factory of an event-sourced list that acknowledges.
func ledger(journal persistence.Journal) func() actor.Behavior[Write] {
	return func() actor.Behavior[Write] {
		return behaviors.EventSourced("ledger", journal, []int(nil),
			func(all []int, e Kept) []int { return append(all, e.N) },
			func(_ *actor.Context[Write], all []int, msg Write) persistence.Effect[Kept] {
				if msg.All != (actor.ActorRef[[]int]{}) {
					return persistence.ThenReply(persistence.None[Kept], msg.All, all)
				}
				return persistence.ThenReply(persistence.Persist(Kept{msg.N}), msg.Kept, msg.N)
			})
	}
}

// books count the numbers that were written in a round, and collect the acknowledgements.
type books struct {
	*clustertest.Round
	refs map[string]actor.ActorRef[Write]
	sent int
	acks chan int
}

// write sends one number to the ledger through every node.
func (b *books) write() error {
	for _, n := range b.Nodes() {
		b.sent++
		kept := actor.Spawn(n, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			b.acks <- n
			return behaviors.Stopped
		}), fmt.Sprintf("kept-%d", b.sent))
		b.refs[n.View().Self.Name].Tell(Write{N: b.sent, Kept: kept})
	}
	return nil
}

// audit compares the ledger with the numbers that were acknowledged before the question.
func (b *books) audit() error {
	acked := make([]int, len(b.acks))
	for i := range acked {
		acked[i] = <-b.acks
	}
	times := map[int]int{}
	for _, n := range testkit.Ask(b.Context(), b, b.refs["n1"], func(to actor.ActorRef[[]int]) Write { return Write{All: to} }) {
		if times[n]++; times[n] > 1 {
			return fmt.Errorf("%d is there twice", n)
		}
	}
	for _, n := range acked {
		if times[n] == 0 {
			return fmt.Errorf("%d was acknowledged and is not there", n)
		}
	}
	if len(acked) < b.sent/4 {
		return fmt.Errorf("of %d writes only %d were acknowledged", b.sent, len(acked))
	}
	return nil
}

func TestNoAcknowledgedWriteIsLostOrDoubledInChaos(t *testing.T) {
	effort.Verify(t)
	clustertest.Chaos{Nodes: 5, Count: 2}.Run(t, func(r *clustertest.Round) {
		b := &books{Round: r, refs: map[string]actor.ActorRef[Write]{}, acks: make(chan int, 10_000)}
		census, journal := testkit.NewCensus(r), journal.NewMemory()
		r.EachNode(func(n *cluster.Node) {
			b.refs[n.View().Self.Name] = actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ledger(journal))), "ledger")
		})
		r.Always("writing goes on", b.write)
		r.Check(clustertest.OneRunsFinally(census))
		r.Finally("what was acknowledged is there, and everything at most once", b.audit)
	})
}

// An unfenced singleton has only the margin, which does not cover nodes that are cut off in one
// direction or paused for long.
func TestAnUnfencedSingletonRunsOnceInChaos(t *testing.T) {
	effort.Verify(t)
	kinds := []clustertest.Kind{
		clustertest.Partition, clustertest.Isolate, clustertest.Crash, clustertest.Leave, clustertest.Lose,
		clustertest.Duplicate, clustertest.Drift, clustertest.Jump,
	}
	clustertest.Chaos{Nodes: 5, Kinds: kinds, Count: 2, MembershipOnly: true}.Run(t, func(r *clustertest.Round) {
		census := testkit.NewCensus(r)
		r.EachNode(func(n *cluster.Node) {
			actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
		})
		r.Check(clustertest.AtMostOneRunning(census), clustertest.OneRunsFinally(census))
	})
}
