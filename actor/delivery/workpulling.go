package delivery

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/internal/extension"
)

// A Key identifies the consumers of M that [WorkPullingFor] finds, on any node. Make one with
// [NewKey]; equal keys are the same key.
type Key[M any] struct {
	service receptionist.ServiceKey[Link[M]]
}

// NewKey returns a key. The key is also a service of package receptionist, so no other service may
// have its name. It panics if the name is empty.
func NewKey[M any](name string) Key[M] {
	return Key[M]{receptionist.NewKey[Link[M]](name)}
}

// Service returns the service under which the consumers are registered.
func (k Key[M]) Service() receptionist.ServiceKey[Link[M]] { return k.service }

// Serve returns a [Consumer] that registers itself under a key as long as it lives. The actor fails
// when the name of the key belongs to another service on this node.
func Serve[M any](key Key[M], worker actor.Behavior[Delivery[M]], opts ...Option) actor.Behavior[Link[M]] {
	consumer := Consumer(worker, opts...)
	return func(ctx *actor.Context[Link[M]], next *actor.Next[Link[M]]) {
		consumer(ctx, next)
		receptionist.Register(ctx.System(), key.service, ctx.Self())
	}
}

// WorkPullingFor returns a [WorkPulling] producer that connects to every consumer registered under
// a key, on any node. A consumer whose node does not answer, or that is not registered any more,
// gets no new messages and keeps those it has. When it ends, or its node is removed, its
// unconfirmed messages go to the others.
func WorkPullingFor[M any](key Key[M], opts ...Option) actor.Behavior[Command[M]] {
	return newProducer(settingsOf(opts), func(p *producer[M]) {
		p.several = true
		p.ctx.Defer(receptionist.Subscribe(p.ctx.System(), key.service, extension.Handle(p.ctx, func(l receptionist.Listing[Link[M]]) actor.Behavior[Command[M]] {
			p.onListing(l)
			return nil
		})))
	})
}

func (p *producer[M]) onListing(all receptionist.Listing[Link[M]]) {
	for _, l := range p.connections {
		l.leaving = l.listed
	}
	for _, i := range all.Instances {
		l := p.connections.to(i.Ref)
		if l == nil && i.Reachable {
			l = p.connect(i.Ref)
		}
		if l != nil {
			l.listed, l.leaving, l.closed = true, false, !i.Reachable
		}
	}
	for _, l := range append([]*connection[M](nil), p.connections...) {
		l.closed = l.closed || l.leaving
		if l.leaving && l.Len() == 0 {
			p.dismiss(l)
		}
	}
	p.pump()
}

func (p *producer[M]) dismiss(l *connection[M]) {
	p.ctx.Unwatch(l.consumer)
	p.disconnect(l)
}
