package sharding

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/cluster/internal/journaled"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/remote"
)

const (
	// singletonName is the name of the coordinator's singleton.
	singletonName = "sharding-coordinator"

	// journalID is the persistence id of the coordinator.
	journalID = "sharding/coordinator"

	// agentName is the name of the agents, which start shards.
	agentName = "shards"

	// snapshotEvery is how many facts are stored between two snapshots.
	snapshotEvery = 2000
)

// The times of the coordinator.
const (
	ackTimeout     = 2 * time.Second
	retryMin       = time.Second
	retryMax       = time.Minute
	rebalanceEvery = 10 * time.Second
	helloWait      = time.Second
)

type storing = journaled.Shell[home.Input, home.Fact, home.Effect]

// A coordinator carries out what the machine decides that allots shards.
type coordinator struct {
	*storing
	*allot.Machine
	node   *cluster.Node
	hub    *hub                             // of this node
	stores bool                             // in a journal that all nodes share
	fences map[fenceKey]*leaseholder.Holder // of the leases of former members that were not to be had yet
	inbox  actor.ActorRef[home.FromAgent]
	seen   home.ViewChanged // what the machine was last told
}

// coordinatorOn returns the behavior of the coordinator on a node. Without a journal, a new
// coordinator knows only what the nodes report.
func coordinatorOn(n *cluster.Node, h *hub) actor.Behavior[home.Input] {
	shared := journaled.JournalOf(n.System)
	return journaled.New(journaled.Config[home.Input, home.Fact, home.Ledger]{
		ID: journalID, Journal: shared, With: home.Ledger.With, SnapshotEvery: snapshotEvery, Tick: home.Tick{}, Size: home.Fact.Size,
	}, &coordinator{node: n, hub: h, stores: shared != nil, fences: map[fenceKey]*leaseholder.Holder{}})
}

// Begin implements [journaled.Coordinator].
func (c *coordinator) Begin(s *storing, l home.Ledger) persistence.Effect[home.Fact] {
	c.storing, c.seen = s, home.ViewChanged{}
	c.Ctx.Defer(c.dropFences)
	c.Machine = allot.New(allot.Config{
		Config:    home.Config{Forgetful: !c.stores, Epoch: c.Epoch, AckTimeout: ackTimeout, Retry: retryMin, RetryMax: retryMax},
		FirstTerm: tenure.Unpack(c.Epoch).Term, HelloWait: helloWait, RebalanceEvery: rebalanceEvery, LeaseRetry: leaseRetry,
		Strategy: c.hub.strategyOf,
	}, l)
	if len(c.Unfit) > 0 {
		c.Ctx.Log().Error("facts in the journal of the coordinator do not fit, and were left out", zap.Strings("keys", c.Unfit),
			zap.String("advice", "another program has written to the id "+journalID+
				", or the journal has lost the facts before: check that all nodes share this journal, and restore it if it is damaged; what runs stays where it is"))
	}
	c.inbox = shell.Listen(c.Ctx, c.node)
	return c.step(home.Recovered{})
}

// Handle implements [journaled.Coordinator].
func (c *coordinator) Handle(in home.Input) persistence.Effect[home.Fact] {
	switch in := in.(type) {
	case hello: // its node may have begun to take part
		return c.step(append(c.view(), allot.Hello{
			Node: home.NodeID{Name: in.Node, Incarnation: in.Incarnation}, Offers: in.Offers, Has: in.Has,
		})...)
	case shell.ViewChanged:
		return c.step(c.view()...)
	case drainRequest:
		return c.step(home.Drain{Token: c.Await(func(any, error) { in.ReplyTo.Tell(drained{}) }), Node: home.NodeID{Name: in.Node, Incarnation: in.Incarnation}})
	case controlRequest:
		return c.control(in)
	case pinsRequest:
		in.ReplyTo.Tell(pinned{Nodes: c.Pins(in.Type)})
		return persistence.None
	case explainRequest:
		in.ReplyTo.Tell(c.Explain(in.Type, in.Shard))
		return persistence.None
	case homelessRequest:
		in.ReplyTo.Tell(c.Homeless())
		return persistence.None
	}
	return c.step(in)
}

// control pins or stops shards, or changes the number of daemons.
func (c *coordinator) control(q controlRequest) persistence.Effect[home.Fact] {
	if (q.Pin || q.Daemons > 0) && !c.stores {
		q.ReplyTo.Tell(controlled{NoJournal: true})
		return persistence.None
	}
	token := c.Await(func(_ any, problem error) {
		q.ReplyTo.Tell(controlled{Problem: home.ErrorText(problem), Unknown: errors.Is(problem, allot.ErrUnknown)})
	})
	switch {
	case q.Daemons > 0:
		return c.step(allot.Rescale{Token: token, Type: q.Type, Shards: q.Daemons})
	case q.Pin:
		return c.step(allot.SetPins{Token: token, Type: q.Type, Shards: q.Shards, Node: q.Node})
	}
	return c.step(allot.StopShards{Token: token, Type: q.Type, Shards: q.Shards})
}

// view returns the members that have an agent: those that take part in the coordinator's singleton.
// A member that the machine knows stays, because it may run shards. It returns nothing if this node
// is no member, or if nothing has changed since the last call.
func (c *coordinator) view() []home.Input {
	v, member := shell.ViewOf(c.node, 0)
	if !member {
		return nil
	}
	takePart := singletons.ManagersOf(c.node.System, singletonName)
	v.Nodes = slices.DeleteFunc(v.Nodes, func(n home.Node) bool {
		return !c.Knows(home.IDOf(n)) && !slices.Contains(takePart, remote.NodeID{Address: n.Address, Incarnation: n.Incarnation})
	})
	if reflect.DeepEqual(v, c.seen) {
		return nil
	}
	c.seen = v
	return []home.Input{v}
}

func (c *coordinator) step(all ...home.Input) (effect persistence.Effect[home.Fact]) {
	for _, in := range all {
		effect = c.Save(c.Step(in, time.Now())) // the last one saves all
	}
	return effect
}

// Do implements [journaled.Coordinator].
func (c *coordinator) Do(e home.Effect) {
	switch e := e.(type) {
	case home.Send:
		shell.Tell(c.Ctx.System(), agentName, c.View(), e, c.inbox)
	case allot.Push:
		s := c.Ctx.System()
		actor.Resolve[toNode](s, "understudy://"+s.Name()+"@"+e.Node.Address+hubPath).
			Tell(toNode{Incarnation: e.Node.Incarnation, Update: e.Update, Refuse: e.Refuse})
	case home.Moved:
		c.moved(e)
	case allot.Fence:
		c.fence(e)
	case allot.StrategyFailed:
		c.Ctx.Log().Warn("strategy of shards has failed; the nodes with the fewest shards are chosen",
			zap.String("type", e.Type), zap.String("strategy", e.Strategy), zap.String("why", e.Why))
	default:
		c.Ctx.Log().Error("unknown effect", zap.Any("effect", e))
	}
}

// moved counts and reports a move that is over.
func (c *coordinator) moved(m home.Moved) {
	if m.Error == "" {
		c.hub.moves.add(m)
	}
	shell.ReportMove(c.Ctx, c.Ctx.System(), shell.Noun{Span: "shard", History: "shard"}, m, extension.Detail{Name: "shard.label", Value: m.Label})
}
