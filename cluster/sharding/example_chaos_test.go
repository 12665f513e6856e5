//go:build !quick

package sharding_test

import (
	"context"
	"slices"
	"testing"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A DiaryMsg is a message to a diary.
type DiaryMsg interface{ diaryMsg() }

type (
	Write struct {
		Text    string
		ReplyTo actor.ActorRef[bool]
	}
	Read    struct{ ReplyTo actor.ActorRef[[]string] }
	Written struct{ Text string }
)

func (Write) diaryMsg() {}
func (Read) diaryMsg()  {}

func init() {
	actor.RegisterType[Write]("sharding-example.write")
	actor.RegisterType[Read]("sharding-example.read")
	actor.RegisterType[Written]("sharding-example.written")
}

// diary returns a diary in a journal.
func diary(e sharding.Entity, j persistence.Journal) actor.Behavior[DiaryMsg] {
	return behaviors.EventSourced(e.PersistenceID(), j, []string(nil),
		func(all []string, w Written) []string { return append(slices.Clip(all), w.Text) },
		func(_ *actor.Context[DiaryMsg], all []string, msg DiaryMsg) persistence.Effect[Written] {
			switch msg := msg.(type) {
			case Read:
				msg.ReplyTo.Tell(all)
			case Write:
				return persistence.Persist(Written{msg.Text}).Then(func() { msg.ReplyTo.Tell(true) })
			}
			return persistence.None
		})
}

// diariesInChaos is the story of a Chaos: in the end each diary has each acknowledged entry once.
func diariesInChaos(r *clustertest.Round) {
	store := journal.NewMemory() // outlives the nodes
	entries := clustertest.NewAppends(r, 12)
	r.EachNode(func(n *cluster.Node) {
		diaries, err := sharding.Start(n, "diary", func(e sharding.Entity) actor.Behavior[DiaryMsg] {
			return diary(e, store)
		})
		if err != nil {
			r.Fatalf("%v", err)
		}
		entries.On(n, func(ctx context.Context, id, entry string) error {
			_, err := actor.Ask(ctx, diaries.Ref(id), func(to actor.ActorRef[bool]) DiaryMsg { return Write{entry, to} })
			return err
		}, func(ctx context.Context, id string) ([]string, error) {
			return actor.Ask(ctx, diaries.Ref(id), func(to actor.ActorRef[[]string]) DiaryMsg { return Read{to} })
		})
	})
	r.Check(entries.EachOnce())
}

// A test of a type under random faults: nodes crash, leave and are partitioned. A failure prints
// the seed and the schedule of faults, and the flags with which to run them again. To run more
// seeds, use -chaos.count.
func ExampleStart_chaos() {
	_ = func(t *testing.T) { // go test runs it
		clustertest.Chaos{Nodes: 3, Faults: 5}.Run(t, diariesInChaos)
	}
}
