package sharding

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/remote"
)

// A typeAsked asks the hub of a node whether the node has started a type.
type typeAsked struct {
	_       struct{} `cbor:",toarray"`
	Type    string
	ReplyTo actor.ActorRef[typeAnswered]
}

// A typeAnswered answers a typeAsked.
type typeAnswered struct {
	_       struct{} `cbor:",toarray"`
	Node    remote.NodeID
	Started bool
}

// Carried is for [extension.DeadLetter]: the node is asked again.
func (typeAsked) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Carried is for [extension.DeadLetter], as for typeAsked.
func (typeAnswered) Carried(*actor.System) (recipient string, msg any, ok bool) {
	return "", nil, false
}

func init() {
	actor.RegisterType[typeAsked]("understudy/sharding.type-asked")
	actor.RegisterType[typeAnswered]("understudy/sharding.type-answered")
}

// askEvery is how often a client asks the members again while none has started a type.
const askEvery = time.Second

// A clientProxy sends parcels to a member that has started the type.
type clientProxy struct {
	ctx     *actor.Context[parcel]
	typ     string
	members []remote.NodeID        // that can be reached and have a hub
	started map[remote.NodeID]bool // what they have said; nothing of those that have not answered
	answers actor.ActorRef[typeAnswered]
	at      remote.NodeID // the member; zero without one
	target  actor.AnyRef  // its hub; nil without a member
	leaves  func(id remote.NodeID) bool
	stuck   *atomic.Bool // the same, for other goroutines
	held    fifo.Queue[parcel]
}

func newClientProxy(takers singletons.Takers, typ string, stuck *atomic.Bool) actor.Behavior[parcel] {
	return func(ctx *actor.Context[parcel], next *actor.Next[parcel]) {
		p := &clientProxy{ctx: ctx, typ: typ, stuck: stuck, started: map[remote.NodeID]bool{}}
		p.answers = extension.Handle(ctx, func(a typeAnswered) actor.Behavior[parcel] {
			p.answered(a)
			return nil
		})
		all := takers.Follow(singletonName)
		p.leaves = all.Leaves
		changed := extension.TellLatest(extension.Handle(ctx, func(all []remote.NodeID) actor.Behavior[parcel] {
			p.viewed(all)
			return nil
		}), func() ([]remote.NodeID, bool) { return all.Takers(), true })
		ctx.Defer(all.Listen(changed))
		ctx.Defer(p.end)
		p.viewed(all.Takers())
		next.OnMessage = func(_ *actor.Context[parcel], of parcel) actor.Behavior[parcel] {
			switch {
			case of.askDue:
				p.askAll()
			case of.refused != remote.NodeID{}:
				p.takeBack(of)
			default:
				p.take(of)
			}
			return nil
		}
	}
}

// viewed takes the members, and asks those that are new.
func (p *clientProxy) viewed(members []remote.NodeID) {
	p.members = members
	maps.DeleteFunc(p.started, func(id remote.NodeID, _ bool) bool { return !slices.Contains(members, id) })
	for _, id := range members {
		if _, known := p.started[id]; !known {
			p.ask(id)
		}
	}
	p.choose()
}

func (p *clientProxy) ask(id remote.NodeID) {
	p.hubOf(id).TellNoWait(typeAsked{Type: p.typ, ReplyTo: p.answers})
}

func (p *clientProxy) hubOf(id remote.NodeID) actor.ActorRef[typeAsked] {
	s := p.ctx.System()
	return actor.Resolve[typeAsked](s, "understudy://"+s.Name()+"@"+id.Address+hubPath)
}

// askAll asks all members again.
func (p *clientProxy) askAll() {
	if p.at == (remote.NodeID{}) {
		for _, id := range p.members {
			p.ask(id)
		}
		p.ctx.After("ask", askEvery, parcel{askDue: true})
	}
}

func (p *clientProxy) answered(a typeAnswered) {
	if slices.Contains(p.members, a.Node) {
		p.started[a.Node] = a.Started
		p.choose()
	}
}

// choose keeps the member if it still takes messages, and takes the first one otherwise.
func (p *clientProxy) choose() {
	if p.started[p.at] {
		return
	}
	if p.target != nil && p.leaves(p.at) {
		extension.Unfollow(p.target) // it passes on what it has
	}
	p.at, p.target = remote.NodeID{}, nil
	for _, id := range p.members {
		if p.started[id] {
			p.at, p.target = id, p.hubOf(id)
			break
		}
	}
	p.stuck.Store(p.at == remote.NodeID{})
	if p.at == (remote.NodeID{}) {
		if !p.ctx.TimerActive("ask") {
			p.ctx.After("ask", askEvery, parcel{askDue: true})
		}
		return
	}
	for _, of := range p.held.Drain() {
		p.send(of)
	}
}

// takeBack takes a request that a member has refused: its process was started again, and has not
// started the type. The member is not chosen any more until it says that it has.
func (p *clientProxy) takeBack(of parcel) {
	extension.FollowNobody(p.ctx.System(), of.Message)
	if p.at == of.refused {
		p.started[p.at] = false
		p.choose()
	}
	of.refused = remote.NodeID{}
	p.take(of)
}

func (p *clientProxy) take(of parcel) {
	switch {
	case p.at != (remote.NodeID{}):
		p.send(of)
	case p.held.Len() >= DefaultBuffer && !p.makeRoom():
		p.drop(of, fmt.Errorf("%w: %w", ErrBufferFull, nobodyHas(p.typ)))
	default:
		p.held.Push(of)
	}
}

// makeRoom drops the requests of asks that have ended. It reports whether there were any.
func (p *clientProxy) makeRoom() bool {
	ended := p.held.Remove(parcel.Withdrawn)
	for _, of := range ended {
		p.drop(of, actor.ErrWithdrawn)
	}
	return len(ended) > 0
}

func nobodyHas(typ string) error {
	return fmt.Errorf("%w: no member that can be reached has started type %q; call Start on the nodes, with ProxyOnly where no entity is to run", ErrUnavailable, typ)
}

func (p *clientProxy) send(of parcel) {
	if of.Withdrawn() {
		p.drop(of, actor.ErrWithdrawn)
		return
	}
	to := extension.Target{
		Address: p.at.Address, Path: of.full[len("understudy://"+p.ctx.System().Name()):], Full: of.full,
	}
	if of.Metadata.Request() != nil {
		// Until the member leaves, the ask ends if it is removed.
		extension.FollowOr(p.target, of.Message, p.again(of, p.at, to.Path))
	}
	extension.SendTo(p.ctx.System(), to, of.Message, of.Metadata)
}

// again returns what takes a request back that a member refuses.
func (p *clientProxy) again(of parcel, by remote.NodeID, path string) func(recipient string) bool {
	self, system := p.ctx.Self(), p.ctx.System().Name()
	return func(recipient string) bool {
		if recipient != "understudy://"+system+"@"+by.Address+path {
			return false
		}
		back := of
		back.Described, back.refused = of.Hold(), by
		self.Tell(back)
		return true
	}
}

func (p *clientProxy) drop(of parcel, why error) {
	extension.DeadLetter(p.ctx.System(), "", of, why)
}

func (p *clientProxy) end() {
	for _, of := range p.held.Drain() {
		p.drop(of, ErrStopped)
	}
}
