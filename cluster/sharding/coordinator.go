package sharding

import (
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/cluster/internal/hosting/shell"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/singletonhook"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
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

// A coordinator is the shell of the machine that allots shards: the actor that turns messages into
// inputs, stores the facts, and then carries out the effects.
type coordinator struct {
	ctx     *actor.Context[command]
	node    *cluster.Node
	machine *allot.Machine
	hub     *hub                          // of this node
	stores  bool                          // in a journal that all nodes share
	waiting map[hosting.Token]func(error) // answers requests
	fences  map[fenceKey]lease.Lease      // handles of the leases of former members that were not to be had yet
	last    hosting.Token
	unfit   []allot.Fact // of the journal, which were left out
	inbox   actor.ActorRef[hosting.FromAgent]
}

// coordinatorOn returns the behavior of the coordinator on a node. Without a journal that the nodes
// share, a new coordinator knows only what the nodes report.
func coordinatorOn(n *cluster.Node, shared persistence.Journal, h *hub) actor.Behavior[command] {
	return behaviors.Setup(func(ctx *actor.Context[command]) actor.Behavior[command] {
		c := &coordinator{ctx: ctx, node: n, hub: h, stores: shared != nil, waiting: map[hosting.Token]func(error){}, fences: map[fenceKey]lease.Lease{}}
		store := shared
		if store == nil {
			store = journal.NewMemory()
		}
		options := persistence.Options[command, allot.Fact, allot.Ledger]{
			OnSignal: func(_ *actor.Context[command], l allot.Ledger, sig persistence.Signal) persistence.Effect[allot.Fact] {
				if _, recovered := sig.(persistence.RecoveryCompleted); recovered {
					return c.begin(l)
				}
				return persistence.Unhandled
			},
		}
		if _, saves := journal.As[journal.SnapshotStore](store); saves {
			options.SnapshotEvery, options.DeleteEvents = snapshotEvery, true
		}
		return persistence.New(journalID, store, allot.Ledger{}, c.apply,
			func(_ *actor.Context[command], _ allot.Ledger, cmd command) persistence.Effect[allot.Fact] {
				return c.handle(cmd)
			}, options)
	})
}

// apply applies a fact. It leaves out a fact of the journal that does not fit. The coordinator then
// does not trust the others, and asks all nodes what they run.
func (c *coordinator) apply(l allot.Ledger, f allot.Fact) allot.Ledger {
	if !l.Fits(f) {
		c.unfit = append(c.unfit, f)
	}
	return l.With(f)
}

// reportUnfit logs that facts were left out.
func (c *coordinator) reportUnfit() {
	if len(c.unfit) == 0 {
		return
	}
	c.ctx.Log().Error("facts in the journal of the coordinator of shards do not fit, and were left out",
		zap.Int("facts", len(c.unfit)), zap.String("type", c.unfit[0].Type), zap.Int("shard", c.unfit[0].Shard),
		zap.String("advice", "another program has written to the id "+journalID+", or the journal has lost the facts before: "+
			"check that all nodes share this journal, and restore it if it is damaged; shards that run stay where they are"))
	c.unfit = nil
}

// begin makes the machine from the ledger that was recovered from the journal.
func (c *coordinator) begin(l allot.Ledger) persistence.Effect[allot.Fact] {
	g := singleton.GenerationOf(c.ctx)
	epoch, err := g.Packed()
	if err != nil {
		panic(err) // the singleton would not have started
	}
	c.machine = allot.New(allot.Config{
		Forgetful: !c.stores || len(c.unfit) > 0, Epoch: epoch, FirstTerm: g.Term,
		AckTimeout: ackTimeout, Retry: retryMin, RetryMax: retryMax, HelloWait: helloWait, RebalanceEvery: rebalanceEvery, LeaseRetry: leaseRetry,
		Strategy: c.hub.strategyOf,
	})
	c.machine.Replay(l)
	c.reportUnfit()
	c.inbox = actor.Adapt(c.ctx, func(msg hosting.FromAgent) command { return agentMessage{Message: msg} })
	c.ctx.Defer(cluster.Subscribe(c.node, actor.Adapt(c.ctx, func(cluster.View) command { return viewChanged{} })))
	return c.step(allot.Recovered{})
}

func (c *coordinator) handle(cmd command) persistence.Effect[allot.Fact] {
	switch cmd := cmd.(type) {
	case hello:
		return c.step(c.view(c.node.View()), allot.Hello{ // it may have begun to take part
			Node: hosting.NodeID{Name: cmd.Node, Incarnation: cmd.Incarnation}, Offers: cmd.Offers, Has: cmd.Has,
		})
	case agentMessage:
		return c.step(allot.Received{Message: cmd.Message})
	case drainRequest:
		return c.step(allot.Drain{Token: c.answering(func(error) { cmd.ReplyTo.Tell(drained{}) }), Node: hosting.NodeID{Name: cmd.Node, Incarnation: cmd.Incarnation}})
	case controlRequest:
		return c.control(cmd)
	case fenceAnswered:
		return c.step(cmd.FenceAnswered)
	case pinsRequest:
		cmd.ReplyTo.Tell(pinned{Nodes: c.machine.Pins(cmd.Type)})
		return persistence.None
	case explainRequest:
		cmd.ReplyTo.Tell(c.machine.Explain(cmd.Type, cmd.Shard))
		return persistence.None
	case homelessRequest:
		cmd.ReplyTo.Tell(c.machine.Homeless())
		return persistence.None
	case tick:
		return c.step(allot.Tick{})
	case viewChanged:
		v := c.node.View()
		if shell.IncarnationOf(v.Self) == 0 {
			return persistence.None // the view of a former member says nothing about the others
		}
		return c.step(c.view(v))
	}
	return persistence.Unhandled
}

// answering returns the token of a request that is answered later.
func (c *coordinator) answering(answer func(error)) hosting.Token {
	c.last++
	c.waiting[c.last] = answer
	return c.last
}

// control pins or stops shards, or changes the number of daemons.
func (c *coordinator) control(q controlRequest) persistence.Effect[allot.Fact] {
	if (q.Pin || q.Daemons > 0) && !c.stores {
		q.ReplyTo.Tell(controlled{NoJournal: true})
		return persistence.None
	}
	token := c.answering(func(problem error) {
		q.ReplyTo.Tell(controlled{Problem: hosting.ErrorText(problem), Unknown: errors.Is(problem, allot.ErrUnknown)})
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
// A member that the machine knows stays, because it may run shards.
func (c *coordinator) view(v cluster.View) allot.ViewChanged {
	nodes, gone := shell.ViewOf(c.node, v, 0)
	takePart := singletonhook.ManagersOf(c.node.System, singletonName)
	nodes = slices.DeleteFunc(nodes, func(n hosting.Node) bool {
		return !c.machine.Knows(hosting.IDOf(n)) && !slices.Contains(takePart, node.ID{Address: n.Address, Incarnation: n.Incarnation})
	})
	return allot.ViewChanged{Nodes: nodes, Gone: gone}
}

// step lets the machine decide, and carries out the effects when the facts are durable.
func (c *coordinator) step(all ...allot.Input) persistence.Effect[allot.Fact] {
	var facts []allot.Fact
	var effects []hosting.Effect
	for _, in := range all {
		f, e := c.machine.Step(in, time.Now())
		facts, effects = append(facts, f...), append(effects, e...)
	}
	return persistence.Persist(facts...).Then(func() {
		for _, e := range effects {
			c.do(e)
		}
		c.arm()
	})
}

func (c *coordinator) do(e hosting.Effect) {
	switch e := e.(type) {
	case hosting.Reply:
		c.waiting[e.Token](e.Err)
		delete(c.waiting, e.Token)
	case hosting.Send:
		shell.Tell(c.ctx.System(), agentName, c.machine.View(), e, c.inbox)
	case allot.Push:
		s := c.ctx.System()
		actor.Resolve[toNode](s, "understudy://"+s.Name()+"@"+e.Node.Address+hubPath).
			Tell(toNode{Incarnation: e.Node.Incarnation, Update: e.Update, Refuse: e.Refuse})
	case hosting.Moved:
		c.moved(e)
	case allot.Fence:
		c.fence(e)
	case allot.StrategyFailed:
		c.ctx.Log().Warn("strategy of shards has failed; the nodes with the fewest shards are chosen",
			zap.String("type", e.Type), zap.String("strategy", e.Strategy), zap.String("why", e.Why))
	default:
		c.ctx.Log().Error("unknown effect", zap.Any("effect", e))
	}
}

// moved counts and reports a move that is over.
func (c *coordinator) moved(m hosting.Moved) {
	if m.Error == "" {
		c.hub.moves.add(m)
	}
	shell.ReportMove(c.ctx, c.ctx.System(), shell.Noun{Span: "shard", History: "shard"}, m, extension.Detail{Name: "shard.label", Value: m.Label})
}

// tickKey is the key of the machine's timer.
const tickKey = "sharding"

// arm sets the timer for the machine's next tick.
func (c *coordinator) arm() {
	at, ok := c.machine.Next()
	if !ok {
		c.ctx.CancelTimer(tickKey)
		return
	}
	c.ctx.After(tickKey, max(time.Until(at), 0), tick{})
}
