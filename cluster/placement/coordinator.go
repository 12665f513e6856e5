package placement

import (
	"context"
	"math"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/cluster/internal/hosting/shell"
	"github.com/understudy-go/understudy/cluster/placement/internal/plan"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

// journalID is the persistence id of the coordinator.
const journalID = "placement/coordinator"

// snapshotEvery is how many facts are stored between two snapshots.
const snapshotEvery = 2000

// A coordinator is the shell of the planner: the actor that turns messages into inputs, stores the
// facts, and then carries out the effects.
type coordinator struct {
	ctx     *actor.Context[command]
	node    *cluster.Node
	cfg     Config
	counted *counted
	planner *plan.Planner
	pending plan.PendingFacts // while there is something, everything else waits
	resume  bool              // a failure to store it has been dealt with
	waiting map[hosting.Token]actor.ActorRef[answer]
	last    hosting.Token
	inbox   actor.ActorRef[hosting.FromAgent]
}

// coordinatorOn returns the behavior of the coordinator on a node.
func coordinatorOn(n *cluster.Node, cfg Config, counted *counted) actor.Behavior[command] {
	return behaviors.Setup(func(ctx *actor.Context[command]) actor.Behavior[command] {
		c := &coordinator{ctx: ctx, node: n, cfg: cfg, counted: counted, waiting: map[hosting.Token]actor.ActorRef[answer]{}}
		return behaviors.Supervise(persistence.New(journalID, cfg.Journal, plan.Ledger{}, plan.Ledger.With,
			func(_ *actor.Context[command], _ plan.Ledger, cmd command) persistence.Effect[plan.Fact] {
				return c.handle(cmd)
			},
			c.options()), actor.Strategy{Decide: c.outlive})
	})
}

func (c *coordinator) options() persistence.Options[command, plan.Fact, plan.Ledger] {
	options := persistence.Options[command, plan.Fact, plan.Ledger]{StashCapacity: math.MaxInt, OnSignal: c.signal}
	if _, saves := journal.As[journal.SnapshotStore](c.cfg.Journal); saves {
		options.SnapshotEvery, options.DeleteEvents = snapshotEvery, true
	}
	return options
}

func (c *coordinator) signal(_ *actor.Context[command], l plan.Ledger, sig persistence.Signal) persistence.Effect[plan.Fact] {
	switch sig := sig.(type) {
	case persistence.RecoveryCompleted:
		return c.begin(l)
	case persistence.PersistRejected:
		c.refused(sig.Err)
		return persistence.None
	default:
		return persistence.Unhandled
	}
}

// begin makes the planner from the ledger that was recovered from the journal.
func (c *coordinator) begin(l plan.Ledger) persistence.Effect[plan.Fact] {
	epoch, err := singleton.GenerationOf(c.ctx).Packed()
	if err != nil {
		panic(err) // the singleton would not have started
	}
	c.planner = plan.New(c.cfg.planner(epoch, c.node.View().Self.Name))
	l.Each(c.planner.Replay)
	c.ctx.Defer(func() { c.counted.Store(nil) })
	c.inbox = actor.Adapt(c.ctx, func(msg hosting.FromAgent) command { return agentMessage{Message: msg} })
	c.ctx.Defer(cluster.Subscribe(c.node, actor.Adapt(c.ctx, func(cluster.View) command { return viewChanged{} })))
	return c.step(plan.Recovered{})
}

// handle turns a command into an input, or answers it at once. Commands that come while a step is
// being stored are stashed.
func (c *coordinator) handle(cmd command) persistence.Effect[plan.Fact] {
	if _, more := cmd.(storeMore); c.pending.Any() && !more {
		return persistence.Stash
	}
	switch cmd := cmd.(type) {
	case storeMore:
		return c.save()
	case request:
		return c.serve(cmd)
	case agentMessage:
		return c.step(plan.Received{Message: cmd.Message})
	case tick:
		return c.step(plan.Tick{})
	case viewChanged:
		v := c.node.View()
		if shell.IncarnationOf(v.Self) == 0 {
			return persistence.None // the view of a former member says nothing about the others
		}
		nodes, gone := shell.ViewOf(c.node, v, c.cfg.RemovalMargin)
		return c.step(plan.ViewChanged{Nodes: nodes, Gone: gone})
	case sourceAnswered:
		return c.step(cmd.SourceAnswer)
	}
	return persistence.Unhandled
}

// serve answers queries at once. For other requests it remembers the requester until the answer is
// known.
func (c *coordinator) serve(r request) persistence.Effect[plan.Fact] {
	switch r.Op {
	case opSpecs:
		return c.answer(r, plan.StatusPageOf(c.planner.Statuses(), r.Label, hosting.PartBytes(c.ctx.System())), nil)
	case opView:
		return c.answer(r, plan.ViewPageOf(c.planner.View(), r.Label, r.After, hosting.PartBytes(c.ctx.System())), nil)
	case opExplain:
		explanation, err := c.planner.Explain(r.Label)
		return c.answer(r, explanation, err)
	case opOverview:
		return c.answer(r, c.planner.Overview(c.node.View().Self.Name, time.Now(), hosting.PartBytes(c.ctx.System())), nil)
	case opSingleton:
		ownership, err := c.planner.OwnershipOf(r.Label)
		return c.answer(r, ownership, err)
	}
	c.last++
	in := r.input(c.last)
	if in == nil {
		return persistence.Unhandled
	}
	c.waiting[c.last] = r.ReplyTo
	return c.step(in)
}

// input returns the request as an input of the planner; nil if it makes no sense.
func (r request) input(t hosting.Token) plan.Input {
	switch {
	case r.Op == opSubmit && r.Spec != nil:
		return plan.Submit{Token: t, Spec: *r.Spec}
	case r.Op == opRemove:
		return plan.Remove{Token: t, Label: r.Label}
	case r.Op == opDrain:
		return plan.Drain{Token: t, Node: r.Label, Incarnation: r.Incarnation}
	case r.Op == opStartSingleton && r.Singleton != nil:
		return plan.StartSingleton{Token: t, Spec: *r.Singleton}
	case r.Op == opMoveSingleton:
		return plan.MoveSingleton{Token: t, Label: r.Label}
	case r.Op == opStopSingleton:
		return plan.StopSingleton{Token: t, Label: r.Label}
	}
	return nil
}

func (c *coordinator) answer(r request, value any, err error) persistence.Effect[plan.Fact] {
	r.ReplyTo.Tell(answerOf(value, err))
	return persistence.None
}

// step lets the planner decide, and carries out the effects when the facts are durable.
func (c *coordinator) step(in plan.Input) persistence.Effect[plan.Fact] {
	c.pending.Add(c.planner.Step(in, time.Now()))
	return c.save()
}

// save stores the next facts, and schedules the others.
func (c *coordinator) save() persistence.Effect[plan.Fact] {
	batch := c.pending.Batch(plan.MaxAppend)
	effect := persistence.Persist(batch...).Then(func() { c.saved(len(batch)) })
	if len(batch) == len(c.pending.Facts) {
		return effect.ThenUnstashAll()
	}
	return effect
}

// saved continues when n facts are durable.
func (c *coordinator) saved(n int) {
	effects, done := c.pending.Stored(n)
	if !done {
		c.ctx.Self().Tell(storeMore{})
		return
	}
	c.counted.Store(new(c.planner.Counts()))
	for _, e := range effects {
		c.do(e)
	}
	c.arm()
}

// refused continues when the journal rejects facts because of their content.
func (c *coordinator) refused(why error) {
	n := len(c.pending.Batch(plan.MaxAppend))
	if c.resume = c.pending.Refused(n, why, c.planner, time.Now()); c.resume {
		c.ctx.Self().Tell(storeMore{})
	}
}

// outlive keeps the coordinator running when the journal has rejected a single submission.
func (c *coordinator) outlive(error) actor.Directive {
	if c.resume {
		c.resume = false
		return actor.Resume
	}
	return actor.Stop
}

// tickKey is the key of the planner's timer.
const tickKey = "placement"

// arm sets the timer for the planner's next tick.
func (c *coordinator) arm() {
	at, ok := c.planner.Next()
	if !ok {
		c.ctx.CancelTimer(tickKey)
		return
	}
	c.ctx.After(tickKey, max(time.Until(at), 0), tick{})
}

func (c *coordinator) do(e hosting.Effect) {
	switch e := e.(type) {
	case hosting.Reply:
		c.waiting[e.Token].Tell(answerOf(e.Value, e.Err))
		delete(c.waiting, e.Token)
	case hosting.Send:
		shell.Tell(c.ctx.System(), agentName, c.planner.View(), e, c.inbox)
	case plan.SourceCall:
		c.call(e)
	case hosting.Moved:
		c.moved(e)
	}
}

// call asks the source of generations, in a goroutine of its own.
func (c *coordinator) call(e plan.SourceCall) {
	source, patience, log := c.cfg.Generations, c.cfg.SourceTimeout, c.ctx.Log()
	actor.PipeToSelf(c.ctx, func(ctx context.Context) (plan.SourceAnswer, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return askSource(ctx, source, e, log), nil
	}, func(s plan.SourceAnswer, err error) command {
		if err != nil { // it has panicked
			c.ctx.Log().Error("generation source failed", zap.Error(err))
			s = plan.SourceAnswer{Number: e.Number, Err: err}
		}
		return sourceAnswered{s}
	})
}
