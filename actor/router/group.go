package router

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/internal/extension"
)

// Group returns a behavior that routes each message to one instance of a service, on any node. The
// default option is [Random]. It keeps running while there are no instances, and uses those that
// come.
//
// Group panics if an option is for another type of messages or for pools only. The actor fails when
// the service is used with another type of messages on this node.
func Group[M any](key receptionist.ServiceKey[M], opts ...Option) actor.Behavior[M] {
	set := configure[M]("Group", settings{choice: randomChoice}, opts)
	if set.choice == smallestChoice {
		panic("router: Group: SmallestMailbox is for pools; a node does not know the mailboxes of others")
	}
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		g := &group[M]{ctx: ctx, preferLocal: set.preferLocal, asks: len(set.taken) > 0, share: newShare(ctx)}
		g.none = fmt.Errorf("%w: %s", ErrNoRoutees, key)
		g.logic, g.broadcast = start[M](set, ctx.System())
		g.take(receptionist.Find(ctx.System(), key))
		ctx.Defer(receptionist.Subscribe(ctx.System(), key, extension.Handle(ctx, func(l receptionist.Listing[M]) actor.Behavior[M] {
			g.take(l)
			return nil
		})))
		next.OnMessage = func(ctx *actor.Context[M], msg M) actor.Behavior[M] {
			g.route(extension.Describe(ctx, msg))
			return nil
		}
	}
}

type group[M any] struct {
	ctx         *actor.Context[M]
	preferLocal bool
	routees     []actor.ActorRef[M]
	logic       logic[M]
	broadcast   func(M) bool
	asks        bool
	share       *share
	none        error // why messages are dropped while there are no routees
}

func (g *group[M]) take(l receptionist.Listing[M]) {
	g.routees = l.Reachable()
	if len(g.routees) == 0 {
		g.routees = l.All()
	}
	if g.preferLocal {
		if near := local(l); len(near) > 0 {
			g.routees = near
		}
	}
	g.logic.change(g.routees)
	g.share.show(len(g.routees))
}

func local[M any](l receptionist.Listing[M]) (near []actor.ActorRef[M]) {
	for _, i := range l.Instances {
		if i.Local {
			near = append(near, i.Ref)
		}
	}
	return near
}

func (g *group[M]) route(d extension.Described[M]) {
	if len(g.routees) == 0 {
		g.share.dropped.Add(1)
		extension.DeadLetter(g.ctx.System(), g.ctx.Self().String(), d.Message, g.none)
		return
	}
	if !g.asks {
		g.logic.route(d)
		return
	}
	orDrop(g.ctx, g.share, d.Message, func() {
		if g.broadcast != nil && g.broadcast(d.Message) {
			extension.NoteBroadcast(g.ctx.System(), d.Message)
			tellAll(g.routees, d)
		} else {
			g.logic.route(d)
		}
	})
}
