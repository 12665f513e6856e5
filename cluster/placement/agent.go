package placement

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/cluster"
)

const (
	agentName = "placement"

	// agentPath is that of the agent of each node. What it places is below.
	agentPath = "/system/" + agentName

	// sayAgainEvery is how long the coordinator may take to say that it knows of an end.
	sayAgainEvery = 2 * time.Second
)

// startAgent starts the agent of a node, once.
func startAgent(n *cluster.Node, can factories) {
	spawnAgent(n.System, n.View().Self.Name, can, func(ctx *actor.Context[any], follow func(incarnation uint64)) {
		follow(membershipOf(n.View().Self)) // before the first message
		cluster.Subscribe(ctx, n, func(v cluster.View) actor.Behavior[any] {
			follow(membershipOf(v.Self))
			return nil
		})
	})
}

// membershipOf returns the incarnation under which a node is a member; 0 when it is none.
func membershipOf(self cluster.Member) uint64 {
	if self.Status < cluster.Joining || self.Status > cluster.Exiting {
		return 0
	}
	return self.Incarnation
}

// spawnAgent spawns the agent of the node of that name, which can start what it has
// factories for. subscribe is called inside it, and is
// to call follow inside it with each incarnation under which it is a member, and with 0 when
// it is none any more.
func spawnAgent(s *actor.System, node string, can factories, subscribe func(ctx *actor.Context[any], follow func(incarnation uint64))) {
	first := func(ctx *actor.Context[any], next *actor.Next[any]) {
		a := &agent{
			ctx: ctx, core: newAgentCore(node), factories: can,
			placed: map[actor.AnyRef]placement{}, actors: map[requestID]placedActor{}, broken: map[requestID]error{},
		}
		a.core.maxReport = partBytes(s)
		next.OnMessage, next.OnSignal = a.receive, a.receiveSignal
		subscribe(ctx, func(incarnation uint64) { a.happened(agentMember{incarnation}) })
		ctx.Defer(s.OnShutdown(actor.ActorsStop, "placed actors", stopPlaced(s, ctx.Self())))
	}
	actor.Spawn(extension.Framework(s), func(_ *actor.Context[any], next *actor.Next[any]) {
		next.Supervise(first, actor.Strategy{Decide: outlivePlaced})
	}, agentName)
}

// outlivePlaced keeps the agent when an actor escalates its failure: that is one more way
// to end.
func outlivePlaced(err error) actor.Directive {
	if errors.Is(err, actor.ErrEscalated) {
		return actor.Resume
	}
	return actor.Stop
}

// stopPlaced returns the task of the shutdown that stops what was placed on the node: before
// the actors of the user, of which it may need some, and while the node can still tell of it.
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
			return fmt.Errorf("they have not ended: %w", context.Cause(ctx))
		}
	}
}

// What an agent is told on its own node, besides agentEvents; from the coordinator it is
// told toAgent.
type (
	shutDown struct{ done func() }

	// placedBroken: the actor ends now, and why.
	placedBroken struct {
		id  requestID
		why error
	}
)

// Carried is for [extension.DeadLetter]: without an agent there is nothing to stop.
func (shutDown) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// An agent is the shell of an [agentCore]: the actor that starts and stops what is placed on
// its node.
type agent struct {
	ctx       *actor.Context[any]
	core      *agentCore
	factories factories
	placed    map[actor.AnyRef]placement
	actors    map[requestID]placedActor // those
	broken    map[requestID]error       // why they end, if not by a failure
	closed    []func()                  // to be called when nothing is left
}

// A placement is an actor that the agent has started.
type placement struct {
	label string
	id    requestID
}

func (a *agent) receive(_ *actor.Context[any], msg any) actor.Behavior[any] {
	switch msg := msg.(type) {
	case toAgent:
		a.happened(agentTold{msg})
	case agentEvent:
		a.happened(msg)
	case placedBroken:
		a.broken[msg.id] = msg.why
	case shutDown:
		a.closed = append(a.closed, msg.done)
		a.happened(agentClosing{})
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
	case a.core.keeps(p.label, p.id):
		a.ctx.Log().Warn("placed actor has stopped by itself, and will be started again: "+
			"actors that passivate are not for placement; remove its spec, or what stops it when it is idle",
			zap.String("label", p.label), zap.String("actor", ref.Path()))
	}
	a.happened(agentEnded{p.label, p.id, explain(err)})
}

// maxWhy bounds what is told of an error, in bytes.
const maxWhy = 1000

// explain returns the text of an error, fit for the wire; "" for none.
func explain(err error) string {
	if err == nil {
		return ""
	}
	text := fmt.Sprintf("%v", err) // a method of the user's, which may panic
	return strings.ToValidUTF8(text[:min(len(text), maxWhy)], "\uFFFD")
}

// happened does what the core makes of an event, and of what comes of that.
func (a *agent) happened(ev agentEvent) {
	for events := []agentEvent{ev}; len(events) > 0; events = events[1:] {
		for _, action := range a.core.step(events[0]) {
			if failed, ok := a.do(action); ok {
				events = append(events, failed)
			}
		}
	}
	if len(a.closed) > 0 && !a.core.busy() {
		for _, done := range a.closed {
			done()
		}
		a.closed = nil
	}
}

// do carries out an action; what it has led to at once is returned.
func (a *agent) do(action agentAction) (failed agentEvent, ok bool) {
	switch action := action.(type) {
	case launch:
		return a.launch(action.request)
	case halt:
		p := a.actors[action.id]
		p.leave() // what is told from now on waits for the next one
		a.ctx.Stop(p.ref)
	case say:
		action.to.Tell(action.msg)
		if action.msg.Ended != nil && !a.ctx.TimerActive("again") {
			a.ctx.After("again", sayAgainEvery, agentPassed{})
		}
	}
	return nil, false
}

func (a *agent) launch(r startRequest) (failed agentEvent, ok bool) {
	s, err := a.factories.of(r.Type)
	if err != nil {
		a.ctx.Log().Warn("actor cannot be placed here", zap.String("label", r.Label), zap.Error(err))
		return agentEnded{r.Label, r.ID, explain(err)}, true
	}
	self := a.ctx.Self()
	p := s.start(a.ctx, r, placedHooks{
		started: func() { self.Tell(agentStarted{r.Label, r.ID}) },
		broken:  func(why error) { self.Tell(placedBroken{r.ID, why}) },
	})
	a.ctx.Watch(p.ref)
	a.placed[p.ref], a.actors[r.ID] = placement{r.Label, r.ID}, p
	return nil, false
}
