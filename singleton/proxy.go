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
type proxy[M any] struct {
	ctx     *actor.Context[M]
	proxies *proxies
	name    string
	path    string  // of the proxy
	at      node.ID // the member whose manager receives them; zero if no member fits
	to      actor.ActorRef[M]
	held    fifo.Queue[extension.Held[M]]
}

func newProxy[M any](x singletonhook.Takers, name string) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		p := &proxy[M]{ctx: ctx, proxies: &registryOf(ctx.System()).proxies, name: name}
		_, p.path, _ = strings.Cut(ctx.Self().Path(), ctx.System().Address())
		ctx.Defer(p.end)
		all := x.Follow(name)
		changed := extension.TellLatest(extension.Handle(ctx, func(takers []node.ID) actor.Behavior[M] {
			p.choose(takers)
			return nil
		}), func() ([]node.ID, bool) { return all.Takers(), true })
		ctx.Defer(all.Listen(changed))
		p.choose(all.Takers())
		next.OnMessage = func(ctx *actor.Context[M], msg M) actor.Behavior[M] {
			p.take(extension.Describe(ctx, msg))
			return nil
		}
	}
}

func (p *proxy[M]) take(d extension.Described[M]) {
	if p.at != (node.ID{}) {
		d.To(p.to)
		return
	}
	p.held.Push(extension.Hold(p.ctx.System(), d))
	if p.held.Len() > DefaultBuffer {
		p.makeRoom()
	}
}

// makeRoom drops the requests of asks that have ended, or else the oldest message.
func (p *proxy[M]) makeRoom() {
	ended := p.held.Remove(func(h extension.Held[M]) bool { return h.Withdrawn() })
	for _, h := range ended {
		p.drop(h.Message, actor.ErrWithdrawn)
	}
	if len(ended) == 0 {
		p.drop(p.held.Pop().Message, ErrBufferFull)
	}
}

// choose keeps the current member if it still takes messages. Otherwise it takes the first one in
// the order of election, which is often the host.
func (p *proxy[M]) choose(takers []node.ID) {
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
	s := p.ctx.System()
	p.to = actor.Resolve[M](s, pathOn(s, p.at.Address, p.name))
	for _, h := range p.held.Drain() {
		if h.Pass() {
			h.To(p.to)
		} else {
			p.drop(h.Message, actor.ErrWithdrawn)
		}
	}
}

// end turns the buffered messages into dead letters.
func (p *proxy[M]) end() {
	p.proxies.stuck.Delete(p.path)
	for _, h := range p.held.Drain() {
		p.drop(h.Message, actor.ErrTerminated)
	}
}

func (p *proxy[M]) drop(msg M, reason error) {
	extension.DeadLetter(p.ctx.System(), p.ctx.Self().Path(), msg, reason)
}
