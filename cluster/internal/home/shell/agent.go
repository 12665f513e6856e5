// Package shell runs the agents of package home, and has what the shells of coordinators share.
package shell

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/tenure"
)

// resendEvery is how long the coordinator may take to acknowledge an Ended.
const resendEvery = 2 * time.Second

// StartAgent starts the agent of a node.
func StartAgent(n *cluster.Node, cfg Config) {
	SpawnAgent(n.System, n.View().Self.Name, cfg, func(ctx *actor.Context[any], follow func(incarnation uint64)) {
		follow(IncarnationOf(n.View().Self)) // before the first message
		ctx.Defer(cluster.Subscribe(n, extension.Handle(ctx, func(v cluster.View) actor.Behavior[any] {
			follow(IncarnationOf(v.Self))
			return nil
		})))
	})
}

// SpawnAgent spawns the agent of the node of that name. It calls subscribe inside the agent. Inside
// the agent, subscribe must call follow with each incarnation under which the node becomes a
// member. When the node is no longer a member, subscribe must call follow with 0.
func SpawnAgent(s *actor.System, node string, cfg Config, subscribe func(ctx *actor.Context[any], follow func(incarnation uint64))) {
	first := func(ctx *actor.Context[any], next *actor.Next[any]) {
		a := &agent{
			ctx: ctx, cfg: cfg, core: home.NewAgent(node),
			launched: map[actor.AnyRef]launched{}, actors: map[home.RequestID]Running{}, broken: map[home.RequestID]error{},
		}
		a.core.MaxReport = home.PartBytes(s)
		next.OnMessage, next.OnSignal = a.receive, a.receiveSignal
		subscribe(ctx, func(incarnation uint64) { a.handle(home.AgentMembership{Incarnation: incarnation}) })
		ctx.Defer(s.OnShutdown(actor.ActorsStop, cfg.Noun+"s", stopAll(s, ctx.Self(), cfg.Noun)))
	}
	actor.Spawn(extension.Framework(s), func(_ *actor.Context[any], next *actor.Next[any]) {
		next.Supervise(first, actor.Strategy{Decide: outliveChildren})
	}, cfg.Name)
}

// outliveChildren keeps the agent running when one of its actors escalates its failure. The agent
// treats this as the end of that actor.
func outliveChildren(err error) actor.Directive {
	if errors.Is(err, actor.ErrEscalated) {
		return actor.Resume
	}
	return actor.Stop
}

// stopAll returns the shutdown task that stops the actors of an agent. It runs while the node can
// still send messages. The actors of the user are stopped later, because those of the agent may
// need them.
func stopAll(s *actor.System, agent actor.ActorRef[any], noun string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		done := make(chan struct{})
		finish := sync.OnceFunc(func() { close(done) })
		defer extension.AfterEnd(s, agent, finish)()
		agent.Tell(shutDown{finish})
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("not all %ss have ended: %w", noun, context.Cause(ctx))
		}
	}
}

// The messages that an agent gets on its own node, besides home.AgentEvent. From the coordinator
// it gets home.ToAgent.
type (
	shutDown struct{ done func() }

	// mustEnd: the actor must end for that reason.
	mustEnd struct {
		id  home.RequestID
		why error
	}
)

// Carried is for [extension.DeadLetter]. It returns nothing, because without an agent there is
// nothing to stop.
func (shutDown) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// An agent is the shell of a [home.Agent]: the actor that starts and stops the actors of its
// coordinator on its node.
type agent struct {
	ctx      *actor.Context[any]
	cfg      Config
	core     *home.Agent
	launched map[actor.AnyRef]launched
	actors   map[home.RequestID]Running // the same, by request
	broken   map[home.RequestID]error   // why actors are ended although they have not failed
	onClosed []func()                   // called when no actor is left
}

// A launched identifies an actor that the agent has started.
type launched struct {
	label string
	id    home.RequestID
}

func (a *agent) receive(_ *actor.Context[any], msg any) actor.Behavior[any] {
	switch msg := msg.(type) {
	case home.ToAgent:
		if msg.Report != nil && a.cfg.Asked != nil {
			a.cfg.Asked()
		}
		a.handle(home.AgentReceived{Message: msg})
	case home.AgentEvent:
		a.handle(msg)
	case mustEnd:
		if p, runs := a.actors[msg.id]; runs {
			a.broken[msg.id] = msg.why
			a.ctx.Stop(p.Ref)
		}
	case shutDown:
		a.onClosed = append(a.onClosed, msg.done)
		a.handle(home.AgentClosing{})
	default:
		return func(_ *actor.Context[any], next *actor.Next[any]) { next.Unhandled() }
	}
	return nil
}

func (a *agent) receiveSignal(_ *actor.Context[any], sig actor.Signal) actor.Behavior[any] {
	switch sig := sig.(type) {
	case actor.Terminated:
		a.ended(sig.Ref, nil)
	case actor.ChildFailed:
		a.ended(sig.Ref, sig.Err)
	case actor.AdaptFailed, actor.PreRestart, actor.PostStop:
	}
	return nil
}

func (a *agent) ended(ref actor.AnyRef, err error) {
	p := a.launched[ref]
	delete(a.launched, ref)
	delete(a.actors, p.id)
	if broken := a.broken[p.id]; broken != nil {
		err = broken
		delete(a.broken, p.id)
	}
	switch {
	case err != nil:
		a.ctx.Log().Warn(a.cfg.Noun+" failed", zap.String("label", p.label), zap.Error(err))
	case a.core.Keeps(p.label, p.id):
		a.ctx.Log().Warn(a.cfg.Quit, zap.String("label", p.label), zap.String("stopped", ref.Path()))
	}
	a.handle(home.AgentEnded{Label: p.label, ID: p.id, Why: home.ErrorText(err), FencedBy: tenure.Unpack(tenure.Newest(err)).Term})
}

// handle passes an event to the core, and then the events that its actions cause at once.
func (a *agent) handle(ev home.AgentEvent) {
	for events := []home.AgentEvent{ev}; len(events) > 0; events = events[1:] {
		for _, action := range a.core.Step(events[0]) {
			if failed, ok := a.do(action); ok {
				events = append(events, failed)
			}
		}
	}
	if len(a.onClosed) > 0 && !a.core.Busy() {
		for _, done := range a.onClosed {
			done()
		}
		a.onClosed = nil
	}
}

// do carries out an action. It returns the event that the action has caused at once, if any.
func (a *agent) do(action home.AgentAction) (failed home.AgentEvent, ok bool) {
	switch action := action.(type) {
	case home.Launch:
		return a.launch(action.Request)
	case home.Halt:
		p := a.actors[action.ID]
		p.Leave() // messages from now on wait for the next actor of the label
		if p.Stop != nil {
			p.Stop()
		} else {
			a.ctx.Stop(p.Ref)
		}
	case home.Tell:
		action.To.Tell(action.Message)
		if action.Message.Ended != nil && !a.ctx.TimerActive("again") {
			a.ctx.After("again", resendEvery, home.AgentTick{})
		}
	}
	return nil, false
}

func (a *agent) launch(r home.StartRequest) (failed home.AgentEvent, ok bool) {
	self := a.ctx.Self()
	p, err := a.cfg.Starter.Start(a.ctx, r, Hooks{
		Started: func() { self.Tell(home.AgentStarted{Label: r.Label, ID: r.ID}) },
		Broken:  func(why error) { self.Tell(mustEnd{r.ID, why}) },
	})
	if err != nil {
		a.ctx.Log().Warn(a.cfg.Noun+" cannot be started here", zap.String("label", r.Label), zap.Error(err))
		return home.AgentEnded{Label: r.Label, ID: r.ID, Why: home.ErrorText(err)}, true
	}
	a.ctx.Watch(p.Ref)
	a.launched[p.Ref], a.actors[r.ID] = launched{r.Label, r.ID}, p
	return nil, false
}
