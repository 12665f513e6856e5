package singleton

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
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
		offer string
		inbox actor.ActorRef[any]
	}
	unregistered struct {
		nothing
		name  string
		taken uint64 // the highest term that the manager has heard of or promised
	}

	// recorded raises what is known of a singleton's generations.
	recorded struct {
		nothing
		name   string
		record Record
	}

	topologyChanged struct {
		nothing
		topo Topology
	}

	// flushAsked comes after what has changed: all that waits in the mailbox goes together.
	flushAsked struct{ nothing }

	// tickAsked comes from time to time.
	tickAsked struct{ nothing }

	// lastWordsAsked comes while members have not confirmed what they were told.
	lastWordsAsked struct{ nothing }

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
	hub actor.ActorRef[hubMsg]

	mu        sync.Mutex // guards directory
	directory *directory
}

// change changes the directory, and returns what comes out.
func (o *office) change(f func(d *directory) []letter) []letter {
	o.mu.Lock()
	defer o.mu.Unlock()
	return f(o.directory)
}

// Attach connects the singletons of s to a cluster, by l. It must be called once, before
// the first singleton is spawned. Without it singletons run right where they are.
func Attach(s *actor.System, l Locator) {
	o := &office{directory: newDirectory()}
	h := &hub{office: o, post: post{system: s}, managers: map[string]actor.ActorRef[any]{}, fresh: map[string]bool{}, early: map[string][]wireRequest{}, taken: map[string]uint64{}}
	o.hub = actor.Spawn(extension.Framework(s), func(ctx *actor.Context[hubMsg], next *actor.Next[hubMsg]) {
		h.ctx, h.log = ctx, ctx.Log()
		h.follow(l)
		next.OnMessage = h.receive
	}, hubName)
	extension.Set(s, o)
}

// Drain makes the managers of s start no instance any more under this node's present
// incarnation, and waits until no instance runs here: until they have been handed over,
// or have stopped because nobody else can host them. The members must know that this
// node leaves, or is down: else nobody asks for what it hosts. It returns ctx.Err() when
// ctx ends before.
func Drain(ctx context.Context, s *actor.System) error {
	o, ok := extension.Get[*office](s)
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

// A hub is the one place of a node where singletons and cluster meet. It exchanges with
// other nodes what they have managers for, and tells each manager here the topology, and what
// changes about its singleton. It hands messages from other nodes to the manager they are for,
// and answers for singletons that have none here.
type hub struct {
	ctx      *actor.Context[hubMsg]
	office   *office
	post     post
	log      *zap.Logger
	topo     Topology
	seen     bool // there has been a topology
	managers map[string]actor.ActorRef[any]
	fresh    map[string]bool          // managers that have not been told of any topology
	early    map[string][]wireRequest // by name, for managers that are starting
	taken    map[string]uint64        // by name, what a manager that has ended knew
	drains   []*drainage
	closed   node.ID // the incarnation of this node that has been drained
	flushing bool    // flushAsked is in the mailbox
	ticking  bool

	lastWords int // 0, or how often members have been asked whether they have heard all
}

// A drainage waits for managers to have drained.
type drainage struct {
	left map[string]bool
	done func()
}

func (d *drainage) drained() bool { return len(d.left) == 0 }

// follow tells the hub every topology, for as long as it lives.
func (h *hub) follow(l Locator) {
	self := h.ctx.Self()
	actor.PipeToSelf(h.ctx, func(ctx context.Context) (struct{}, error) {
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
		h.unregister(msg)
	case recorded:
		h.note(func(d *directory) { d.record(msg.name, msg.record) })
	case topologyChanged:
		h.view(msg.topo)
	case flushAsked:
		h.flushing = false
		h.exchange(nothingElse)
	case tickAsked:
		h.exchange((*directory).tick)
	case lastWordsAsked:
		h.askAgain()
	case wireNews, wireRow, wireRecords, wireCompare, wireConfirm:
		h.exchange(func(d *directory) []letter { return d.receive(msg) })
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
	name := offerName(msg.offer)
	h.managers[name] = msg.inbox
	h.fresh[name] = true
	if taken := h.taken[name]; taken > 0 {
		msg.inbox.Tell(wireGrant{Name: name, Taken: taken}) // of no attempt
	}
	h.note(func(d *directory) { d.offer(msg.offer) })
	for _, r := range h.early[name] {
		h.ctx.Self().Tell(r) // after the topology
	}
	delete(h.early, name)
}

func (h *hub) unregister(msg unregistered) {
	delete(h.managers, msg.name)
	delete(h.fresh, msg.name)
	h.taken[msg.name] = max(h.taken[msg.name], msg.taken)
	h.note(func(d *directory) { d.withdraw(msg.name) })
	h.drained(msg.name)
}

// note changes the directory, and sees that the change is told, together with others that
// wait in the mailbox.
func (h *hub) note(f func(d *directory)) {
	h.office.change(func(d *directory) []letter {
		f(d)
		return nil
	})
	if !h.flushing {
		h.flushing = true
		h.ctx.Self().Tell(flushAsked{})
	}
}

// exchange sends what has changed here, changes the directory, sends what comes out, and only
// then tells the managers here: so whom they ask knows already that they are there.
func (h *hub) exchange(f func(d *directory) []letter) {
	var names []string
	quiet := false
	out := h.office.change(func(d *directory) []letter {
		out := append(d.flush(), f(d)...)
		quiet = d.quiet()
		if h.seen {
			names = d.changed()
		}
		return out
	})
	h.send(out)
	for _, name := range names {
		h.tell(name)
	}
	h.finishDrains()
	h.tick(!quiet)
}

func nothingElse(*directory) []letter { return nil }

// view takes a topology, and tells all managers if it is another.
func (h *hub) view(topo Topology) {
	if h.seen && h.topo.same(topo) {
		return
	}
	h.topo, h.seen = topo, true
	clear(h.early) // they will be asked again
	h.exchange(func(d *directory) []letter {
		out := d.view(topo)
		d.touchAll()
		return out
	})
}

// tell tells the manager of that name how things are.
func (h *hub) tell(name string) {
	inbox, here := h.managers[name]
	if !here {
		return
	}
	var topo Topology
	h.office.change(func(d *directory) []letter {
		topo = d.topology(name)
		return nil
	})
	if h.fresh[name] && h.closed == topo.Self {
		inbox.Tell(viewed{Topology{Self: topo.Self}}) // nothing may start by what comes next
		inbox.Tell(drainAsked{})
	}
	delete(h.fresh, name)
	inbox.Tell(viewed{topo})
}

// tickEvery is how often nodes compare what they know, some of them each time.
const tickEvery = 2 * time.Second

// tick sees that there are ticks as long as there is something to compare.
func (h *hub) tick(on bool) {
	if on == h.ticking {
		return
	}
	if h.ticking = on; on {
		h.ctx.Every("tick", tickEvery, tickAsked{})
	} else {
		h.ctx.CancelTimer("tick")
	}
}

func (h *hub) drain(msg drain) {
	h.exchange(nothingElse) // managers know the incarnation that leaves
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

// finishDrains ends those whose managers have all drained, once the members know what has
// become of the singletons, as they will not ask this node any more.
func (h *hub) finishDrains() {
	if !slices.ContainsFunc(h.drains, (*drainage).drained) || h.waitsForMembers() {
		return
	}
	h.lastWords = 0
	h.drains = slices.DeleteFunc(h.drains, func(d *drainage) bool {
		if d.drained() {
			d.done()
		}
		return d.drained()
	})
}

// Members that can be reached are asked this often whether they have heard all, and so often
// at most: who does not answer has other troubles.
const (
	lastWordsEvery  = 200 * time.Millisecond
	lastWordsRounds = 3
)

// waitsForMembers reports whether there are members that have not confirmed what they were
// told, and asks them at first, and then from time to time.
func (h *hub) waitsForMembers() bool {
	asks := h.lastWords == 0
	var unaware []letter
	out := h.office.change(func(d *directory) []letter {
		out := d.flush()
		asks = asks || len(out) > 0
		unaware = d.unaware()
		return out
	})
	h.send(out)
	if len(unaware) == 0 || h.topo.Down || h.lastWords > lastWordsRounds {
		return false
	}
	if asks {
		h.lastWords = max(h.lastWords, 1)
		h.send(unaware)
		h.ctx.After("last words", lastWordsEvery, lastWordsAsked{})
	}
	return true
}

// askAgain asks those that have not confirmed it yet.
func (h *hub) askAgain() {
	if h.lastWords == 0 {
		return
	}
	h.lastWords++
	h.send(h.office.change((*directory).unaware))
	h.ctx.After("last words", lastWordsEvery, lastWordsAsked{})
	h.finishDrains()
}

func (h *hub) send(letters []letter) {
	for _, l := range letters {
		h.post.send(l.to, l.msg)
	}
}

// route gives msg to the manager it is for.
func (h *hub) route(msg wireMsg) {
	if to, addressed := recipient(msg); addressed && to != h.topo.Self {
		h.log.Debug("message for another incarnation", zap.String("singleton", msg.singleton()), zap.Uint64("to_incarnation", to.Incarnation))
		return
	}
	if r, asks := msg.(wireRequest); asks {
		h.exchange(func(d *directory) []letter { return d.asks(r.From, r.Name) })
	}
	if inbox, ok := h.managers[msg.singleton()]; ok {
		inbox.Tell(msg)
		return
	}
	h.answer(msg)
}

func recipient(msg wireMsg) (to node.ID, addressed bool) {
	switch msg := msg.(type) {
	case wireRequest:
		return msg.To, true
	case wireGrant:
		return msg.To, true
	case wireHeldUp:
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
	return node.ID{}, false
}

// answer speaks for a singleton without a manager here: nothing of it runs. Requests for a
// manager that is starting wait for it.
func (h *hub) answer(msg wireMsg) {
	switch msg := msg.(type) {
	case wireRequest:
		h.answerRequest(msg)
	case wireRecall:
		h.post.send(msg.From, wireRecalled{Name: msg.Name, From: h.topo.Self, To: msg.From, Number: msg.Number})
	case wireFarewell:
		h.post.send(msg.From, wireFarewellHeard{Name: msg.Name, From: h.topo.Self, To: msg.From})
	case wireSettle:
		h.post.send(msg.From, wireSettled{Name: msg.Name, From: h.topo.Self, To: msg.From, Number: msg.Number})
	case wireDeliver:
		h.giveBack(msg)
	case wireGiveBack:
		extension.DeadLetter(h.post.system, "", msg, actor.ErrNoSuchActor)
	case wireGrant, wireHeldUp, wireRecalled, wireFarewellHeard, wireSettled, wireAck, wireMarks:
	case wireTold, wireCheck: // the sender keeps it, and will send it again
	}
}

func (h *hub) answerRequest(r wireRequest) {
	if _, known := h.topo.member(r.From); !known {
		return
	}
	if h.expects(r.Name) {
		same := func(o wireRequest) bool { return o.From == r.From }
		h.early[r.Name] = append(slices.DeleteFunc(h.early[r.Name], same), r)
		return
	}
	record := h.office.record(r.Name)
	h.post.send(r.From, wireGrant{Name: r.Name, From: h.topo.Self, To: r.From, Attempt: r.Attempt, Record: record, Taken: max(record.Term, h.taken[r.Name])})
}

// giveBack returns a message whose node does not know yet that there is no manager here.
func (h *hub) giveBack(msg wireDeliver) {
	if _, member := h.topo.member(msg.From); !member {
		extension.DeadLetter(h.post.system, "", msg, actor.ErrNoSuchActor)
		return
	}
	h.post.send(msg.From, wireGiveBack{Name: msg.Name, From: h.topo.Self, Payload: msg.Payload})
}

// expects reports whether there is a manager, or is about to be, of which the hub has not
// heard yet. A manager is on the board before it counts as started, so the board comes last.
func (h *hub) expects(name string) bool {
	if extension.Starting(h.post.system, userPath+name) {
		return true
	}
	_, begun := StatusOf(h.post.system, name)
	return begun
}
