//go:build !quick

package sharding_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// Whatever happens to the nodes, an entity keeps each acknowledged entry, once, and in the order in
// which its writer was told so; and each entity answers in the end.
func TestInChaosNoAcknowledgedEntryIsLost(t *testing.T) {
	effort.Verify(t)
	for name, opts := range map[string][]clustertest.Option{"with a journal of the coordinator": nil, "without": {clustertest.WithJournal(nil)}, "with messages that go straight to entities": {clustertest.WithoutEncoding()}} {
		t.Run(name, func(t *testing.T) {
			clustertest.Chaos{Nodes: 3, Faults: 5, ShrinkRuns: -1, Options: opts}.Run(t, entriesInChaos)
		})
	}
}

func TestTheDiariesOfTheExampleInChaos(t *testing.T) {
	clustertest.Chaos{Nodes: 3, Faults: 5, ShrinkRuns: -1}.Run(t, diariesInChaos)
}

func entriesInChaos(r *clustertest.Round) {
	store := journal.NewMemory()
	opts := []sharding.Option{sharding.Shards(8), sharding.PassivateAfter(20 * time.Second)}
	entries := clustertest.NewAppends(r, 12)
	r.EachNode(func(n *cluster.Node) {
		name := n.View().Self.Name
		region, err := sharding.Start(n, "notebook", func(e sharding.Entity) actor.Behavior[note] { return persistentNotebook(e, store, name) }, opts...)
		if err != nil {
			r.Fatalf("%v", err)
		}
		ask := func(ctx context.Context, id, text string) (string, error) {
			return actor.Ask(ctx, region.Ref(id), func(to actor.ActorRef[string]) note { return note{Text: text, ReplyTo: to} })
		}
		entries.On(n, func(ctx context.Context, id, entry string) error {
			_, err := ask(ctx, id, entry)
			return err
		}, func(ctx context.Context, id string) ([]string, error) {
			text, err := ask(ctx, id, "")
			return strings.Fields(text), err
		})
	})
	r.Check(entries.EachOnce())
}

// Deliveries that are confirmed have been stored once, in order, whatever happens to the nodes.
func TestInChaosNoConfirmedDeliveryIsLostOrDoubled(t *testing.T) {
	effort.Verify(t)
	clustertest.Chaos{Nodes: 3, Faults: 5, ShrinkRuns: -1}.Run(t, func(r *clustertest.Round) {
		store := journal.NewMemory()
		entries := clustertest.NewAppends(r, 12)
		r.EachNode(func(n *cluster.Node) {
			region, err := sharding.Start(n, "ledger", func(e sharding.Entity) actor.Behavior[delivery.Link[note]] {
				return delivery.Consumer(ledger(e, store))
			}, sharding.Shards(8), sharding.PassivateAfter(20*time.Second))
			if err != nil {
				r.Fatalf("%v", err)
			}
			producer := actor.Spawn(n, delivery.ProducerByID(region.Lookup), "deliveries")
			entries.On(n, func(ctx context.Context, id, entry string) error {
				outcome, err := actor.Ask(ctx, producer, func(to actor.ActorRef[delivery.Confirmed]) noteCommand {
					return delivery.Send[note]{To: id, Message: note{Text: entry}, ConfirmTo: to}
				})
				if err != nil {
					return err
				}
				return outcome.Reason
			}, func(ctx context.Context, id string) ([]string, error) {
				text, err := actor.Ask(ctx, region.Ref(id), directly)
				return strings.Fields(text), err
			})
		})
		r.Check(entries.EachOnce())
	})
}
