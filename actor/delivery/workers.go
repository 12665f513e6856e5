package delivery

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
)

// A Key is what consumers of M are found by, on any node. Make one by [NewKey]; equal keys
// are one.
type Key[M any] struct {
	service receptionist.ServiceKey[Link[M]]
}

// NewKey returns a key. It is that of a service of package receptionist, so the name must
// not be that of another service. It panics when the name is empty.
func NewKey[M any](name string) Key[M] {
	return Key[M]{receptionist.NewKey[Link[M]](name)}
}

// Service returns the service that the consumers are instances of.
func (k Key[M]) Service() receptionist.ServiceKey[Link[M]] { return k.service }

// Serve is a [Consumer] that is found by a key, as long as it lives. It panics, inside the
// actor, when the name of the key is that of another service on this node.
func Serve[M any](key Key[M], worker actor.Behavior[Delivery[M]], opts ...Option) actor.Behavior[Link[M]] {
	consumer := Consumer(worker, opts...)
	return func(ctx *actor.Context[Link[M]], next *actor.Next[Link[M]]) {
		consumer(ctx, next)
		receptionist.Register(ctx.System(), key.service, ctx.Self())
	}
}

// WorkPullingFor is a [WorkPulling] producer that connects to all consumers that are found
// by a key, on any node, as they come. One whose node does not answer gets nothing new, and
// keeps what it has; so does one that is not registered any more. What it has not confirmed
// goes to others when it has ended, or its node was removed.
func WorkPullingFor[M any](key Key[M], opts ...Option) actor.Behavior[Command[M]] {
	return newProducer(settingsOf(opts), true, func(p *producer[M]) {
		receptionist.Subscribe(p.ctx, key.service, func(l receptionist.Listing[Link[M]]) actor.Behavior[Command[M]] {
			p.onListing(l)
			return nil
		})
	})
}

// onListing has a lane to each consumer that is listed.
func (p *producer[M]) onListing(all receptionist.Listing[Link[M]]) {
	for _, l := range p.lanes {
		l.leaving = l.listed
	}
	for _, i := range all.Instances {
		l := p.laneTo(i.Ref)
		if l == nil && i.Reachable {
			l = p.connect(i.Ref)
		}
		if l != nil {
			l.listed, l.leaving, l.closed = true, false, !i.Reachable
		}
	}
	for _, l := range append([]*lane[M](nil), p.lanes...) {
		l.closed = l.closed || l.leaving
		if l.leaving && l.Len() == 0 {
			p.dismiss(l)
		}
	}
	p.pump()
}

// dismiss ends a lane that has nothing to do.
func (p *producer[M]) dismiss(l *lane[M]) {
	p.ctx.Unwatch(l.consumer)
	p.disconnect(l)
}
