package placement

import (
	"context"
	"math"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

// journalID is the persistence id of the coordinator.
const journalID = "placement/coordinator"

// snapshotEvery is how many facts are stored between two snapshots.
const snapshotEvery = 2000

// A coordinator is the shell of the machine: the actor that turns messages into inputs,
// stores the facts, and then does what the machine says.
type coordinator struct {
	ctx     *actor.Context[command]
	node    *cluster.Node
	cfg     Config
	machine *machine
	unsaved unsaved // while there is something, everything else waits
	goesOn  bool    // a failure to store it has been dealt with
	waiting map[token]actor.ActorRef[answer]
	last    token
	inbox   actor.ActorRef[fromAgent]
}

// coordinatorOn returns the instance that is to run on a node.
func coordinatorOn(n *cluster.Node, cfg Config) actor.Behavior[command] {
	return behaviors.Setup(func(ctx *actor.Context[command]) actor.Behavior[command] {
		c := &coordinator{ctx: ctx, node: n, cfg: cfg, waiting: map[token]actor.ActorRef[answer]{}}
		return behaviors.Supervise(persistence.New(journalID, cfg.Journal, ledger{}, ledger.with,
			func(_ *actor.Context[command], _ ledger, cmd command) persistence.Effect[fact] { return c.handle(cmd) },
			c.options()), actor.Strategy{Decide: c.outlive})
	})
}

func (c *coordinator) options() persistence.Options[command, fact, ledger] {
	options := persistence.Options[command, fact, ledger]{StashCapacity: math.MaxInt, OnSignal: c.signal}
	if _, saves := journal.As[journal.SnapshotStore](c.cfg.Journal); saves {
		options.SnapshotEvery, options.DeleteEvents = snapshotEvery, true
	}
	return options
}

func (c *coordinator) signal(_ *actor.Context[command], l ledger, sig persistence.Signal) persistence.Effect[fact] {
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

// begin makes the machine of what the journal says.
func (c *coordinator) begin(l ledger) persistence.Effect[fact] {
	epoch, err := singleton.GenerationOf(c.ctx).Packed()
	if err != nil {
		panic(err) // the singleton would not have started
	}
	c.machine = newMachine(c.cfg.machine(epoch, c.node.View().Self.Name))
	l.each(c.machine.replay)
	c.inbox = actor.Adapt(c.ctx, func(msg fromAgent) command { return word{Said: msg} })
	cluster.Subscribe(c.ctx, c.node, func(cluster.View) actor.Behavior[command] {
		c.ctx.Self().Tell(newView{}) // in its turn, when nothing is being stored
		return nil
	})
	return c.step(begun{})
}

// handle turns a command into an input, or answers it from what is known. What comes while
// a step is being stored waits for its turn.
func (c *coordinator) handle(cmd command) persistence.Effect[fact] {
	if _, more := cmd.(moreFacts); c.unsaved.any() && !more {
		return persistence.Stash
	}
	switch cmd := cmd.(type) {
	case moreFacts:
		return c.save()
	case request:
		return c.serve(cmd)
	case word:
		return c.step(heard{cmd.Said})
	case alarm:
		return c.step(passed{})
	case newView:
		v := c.node.View()
		if membershipOf(v.Self) == 0 {
			return persistence.None // it says nothing of the others, who may go on
		}
		return c.step(seen(c.node, v, c.cfg.RemovalMargin))
	case fromStore:
		return c.step(cmd.sourced)
	}
	return persistence.Unhandled
}

// serve answers questions at once, and remembers who waits for the others.
func (c *coordinator) serve(r request) persistence.Effect[fact] {
	switch r.Op {
	case opSpecs:
		return c.answer(r, pageOf(c.machine.statuses(), r.Label, partBytes(c.ctx.System())), nil)
	case opView:
		return c.answer(r, c.machine.view().page(r.Label, r.After, partBytes(c.ctx.System())), nil)
	case opExplain:
		explanation, err := c.machine.explain(r.Label)
		return c.answer(r, explanation, err)
	case opGetSingleton:
		ownership, err := c.machine.ownershipOf(r.Label)
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

// input returns what a request means to the machine; nil when nobody knows.
func (r request) input(t token) input {
	switch {
	case r.Op == opSubmit && r.Spec != nil:
		return submit{token: t, spec: *r.Spec}
	case r.Op == opRemove:
		return remove{token: t, label: r.Label}
	case r.Op == opDrain:
		return drain{token: t, node: r.Label, incarnation: r.Incarnation}
	case r.Op == opStartSingleton && r.Singleton != nil:
		return startSingleton{token: t, spec: *r.Singleton}
	case r.Op == opMoveSingleton:
		return moveSingleton{token: t, label: r.Label}
	case r.Op == opStopSingleton:
		return stopSingleton{token: t, label: r.Label}
	}
	return nil
}

func (c *coordinator) answer(r request, value any, err error) persistence.Effect[fact] {
	r.ReplyTo.Tell(answerOf(value, err))
	return persistence.None
}

// step lets the machine decide; what it has decided is done when it is durable.
func (c *coordinator) step(in input) persistence.Effect[fact] {
	c.unsaved.add(c.machine.step(in, time.Now()))
	return c.save()
}

// save stores facts, and sees to it that the others follow.
func (c *coordinator) save() persistence.Effect[fact] {
	batch := c.unsaved.batch(maxAppend)
	effect := persistence.Persist(batch...).Then(func() { c.saved(len(batch)) })
	if len(batch) == len(c.unsaved.facts) {
		return effect.ThenUnstashAll()
	}
	return effect
}

// saved goes on when facts are durable.
func (c *coordinator) saved(n int) {
	effects, done := c.unsaved.stored(n)
	if !done {
		c.ctx.Self().Tell(moreFacts{})
		return
	}
	for _, e := range effects {
		c.do(e)
	}
	c.arm()
}

// refused goes on when the journal does not take facts because of what they are.
func (c *coordinator) refused(why error) {
	n := len(c.unsaved.batch(maxAppend))
	if c.goesOn = c.unsaved.refused(n, why, c.machine, time.Now()); c.goesOn {
		c.ctx.Self().Tell(moreFacts{})
	}
}

// outlive keeps the coordinator when the journal has refused what one submission is to blame
// for.
func (c *coordinator) outlive(error) actor.Directive {
	if c.goesOn {
		c.goesOn = false
		return actor.Resume
	}
	return actor.Stop
}

// alarmKey is the timer of the machine.
const alarmKey = "placement"

// arm has the machine called when it wants to be.
func (c *coordinator) arm() {
	at, ok := c.machine.next()
	if !ok {
		c.ctx.CancelTimer(alarmKey)
		return
	}
	c.ctx.After(alarmKey, max(time.Until(at), 0), alarm{})
}

func (c *coordinator) do(e effect) {
	switch e := e.(type) {
	case reply:
		c.waiting[e.token].Tell(answerOf(e.value, e.err))
		delete(c.waiting, e.token)
	case send:
		c.send(e)
	case call:
		c.call(e)
	}
}

// send tells the agent of a node something.
func (c *coordinator) send(e send) {
	n, known := c.machine.view().Node(e.node)
	if !known || n.Incarnation != e.incarnation {
		return // it is gone by now, and the machine knows
	}
	system := c.ctx.System()
	actor.Resolve[toAgent](system, "understudy://"+system.Name()+"@"+n.Address+agentPath).Tell(e.message(c.inbox))
}

// call asks the source of generations, in a goroutine of its own.
func (c *coordinator) call(e call) {
	source, patience, log := c.cfg.Generations, c.cfg.SourceTimeout, c.ctx.Log()
	actor.PipeToSelf(c.ctx, func(ctx context.Context) (sourced, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return e.ask(ctx, source, log), nil
	}, func(s sourced, err error) command {
		if err != nil { // it has panicked
			c.ctx.Log().Error("generation source failed", zap.Error(err))
			s = sourced{call: e.call, err: err}
		}
		return fromStore{s}
	})
}
