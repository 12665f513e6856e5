package router

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// Pool returns a behavior that spawns n children with behavior b, its routees, and routes each
// message to one of them. The default option is [RoundRobin]. A routee that ends is not replaced;
// the pool ends with the last one.
//
// b runs n times, so it must make its state when it starts (behaviors.Setup) and not share it. Pool
// panics if n is less than 1, or an option is for another type of messages or for groups only.
func Pool[M any](n int, b actor.Behavior[M], opts ...Option) actor.Behavior[M] {
	if n <= 0 {
		panic(fmt.Sprintf("router: a pool of %d routees", n))
	}
	set := configure[M]("Pool", settings{choice: roundRobinChoice}, opts)
	if set.preferLocal {
		panic("router: Pool: PreferLocal is for groups; the routees of a pool are local")
	}
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		p := &pool[M]{system: ctx.System(), share: newShare(ctx)}
		p.logic, p.broadcast = start[M](set, ctx.System())
		for i := range n {
			routee := actor.Spawn(ctx, b, "routee-"+strconv.Itoa(i+1))
			ctx.Watch(routee)
			p.routees = append(p.routees, routee)
		}
		p.logic.change(p.routees)
		p.share.show(n)
		next.OnMessage = func(ctx *actor.Context[M], msg M) actor.Behavior[M] {
			d := extension.Describe(ctx, msg)
			if len(set.taken) == 0 {
				p.logic.route(d)
			} else {
				orDrop(ctx, p.share, msg, func() { p.route(d) })
			}
			return nil
		}
		next.OnSignal = p.signal
	}
}

type pool[M any] struct {
	system    *actor.System
	routees   []actor.ActorRef[M]
	logic     logic[M]
	broadcast func(M) bool
	share     *share
}

type counter[M any] interface {
	tellAll(d extension.Described[M])
}

func (p *pool[M]) route(d extension.Described[M]) {
	if p.broadcast == nil || !p.broadcast(d.Message) {
		p.logic.route(d)
		return
	}
	extension.NoteBroadcast(p.system, d.Message)
	if c, ok := p.logic.(counter[M]); ok {
		c.tellAll(d)
		return
	}
	tellAll(p.routees, d)
}

func (p *pool[M]) signal(_ *actor.Context[M], sig actor.Signal) actor.Behavior[M] {
	switch sig := sig.(type) {
	case actor.Terminated:
		return p.remove(sig.Ref)
	case actor.ChildFailed:
		return p.remove(sig.Ref)
	case actor.PostStop, actor.PreRestart, actor.AdaptFailed: // it adapts nothing
	}
	return nil
}

func (p *pool[M]) remove(ended actor.AnyRef) actor.Behavior[M] {
	p.routees = slices.DeleteFunc(slices.Clone(p.routees), func(r actor.ActorRef[M]) bool { return actor.AnyRef(r) == ended })
	p.share.show(len(p.routees))
	if len(p.routees) == 0 {
		return stop
	}
	p.logic.change(p.routees)
	return nil
}

func stop[M any](_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }

func tellAll[M any](routees []actor.ActorRef[M], d extension.Described[M]) {
	for _, r := range routees {
		d.To(r)
	}
}
