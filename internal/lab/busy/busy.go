// Package busy runs nodes of a cluster that use everything that the framework measures, and makes
// trouble for each alert on demand. It is for tests of exporters, of the page about monitoring, and
// of alert rules.
package busy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/router"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
)

// A Sale is a message to the ledger, and its event.
type Sale struct {
	Item    string
	ReplyTo actor.ActorRef[int]
}

type sold struct{ Item string }

// A Greeting is a message to a greeter.
type Greeting struct{ ReplyTo actor.ActorRef[string] }

func init() {
	actor.RegisterType[Sale]("busy.sale")
	actor.RegisterType[sold]("busy.sold")
	actor.RegisterType[Greeting]("busy.greeting")
}

// A Program is a cluster of nodes in this process, which talk by TCP.
type Program struct {
	Nodes  []*cluster.Node
	Ledger actor.ActorRef[Sale] // a leased, event-sourced singleton; the ref is of the first node

	dir     string
	store   *sqlite.Journal
	leases  *lease.Memory
	client  *cluster.Client
	gone    actor.ActorRef[string]
	release chan struct{} // closed when handlers that block are to return
	leaving chan error    // what came of the leave of [Program.LeaveStuck]; or nil
	crashed bool
}

// Start starts a program of n nodes, which stores its journal in dir. It returns when each part has
// done something. The caller closes it.
func Start(ctx context.Context, dir string, n int) (*Program, error) {
	store, err := sqlite.Open(filepath.Join(dir, "journal.db")) //nolint:contextcheck // it opens a file
	if err != nil {
		return nil, err
	}
	p := &Program{dir: dir, store: store, leases: lease.NewMemory(), release: make(chan struct{})}
	for i := range n {
		cfg := cluster.Config{
			Name: "shop", NodeID: fmt.Sprintf("n%d", i+1), AppVersion: "1.0", Journal: store, Logger: zap.NewNop(),
			SystemOptions: []actor.Option{actor.WithTimeSampling(1)}, // so that no metric is without a value by chance
		}
		if i > 0 {
			cfg.Seeds = []string{p.Nodes[0].Address()}
		}
		node, err := cluster.Start(ctx, cfg)
		if err != nil {
			return nil, errors.Join(err, p.Close(ctx))
		}
		p.Nodes = append(p.Nodes, node)
		if err := p.serve(ctx, node); err != nil {
			return nil, errors.Join(err, p.Close(ctx))
		}
	}
	return p, p.use(ctx)
}

// serve starts what runs on each node.
func (p *Program) serve(ctx context.Context, n *cluster.Node) error {
	ledger := actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[Sale] { return newLedger("ledger", p.store, "sales") }, //nolint:contextcheck // actors have contexts of their own
		singleton.WithLease(p.leases.Lease("ledger", n.View().Self.Name, 15*time.Second))), "ledger")
	if len(p.Nodes) == 1 {
		p.Ledger = ledger
	}
	sales := projection.New("sales", p.store, journal.Query{Tag: "sales"},
		projection.AtLeastOnce(&projection.MemoryOffsets{}, func(context.Context, projection.Event[sold]) error { return nil }))
	actor.Spawn(n, behaviors.Singleton(sales.Behavior), "sales")
	clerks := placement.NewType[string, string]("clerk")
	if _, err := sharding.Start(n, "cart", p.newCart, sharding.Shards(8)); err != nil {
		return err
	}
	if err := errors.Join(p.schedule(n), p.workflows(n)); err != nil { //nolint:contextcheck,nolintlint // they end with n
		return err
	}
	cfg := placement.Config{Factories: []placement.Factory{
		clerks.Factory(func(string) actor.Behavior[string] { return behaviors.Ignore[string] }),
	}}
	c, err := placement.Start(n, cfg)
	if err != nil || len(p.Nodes) > 1 {
		return err
	}
	_, err = c.Submit(ctx, clerks.Spec("clerk-1", "first"))
	return err
}

// newLedger returns a ledger with that persistence id, whose events have that tag.
func newLedger(id string, j persistence.Journal, tag string) actor.Behavior[Sale] {
	return persistence.New(id, j, 0,
		func(n int, _ sold) int { return n + 1 },
		func(_ *actor.Context[Sale], n int, s Sale) persistence.Effect[sold] {
			return persistence.Persist(sold{s.Item}).Then(func() { s.ReplyTo.Tell(n + 1) })
		},
		persistence.Options[Sale, sold, int]{Tags: func(int, sold) []string { return []string{tag} }})
}

// use lets each part do something.
func (p *Program) use(ctx context.Context) error {
	s := p.Nodes[0].System
	news := topic.New[string]("news")
	news.Subscribe(s, actor.Spawn(s, behaviors.Ignore[string], "reader"))
	news.Publish(s, "it rains")
	p.gone = actor.Spawn(s, behaviors.Stopped[string], "gone")
	p.LoseMessage()
	return errors.Join(p.Sell(ctx, "hat"), p.fill(ctx), p.order(ctx), p.greet(ctx))
}

// order delivers a message from a queue in the journal.
func (p *Program) order(ctx context.Context) error {
	s := p.Nodes[0].System
	confirmed := make(chan struct{})
	orders := actor.Spawn(s, delivery.Producer[string](delivery.WithQueue(delivery.NewQueue("orders", p.store))), "orders")
	orders.Tell(delivery.Connect[string]{Consumer: actor.Spawn(s, delivery.Consumer(
		behaviors.Receive(func(_ *actor.Context[delivery.Delivery[string]], d delivery.Delivery[string]) actor.Behavior[delivery.Delivery[string]] {
			d.Confirm()
			close(confirmed)
			return behaviors.Same
		})), "billing")})
	orders.Tell(delivery.Send[string]{Message: "books"})
	select {
	case <-confirmed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// greet asks a pool of actors, from outside the cluster.
func (p *Program) greet(ctx context.Context) error {
	n := p.Nodes[0]
	key := receptionist.NewKey[Greeting]("greeters")
	actor.Spawn(n, behaviors.Discoverable(key, router.Pool(2, behaviors.Receive(greeter))), "greeters")
	client, err := cluster.Dial(ctx, cluster.ClientConfig{Name: "shop", Contacts: []string{n.Address()}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	p.client = client
	greeters := actor.Resolve[Greeting](client.System, "understudy://shop@"+n.Address()+"/user/greeters")
	_, err = actor.Ask(ctx, greeters, func(r actor.ActorRef[string]) Greeting { return Greeting{r} })
	return err
}

func greeter(_ *actor.Context[Greeting], g Greeting) actor.Behavior[Greeting] {
	g.ReplyTo.Tell("good morning")
	return behaviors.Same
}

// Sell tells the ledger of a sale, and waits until it is stored.
func (p *Program) Sell(ctx context.Context, item string) error { return sell(ctx, p.Ledger, item) }

func sell(ctx context.Context, ledger actor.ActorRef[Sale], item string) error {
	_, err := actor.Ask(ctx, ledger, func(r actor.ActorRef[int]) Sale { return Sale{item, r} })
	return err
}

// Close ends the program: the nodes leave one after the other, or all crash if one has crashed,
// because they would wait for it. Handlers that block return at last.
func (p *Program) Close(ctx context.Context) error {
	close(p.release)
	var all []error
	if p.leaving != nil {
		all = append(all, <-p.leaving)
	}
	if p.client != nil {
		all = append(all, p.client.Shutdown(ctx))
	}
	for len(p.Nodes) > 0 {
		if p.crashed {
			all = append(all, p.Crash(ctx))
			continue
		}
		last := len(p.Nodes) - 1
		all = append(all, p.Nodes[last].Leave(ctx))
		p.Nodes = p.Nodes[:last]
	}
	return errors.Join(append(all, p.store.Close())...)
}
