package singleton

import (
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

// A proxy forwards messages to a member that has a manager of the singleton.
type proxy struct {
	system  *actor.System
	proxies *proxies
	name    string
	full    string  // the path of the proxy
	path    string  // the same within its system
	at      node.ID // the member whose manager receives them; zero if no member fits
	aim     func(path string)
	forward func(d extension.Described[any]) // to the manager at which it was aimed
	held    fifo.Queue[extension.Described[any]]
}

func newProxy[M any](x singletonhook.Takers, name string) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		var to actor.ActorRef[M]
		p := &proxy{
			system: ctx.System(), name: name, full: ctx.Self().Path(),
			aim: func(path string) { to = actor.Resolve[M](ctx.System(), path) },
			forward: func(d extension.Described[any]) {
				msg, _ := d.Message.(M) // or a nil one of an interface
				extension.TellNoWaitWith(to, msg, d.Metadata)
			},
		}
		ctx.Defer(p.end)
		ctx.Defer(p.follow(x, extension.Handle(ctx, func(takers []node.ID) actor.Behavior[M] {
			p.choose(takers)
			return nil
		})))
		next.OnMessage = func(ctx *actor.Context[M], msg M) actor.Behavior[M] {
			if p.at != (node.ID{}) {
				extension.TellNoWaitWith(to, msg, extension.MetadataOf(ctx))
			} else {
				p.hold(extension.Describe[M, any](ctx, msg))
			}
			return nil
		}
	}
}

// follow lets the proxy know which members take messages, through changed.
func (p *proxy) follow(x singletonhook.Takers, changed actor.ActorRef[[]node.ID]) (end func()) {
	p.proxies = &registryOf(p.system).proxies
	_, p.path, _ = strings.Cut(p.full, p.system.Address())
	all := x.Follow(p.name)
	end = all.Listen(extension.TellLatest(changed, func() ([]node.ID, bool) { return all.Takers(), true }))
	p.choose(all.Takers())
	return end
}

func (p *proxy) hold(d extension.Described[any]) {
	p.held.Push(d.Hold())
	if p.held.Len() > DefaultBuffer {
		p.makeRoom()
	}
}

// makeRoom drops the requests of asks that have ended, or else the oldest message.
func (p *proxy) makeRoom() {
	ended := p.held.Remove(func(h extension.Described[any]) bool { return h.Withdrawn() })
	for _, h := range ended {
		p.drop(h.Message, actor.ErrWithdrawn)
	}
	if len(ended) == 0 {
		p.drop(p.held.Pop().Message, ErrBufferFull)
	}
}

// choose keeps the current member if it still takes messages. Otherwise it takes the first one in
// the order of election, which is often the host.
func (p *proxy) choose(takers []node.ID) {
	switch {
	case slices.Contains(takers, p.at):
		return
	case len(takers) == 0:
		p.at = node.ID{}
		p.proxies.stuck.Store(p.path, p.name)
		return
	}
	p.at = takers[0]
	p.proxies.stuck.Delete(p.path)
	p.aim(pathOn(p.system, p.at.Address, p.name))
	for _, h := range p.held.Drain() {
		if !h.Withdrawn() {
			p.forward(h)
		} else {
			p.drop(h.Message, actor.ErrWithdrawn)
		}
	}
}

// end turns the buffered messages into dead letters.
func (p *proxy) end() {
	p.proxies.stuck.Delete(p.path)
	for _, h := range p.held.Drain() {
		p.drop(h.Message, actor.ErrTerminated)
	}
}

func (p *proxy) drop(msg any, reason error) {
	extension.DeadLetter(p.system, p.full, msg, reason)
}
