package singleton

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// hubMsg is what the hub of a node is told: by managers and by the cluster here, and,
// as wireMsg, by hubs of other nodes.
type hubMsg any

// wireMsg is what comes from other nodes.
type wireMsg interface{ singleton() (name string) }

type (
	// registered introduces the manager of a singleton on this node.
	registered struct {
		nothing
		name  string
		inbox actor.ActorRef[any]
	}
	unregistered struct {
		nothing
		name  string
		taken uint64 // the highest term that the manager has heard of or promised
	}

	topologyChanged struct {
		nothing
		topo Topology
	}

	// drain asks all managers to start nothing any more, and calls done when each has
	// said that it is drained, or has ended.
	drain struct {
		nothing
		done func()
	}
	drained struct {
		nothing
		name string
	}
)

// An office is the extension through which managers find the hub.
type office struct {
	locator Locator
	hub     actor.ActorRef[hubMsg]
}

// Attach connects the singletons of s to a cluster, by l. It must be called once, before
// the first singleton is spawned. Without it singletons run right where they are.
func Attach(s *actor.System, l Locator) {
	h := &hub{post: post{system: s}, managers: make(map[string]actor.ActorRef[any]), taken: make(map[string]uint64)}
	ref := actor.Spawn(s.Framework(), func(ctx *actor.Context[hubMsg], next *actor.Next[hubMsg]) {
		h.log = ctx.Log()
		h.follow(ctx, l)
		next.OnMessage = h.receive
	}, hubName)
	extension.Set(s, office{locator: l, hub: ref})
}

// Drain makes the managers of s start no instance any more under this node's present
// incarnation, and waits until no instance runs here: until they have been handed over,
// or have stopped because nobody else can host them. The members must know that this
// node leaves, or is down: else nobody asks for what it hosts. It returns ctx.Err() when
// ctx ends before.
func Drain(ctx context.Context, s *actor.System) error {
	o, ok := extension.Get[office](s)
	if !ok {
		return nil
	}
	done := make(chan struct{})
	o.hub.Tell(drain{done: func() { close(done) }})
	select {
	case <-done:
		return nil
	case <-s.Terminated():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A hub is the one place of a node where singletons and cluster meet: it hands the
// topology to all managers, and messages from other nodes to the one they are for. It
// answers for singletons that have no manager here.
type hub struct {
	post     post
	log      *zap.Logger
	topo     Topology
	seen     bool // there has been a topology
	managers map[string]actor.ActorRef[any]
	taken    map[string]uint64 // by name, what a manager that has ended knew
	drains   []*drainage
	closed   PeerID // the incarnation of this node that has been drained
}

// A drainage waits for managers to have drained.
type drainage struct {
	left map[string]bool
	done func()
}

// follow tells the hub every topology, for as long as it lives.
func (h *hub) follow(ctx *actor.Context[hubMsg], l Locator) {
	self := ctx.Self()
	actor.PipeToSelf(ctx, func(ctx context.Context) (struct{}, error) {
		for topo := range l.Topologies(ctx) {
			self.Tell(topologyChanged{topo: topo})
		}
		return struct{}{}, ctx.Err()
	}, func(struct{}, error) hubMsg { return nil })
}

func (h *hub) receive(_ *actor.Context[hubMsg], msg hubMsg) actor.Behavior[hubMsg] {
	switch msg := msg.(type) {
	case registered:
		h.register(msg)
	case unregistered:
		delete(h.managers, msg.name)
		h.taken[msg.name] = max(h.taken[msg.name], msg.taken)
		h.drained(msg.name)
	case topologyChanged:
		h.topo, h.seen = msg.topo, true
		for _, inbox := range h.managers {
			inbox.Tell(viewed{h.topo})
		}
	case drain:
		h.drain(msg)
	case drained:
		h.drained(msg.name)
	case wireMsg:
		h.route(msg)
	}
	return nil
}

func (h *hub) register(msg registered) {
	h.managers[msg.name] = msg.inbox
	if taken := h.taken[msg.name]; taken > 0 {
		msg.inbox.Tell(wireGrant{Name: msg.name, Taken: taken}) // of no attempt
	}
	if !h.seen {
		return
	}
	msg.inbox.Tell(viewed{h.topo})
	if h.closed == h.topo.Self {
		msg.inbox.Tell(drainAsked{})
	}
}

func (h *hub) drain(msg drain) {
	h.closed = h.topo.Self
	d := &drainage{left: make(map[string]bool), done: msg.done}
	for name, inbox := range h.managers {
		d.left[name] = true
		inbox.Tell(drainAsked{})
	}
	h.drains = append(h.drains, d)
	h.finishDrains()
}

// drained notes that the manager of that name has nothing left to stop.
func (h *hub) drained(name string) {
	for _, d := range h.drains {
		delete(d.left, name)
	}
	h.finishDrains()
}

func (h *hub) finishDrains() {
	h.drains = slices.DeleteFunc(h.drains, func(d *drainage) bool {
		if len(d.left) > 0 {
			return false
		}
		d.done()
		return true
	})
}

// route gives msg to the manager it is for.
func (h *hub) route(msg wireMsg) {
	if to, addressed := recipient(msg); addressed && to != h.topo.Self {
		h.log.Debug("message for another incarnation", zap.String("singleton", msg.singleton()), zap.Uint64("to", to.Incarnation))
		return
	}
	if inbox, ok := h.managers[msg.singleton()]; ok {
		inbox.Tell(msg)
		return
	}
	h.answer(msg)
}

func recipient(msg wireMsg) (to PeerID, addressed bool) {
	switch msg := msg.(type) {
	case wireRequest:
		return msg.To, true
	case wireGrant:
		return msg.To, true
	case wireRecall:
		return msg.To, true
	case wireRecalled:
		return msg.To, true
	case wireFarewell:
		return msg.To, true
	case wireFarewellHeard:
		return msg.To, true
	case wireSettle:
		return msg.To, true
	case wireSettled:
		return msg.To, true
	case wireTold:
		return msg.To, true
	case wireCheck:
		return msg.To, true
	case wireAck:
		return msg.To, true
	case wireMarks:
		return msg.To, true
	}
	return PeerID{}, false
}

// answer speaks for a singleton without a manager here: nothing of it runs. While one is
// starting, who asks to host gets no answer, and will ask again.
func (h *hub) answer(msg wireMsg) {
	switch msg := msg.(type) {
	case wireRequest:
		if _, known := h.topo.member(msg.From); known && !h.expects(msg.Name) {
			r := h.topo.Records[msg.Name]
			h.post.send(msg.From, wireGrant{Name: msg.Name, From: h.topo.Self, To: msg.From, Attempt: msg.Attempt, Record: r, Taken: max(r.Term, h.taken[msg.Name])})
		}
	case wireRecall:
		h.post.send(msg.From, wireRecalled{Name: msg.Name, From: h.topo.Self, To: msg.From, Number: msg.Number})
	case wireFarewell:
		h.post.send(msg.From, wireFarewellHeard{Name: msg.Name, From: h.topo.Self, To: msg.From})
	case wireSettle:
		h.post.send(msg.From, wireSettled{Name: msg.Name, From: h.topo.Self, To: msg.From, Number: msg.Number})
	case wireDeliver:
		h.giveBack(msg)
	case wireGiveBack:
		h.post.system.DeadLetter("", msg, actor.ErrNoSuchActor)
	case wireGrant, wireRecalled, wireFarewellHeard, wireSettled, wireAck, wireMarks:
	case wireTold, wireCheck: // the sender keeps it, and will send it again
	}
}

// giveBack returns a message whose node does not know yet that there is no manager here.
func (h *hub) giveBack(msg wireDeliver) {
	if _, member := h.topo.member(msg.From); !member {
		h.post.system.DeadLetter("", msg, actor.ErrNoSuchActor)
		return
	}
	h.post.send(msg.From, wireGiveBack{Name: msg.Name, From: h.topo.Self, Payload: msg.Payload})
}

// expects reports whether there is a manager, or is about to be, of which the hub has not
// heard yet. A manager is on the board before it counts as started, so the board comes last.
func (h *hub) expects(name string) bool {
	if h.post.system.Starting(userPath + name) {
		return true
	}
	_, begun := StatusOf(h.post.system, name)
	return begun
}
