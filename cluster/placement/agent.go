package placement

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/internal/fence"
	"github.com/understudy-go/understudy/singleton/generation"
)

const (
	agentName = "placement"

	// agentPath is the path of the agent on each node. The placed actors are its children.
	agentPath = "/system/" + agentName

	// resendEvery is how long the coordinator may take to acknowledge an Ended.
	resendEvery = 2 * time.Second
)

// startAgent starts the agent of a node.
func startAgent(n *cluster.Node, can factories) {
	spawnAgent(n.System, n.View().Self.Name, can, func(ctx *actor.Context[any], follow func(incarnation uint64)) {
		follow(membershipOf(n.View().Self)) // before the first message
		ctx.Defer(cluster.Subscribe(n, extension.Handle(ctx, func(v cluster.View) actor.Behavior[any] {
			follow(membershipOf(v.Self))
			return nil
		})))
	})
}

// membershipOf returns the incarnation under which a node is a member, or 0 if it is not one.
func membershipOf(self cluster.Member) uint64 {
	if self.Status < cluster.Joining || self.Status > cluster.Exiting {
		return 0
	}
	return self.Incarnation
}

// spawnAgent spawns the agent of the node of that name, with the factories of the node. It calls
// subscribe inside the agent. Inside the agent, subscribe must call follow with each incarnation
// under which the node becomes a member. When the node is no longer a member, subscribe must call
// follow with 0.
func spawnAgent(s *actor.System, node string, can factories, subscribe func(ctx *actor.Context[any], follow func(incarnation uint64))) {
	first := func(ctx *actor.Context[any], next *actor.Next[any]) {
		a := &agent{
			ctx: ctx, core: hosting.NewAgent(node), factories: can,
			placed: map[actor.AnyRef]placement{}, actors: map[hosting.RequestID]placedActor{}, broken: map[hosting.RequestID]error{},
		}
		a.core.MaxReport = hosting.PartBytes(s)
		next.OnMessage, next.OnSignal = a.receive, a.receiveSignal
		subscribe(ctx, func(incarnation uint64) { a.handle(hosting.AgentMembership{Incarnation: incarnation}) })
		ctx.Defer(s.OnShutdown(actor.ActorsStop, "placed actors", stopPlaced(s, ctx.Self())))
	}
	actor.Spawn(extension.Framework(s), func(_ *actor.Context[any], next *actor.Next[any]) {
		next.Supervise(first, actor.Strategy{Decide: outlivePlaced})
	}, agentName)
}

// outlivePlaced keeps the agent running when a placed actor escalates its failure. The agent treats
// this as the end of that actor.
func outlivePlaced(err error) actor.Directive {
	if errors.Is(err, actor.ErrEscalated) {
		return actor.Resume
	}
	return actor.Stop
}

// stopPlaced returns the shutdown task that stops the placed actors. It runs while the node can
// still send messages. The actors of the user are stopped later, because placed actors may need
// them.
func stopPlaced(s *actor.System, agent actor.ActorRef[any]) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		done := make(chan struct{})
		finish := sync.OnceFunc(func() { close(done) })
		defer extension.AfterEnd(s, agent, finish)()
		agent.Tell(shutDown{finish})
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("not all placed actors have ended: %w", context.Cause(ctx))
		}
	}
}

// The messages that an agent gets on its own node, besides hosting.AgentEvent. From the coordinator
// it gets hosting.ToAgent.
type (
	shutDown struct{ done func() }

	// placedBroken: the actor must end for that reason.
	placedBroken struct {
		id  hosting.RequestID
		why error
	}
)

// Carried is for [extension.DeadLetter]. It returns nothing, because without an agent there is
// nothing to stop.
func (shutDown) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// An agent is the shell of a [hosting.Agent]: the actor that starts and stops the placed actors of
// its node.
type agent struct {
	ctx       *actor.Context[any]
	core      *hosting.Agent
	factories factories
	placed    map[actor.AnyRef]placement
	actors    map[hosting.RequestID]placedActor // the same, by request
	broken    map[hosting.RequestID]error       // why actors are ended although they have not failed
	onClosed  []func()                          // called when no placed actor is left
}

// A placement identifies an actor that the agent has started.
type placement struct {
	label string
	id    hosting.RequestID
}

func (a *agent) receive(_ *actor.Context[any], msg any) actor.Behavior[any] {
	switch msg := msg.(type) {
	case hosting.ToAgent:
		a.handle(hosting.AgentReceived{Message: msg})
	case hosting.AgentEvent:
		a.handle(msg)
	case placedBroken:
		if p, runs := a.actors[msg.id]; runs {
			a.broken[msg.id] = msg.why
			a.ctx.Stop(p.ref)
		}
	case shutDown:
		a.onClosed = append(a.onClosed, msg.done)
		a.handle(hosting.AgentClosing{})
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
	p := a.placed[ref]
	delete(a.placed, ref)
	delete(a.actors, p.id)
	if broken := a.broken[p.id]; broken != nil {
		err = broken
		delete(a.broken, p.id)
	}
	switch {
	case err != nil:
		a.ctx.Log().Warn("placed actor failed", zap.String("label", p.label), zap.Error(err))
	case a.core.Keeps(p.label, p.id):
		a.ctx.Log().Warn("placed actor has stopped by itself, and will be started again: "+
			"actors that passivate are not for placement; remove its spec, or what stops it when it is idle",
			zap.String("label", p.label), zap.String("placed", ref.Path()))
	}
	a.handle(hosting.AgentEnded{Label: p.label, ID: p.id, Why: hosting.ErrorText(err), FencedBy: generation.Unpack(fence.Newest(err)).Term})
}

// handle passes an event to the core, and then the events that its actions cause at once.
func (a *agent) handle(ev hosting.AgentEvent) {
	for events := []hosting.AgentEvent{ev}; len(events) > 0; events = events[1:] {
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
func (a *agent) do(action hosting.AgentAction) (failed hosting.AgentEvent, ok bool) {
	switch action := action.(type) {
	case hosting.Launch:
		return a.launch(action.Request)
	case hosting.Halt:
		p := a.actors[action.ID]
		p.leave() // messages from now on wait for the next actor of the label
		a.ctx.Stop(p.ref)
	case hosting.Tell:
		action.To.Tell(action.Message)
		if action.Message.Ended != nil && !a.ctx.TimerActive("again") {
			a.ctx.After("again", resendEvery, hosting.AgentTick{})
		}
	}
	return nil, false
}

func (a *agent) launch(r hosting.StartRequest) (failed hosting.AgentEvent, ok bool) {
	s, err := a.factories.of(r.Type)
	if err != nil {
		a.ctx.Log().Warn("actor cannot be placed here", zap.String("label", r.Label), zap.Error(err))
		return hosting.AgentEnded{Label: r.Label, ID: r.ID, Why: hosting.ErrorText(err)}, true
	}
	self := a.ctx.Self()
	p := s.start(a.ctx, r, placedHooks{
		started: func() { self.Tell(hosting.AgentStarted{Label: r.Label, ID: r.ID}) },
		broken:  func(why error) { self.Tell(placedBroken{r.ID, why}) },
	})
	a.ctx.Watch(p.ref)
	a.placed[p.ref], a.actors[r.ID] = placement{r.Label, r.ID}, p
	return nil, false
}
