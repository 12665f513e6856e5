package placement

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/cluster/internal/journaled"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
)

// journalID is the persistence id of the coordinator.
const journalID = "placement/coordinator"

// snapshotEvery is how many facts are stored between two snapshots.
const snapshotEvery = 2000

type storing = journaled.Shell[home.Input, home.Fact, home.Effect]

// A coordinator carries out what the planner decides.
type coordinator struct {
	*storing
	*planner
	node    *cluster.Node
	cfg     Config
	counted *counted
	inbox   actor.ActorRef[home.FromAgent]
	open    map[home.Token]*opened
	warned  bool // of actors that the journal does not know
}

// An opened request has not been answered. Its requester knows why, if it waits.
type opened struct {
	request
	why string
}

// coordinatorOn returns the behavior of the coordinator on a node.
func coordinatorOn(n *cluster.Node, cfg Config, counted *counted) actor.Behavior[home.Input] {
	return journaled.New(journaled.Config[home.Input, home.Fact, home.Ledger]{
		ID: journalID, Journal: journaled.JournalOf(n.System), With: home.Ledger.With, SnapshotEvery: snapshotEvery, Tick: home.Tick{}, Size: home.Fact.Size,
	}, &coordinator{node: n, cfg: cfg, counted: counted, open: map[home.Token]*opened{}})
}

// Begin implements [journaled.Coordinator].
func (c *coordinator) Begin(s *storing, l home.Ledger) persistence.Effect[home.Fact] {
	c.storing = s
	c.planner = newPlanner(c.cfg.planner(c.Epoch, c.node.View().Self.Name))
	c.Replay(l)
	c.Ctx.Defer(func() { c.counted.Store(nil) })
	c.inbox = shell.Listen(c.Ctx, c.node)
	return c.step(home.Recovered{})
}

// Handle implements [journaled.Coordinator].
func (c *coordinator) Handle(in home.Input) persistence.Effect[home.Fact] {
	switch in := in.(type) {
	case request:
		return c.serve(in)
	case shell.ViewChanged:
		v, member := shell.ViewOf(c.node, c.cfg.RemovalMargin)
		if !member {
			return persistence.None
		}
		return c.step(v)
	case home.Received:
		c.check(in.Message)
	}
	return c.step(in)
}

// check warns if a node runs what the journal does not know: a journal has each request before it
// is sent.
func (c *coordinator) check(m home.FromAgent) {
	if m.Report == nil || c.warned {
		return
	}
	for _, a := range m.Report.Running {
		if !c.Knows(a.Label) {
			c.warned = true
			c.Ctx.Log().Error("an actor runs that the journal of this node does not know; give all nodes the same cluster.Config.Journal",
				zap.String("node", c.node.View().Self.Name), zap.String("label", a.Label), zap.String("on", m.Node), zap.Bool("stopped", !c.specs.untouched))
			return
		}
	}
}

// serve answers queries at once. For other requests it remembers the requester until the answer is
// known.
func (c *coordinator) serve(r request) persistence.Effect[home.Fact] {
	switch r.Op {
	case opSpecs:
		return c.answer(r, statusPageOf(c.Statuses(), r.Label, home.PartBytes(c.Ctx.System())), nil)
	case opView:
		return c.answer(r, viewPageOf(c.View(), r.Label, r.After, home.PartBytes(c.Ctx.System())), nil)
	case opExplain:
		explanation, err := c.Explain(r.Label)
		return c.answer(r, explanation, err)
	case opOverview:
		return c.answer(r, c.Overview(c.node.View().Self.Name, time.Now(), home.PartBytes(c.Ctx.System())), nil)
	case opSingleton:
		ownership, err := c.OwnershipOf(r.Label)
		return c.answer(r, ownership, err)
	}
	if r.input(0) == nil {
		return persistence.Unhandled
	}
	var to home.Token
	to = c.Await(func(value any, err error) {
		delete(c.open, to)
		r.ReplyTo.Tell(answerOf(value, err))
	})
	c.open[to] = &opened{request: r}
	return c.step(r.input(to))
}

// explain tells a requester, whose ask may end meanwhile, why the request waits.
func (c *coordinator) explain(w home.Waits) {
	if r := c.open[w.Token]; r != nil && r.why != w.Why {
		r.why = w.Why
		extension.Explain(c.Ctx.System(), r.request, fmt.Errorf("%w: the coordinator on %s waits with %q: %s", ErrInProgress, c.node.View().Self.Name, r.about(), w.Why))
	}
}

// input returns the request as an input of the planner; nil if it makes no sense.
func (r request) input(t home.Token) home.Input {
	switch {
	case r.Op == opSubmit && r.Spec != nil:
		return submit{Token: t, Spec: *r.Spec}
	case r.Op == opRemove:
		return remove{Token: t, Label: r.Label}
	case r.Op == opDrain:
		return home.Drain{Token: t, Node: home.NodeID{Name: r.Label, Incarnation: r.Incarnation}}
	case r.Op == opStartSingleton && r.Singleton != nil:
		return startSingleton{Token: t, Spec: *r.Singleton}
	case r.Op == opMoveSingleton:
		return moveSingleton{Token: t, Label: r.Label}
	case r.Op == opStopSingleton:
		return stopSingleton{Token: t, Label: r.Label}
	}
	return nil
}

func (c *coordinator) answer(r request, value any, err error) persistence.Effect[home.Fact] {
	r.ReplyTo.Tell(answerOf(value, err))
	return persistence.None
}

func (c *coordinator) step(in home.Input) persistence.Effect[home.Fact] {
	facts, effects := c.Step(in, time.Now())
	c.counted.Store(new(c.Counts()))
	return c.Save(facts, effects)
}

// Do implements [journaled.Coordinator].
func (c *coordinator) Do(e home.Effect) {
	switch e := e.(type) {
	case home.Send:
		shell.Tell(c.Ctx.System(), agentName, c.View(), e, c.inbox)
	case home.Waits:
		c.explain(e)
	case claimTerm:
		c.claim(e)
	case home.Moved:
		c.moved(e)
	}
}
