package singleton

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/remote"
)

type proxy struct {
	system  *actor.System
	proxies *proxies
	name    string
	full    string        // the path of the proxy
	path    string        // the same within its system
	at      remote.NodeID // the member whose manager receives them; zero if no member fits
	lacks   remote.NodeID // a member whose process was started again, and has no manager yet; zero for none
	aim     func(path string) actor.AnyRef
	target  actor.AnyRef                     // the manager at which it was aimed
	forward func(d extension.Described[any]) // to that manager
	leaves  func(id remote.NodeID) bool
	takers  func() []remote.NodeID
	look    func() // asks for the takers again
	refused actor.ActorRef[refusedRequest]
	held    fifo.Queue[extension.Described[any]]
}

// lookAgain is after which time a proxy tries a member again that lacked the manager.
const lookAgain = time.Second

// A refusedRequest is one that the process at the address of a member has refused, because it has
// no manager.
type refusedRequest struct {
	extension.Described[any]
	by    remote.NodeID
	proxy string // its path
}

// LocalOnly says that it does not leave its node as such.
func (refusedRequest) LocalOnly() bool { return true }

// Carried is for [extension.DeadLetter].
func (r refusedRequest) Carried(*actor.System) (recipient string, msg any, ok bool) {
	return r.proxy, r.Message, true
}

func newProxy[M any](x singletons.Takers, name string) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		var to actor.ActorRef[M]
		p := &proxy{
			system: ctx.System(), name: name, full: ctx.Self().Path(),
			aim: func(path string) actor.AnyRef {
				to = actor.Resolve[M](ctx.System(), path)
				return to
			},
			forward: func(d extension.Described[any]) {
				msg, _ := d.Message.(M) // or a nil one of an interface
				extension.TellNoWaitWith(to, msg, d.Metadata)
			},
		}
		ctx.Defer(p.end)
		p.refused = extension.Handle(ctx, func(r refusedRequest) actor.Behavior[M] {
			p.takeBack(r)
			return nil
		})
		ctx.Defer(p.follow(x, extension.Handle(ctx, func(takers []remote.NodeID) actor.Behavior[M] {
			p.lacks = remote.NodeID{}
			p.choose(takers)
			return nil
		})))
		next.OnMessage = func(ctx *actor.Context[M], msg M) actor.Behavior[M] {
			if p.at != (remote.NodeID{}) {
				p.follows(msg, extension.MetadataOf(ctx))
				extension.TellNoWaitWith(to, msg, extension.MetadataOf(ctx))
			} else {
				p.hold(extension.Describe[M, any](ctx, msg))
			}
			return nil
		}
	}
}

func (p *proxy) follow(x singletons.Takers, changed actor.ActorRef[[]remote.NodeID]) (end func()) {
	p.proxies = &registryOf(p.system).proxies
	_, p.path, _ = strings.Cut(p.full, p.system.Address())
	all := x.Follow(p.name)
	p.leaves, p.takers = all.Leaves, all.Takers
	p.look = extension.TellLatest(changed, func() ([]remote.NodeID, bool) { return all.Takers(), true })
	end = all.Listen(p.look)
	p.choose(all.Takers())
	return end
}

// takeBack takes a request that the process at the address of a member has refused. Others go
// first, and that one is tried again soon: the view shows late that it is another process.
func (p *proxy) takeBack(r refusedRequest) {
	extension.FollowNobody(p.system, r.Message)
	if p.at == r.by {
		p.lacks = r.by
		p.choose(p.takers())
		time.AfterFunc(lookAgain, p.look)
	}
	if p.at != (remote.NodeID{}) {
		p.pass(r.Described)
	} else {
		p.hold(r.Described)
	}
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
		p.drop(p.held.Pop().Message, fmt.Errorf("%w: %w", ErrBufferFull, p.proxies.unavailable(p.path)))
	}
}

// choose keeps the current member if it still takes messages. Otherwise it takes the first one in
// the order of election, which is often the host.
func (p *proxy) choose(takers []remote.NodeID) {
	takers = slices.DeleteFunc(slices.Clone(takers), func(id remote.NodeID) bool { return id == p.lacks })
	if slices.Contains(takers, p.at) {
		return
	}
	if p.target != nil && p.leaves(p.at) {
		extension.Unfollow(p.target) // it passes on what it has
	}
	if p.target = nil; len(takers) == 0 {
		p.at = remote.NodeID{}
		p.proxies.stuck.Store(p.path, p.name)
		return
	}
	p.at = takers[0]
	p.proxies.stuck.Delete(p.path)
	p.target = p.aim(pathOn(p.system, p.at.Address, p.name))
	for _, h := range p.held.Drain() {
		p.pass(h)
	}
}

// pass sends a message to the member, unless it is the request of an ask that has ended.
func (p *proxy) pass(h extension.Described[any]) {
	if h.Withdrawn() {
		p.drop(h.Message, actor.ErrWithdrawn)
		return
	}
	p.follows(h.Message, h.Metadata)
	p.forward(h)
}

// follows lets the ask of a request end with the member, if that is removed before it leaves, and
// takes the request back if the process at its address has no manager.
func (p *proxy) follows(msg any, m extension.Metadata) {
	if m.Request() == nil {
		return
	}
	by, to := p.at, p.refused
	extension.FollowOr(p.target, msg, func(recipient string) bool {
		if recipient != pathOn(p.system, by.Address, p.name) {
			return false
		}
		to.Tell(refusedRequest{extension.Described[any]{Message: msg, Metadata: m}.Hold(), by, p.full})
		return true
	})
}

func (p *proxy) end() {
	p.proxies.stuck.Delete(p.path)
	for _, h := range p.held.Drain() {
		p.drop(h.Message, actor.ErrTerminated)
	}
}

func (p *proxy) drop(msg any, reason error) {
	extension.DeadLetter(p.system, p.full, msg, reason)
}
