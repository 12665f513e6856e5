package busy

import (
	"context"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
)

// Crash ends the last node without a word to the others.
func (p *Program) Crash(ctx context.Context) error {
	last := len(p.Nodes) - 1
	n := p.Nodes[last]
	p.Nodes = p.Nodes[:last]
	n.Halt()
	p.crashed = true
	return n.Shutdown(ctx)
}

// LeaveStuck lets the last node leave while it hosts a singleton, "stuck", whose handler does not
// return before Close. It returns when the leave has begun, which ends with Close.
func (p *Program) LeaveStuck(ctx context.Context) error {
	last := len(p.Nodes) - 1
	n := p.Nodes[last]
	stuck := func() actor.Behavior[Greeting] {
		return behaviors.Receive(func(_ *actor.Context[Greeting], g Greeting) actor.Behavior[Greeting] {
			g.ReplyTo.Tell("one moment")
			<-p.release
			return behaviors.Same
		})
	}
	var host actor.ActorRef[Greeting]
	for _, each := range p.Nodes {
		host = actor.Spawn(each, behaviors.Singleton(stuck, singleton.OnNode(n.View().Self.Name), singleton.StopTimeout(100*time.Millisecond)), "stuck")
	}
	if _, err := actor.Ask(ctx, host, func(r actor.ActorRef[string]) Greeting { return Greeting{r} }); err != nil {
		return err
	}
	p.Nodes = p.Nodes[:last]
	p.leaving = make(chan error, 1)
	go func() { p.leaving <- n.Leave(context.WithoutCancel(ctx)) }()
	return nil
}
