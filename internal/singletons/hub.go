package singletons

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

const hubName = "singletons"

// ErrUnavailable is the error of that name of package singleton.
var ErrUnavailable = errors.New("singleton: no instance")

// errNoManager is the reason of messages for a manager that has ended, or that the process at this
// address had before this one.
var errNoManager = fmt.Errorf("%w: %w that this node can reach, and it has no manager", actor.ErrNoSuchActor, ErrUnavailable)

// What a hub tells the inbox of a manager, beside the messages of other nodes.
type (
	// Viewed tells a manager, or the hub itself, a topology.
	Viewed struct {
		extension.Quiet
		Topology directory.Topology
	}

	// DrainAsked asks a manager to start no more instances under this incarnation of the node, and
	// for [Link.Drained].
	DrainAsked struct{ extension.Quiet }
)

// What a hub is told within its node, beside [Viewed]. Hubs of other nodes send a wire.Any.
type (
	registered struct {
		extension.Quiet
		advertisement string
		inbox         actor.ActorRef[any]
	}
	unregistered struct {
		extension.Quiet
		name  string
		taken uint64 // the highest term that the manager has heard of or promised
	}

	// listening asks for a call of changed after each change of the members that have a manager.
	listening struct {
		extension.Quiet
		name    string
		changed func() // nil ends it
	}

	// flushDue follows the changes that wait in the mailbox, so that they are sent together.
	flushDue struct{ extension.Quiet }

	// compareDue comes at the interval of comparisons.
	compareDue struct{ extension.Quiet }

	// confirmDue comes while members have not confirmed the news that they were sent.
	confirmDue struct{ extension.Quiet }

	// drain asks all managers to start no more instances. It calls done when each has drained or
	// ended.
	drain struct {
		extension.Quiet
		done func()
	}
	drained struct {
		extension.Quiet
		name string
	}
)

// A hub connects the singletons of one node to the cluster. The hubs tell each other which managers
// their nodes have. A hub tells each manager of its node the topology and the changes to its
// singleton. It passes messages of other nodes to their managers, and answers for singletons that
// have no manager here.
type hub struct {
	ctx       *actor.Context[any]
	link      *Link
	post      Post
	log       *zap.Logger
	topo      directory.Topology
	seen      bool // there has been a topology
	managers  map[string]actor.ActorRef[any]
	listeners map[string]func()                       // by name, called after each change
	fresh     map[string]bool                         // managers that have not seen a topology
	early     map[string][]wire.Message[wire.Request] // by name, for managers that are starting
	taken     map[string]uint64                       // by name, the highest term known to a manager that has ended
	drains    []*drainage
	closed    remote.NodeID // the incarnation of this node that has been drained
	ticking   bool

	confirmRounds int // 0, or how many times members were asked to confirm the news
}

type drainage struct {
	left map[string]bool
	done func()
}

func (d *drainage) drained() bool { return len(d.left) == 0 }

func (h *hub) follow(topologies func(ctx context.Context) iter.Seq[directory.Topology]) {
	self := h.ctx.Self()
	actor.PipeToSelf(h.ctx, func(ctx context.Context) (struct{}, error) {
		for topo := range topologies(ctx) {
			self.Tell(Viewed{Topology: topo})
		}
		return struct{}{}, ctx.Err()
	}, func(struct{}, error) any { return nil })
}

func (h *hub) receive(_ *actor.Context[any], msg any) actor.Behavior[any] {
	switch msg := msg.(type) {
	case registered:
		h.register(msg)
	case unregistered:
		h.unregister(msg)
	case listening:
		h.listen(msg)
	case Viewed:
		h.view(msg.Topology)
	case flushDue:
		h.exchange(h.link.flushed)
	case compareDue:
		h.exchange((*directory.Directory).Tick)
	case confirmDue:
		h.confirmAgain()
	case wire.Message[wire.News], wire.Message[wire.Row], wire.Message[wire.Records], wire.Message[wire.Compare], wire.Message[wire.Confirm]:
		h.exchange(func(d *directory.Directory) []wire.Any { return d.Receive(msg.(wire.Any)) })
	case drain:
		h.drain(msg)
	case drained:
		h.drained(msg.name)
	case Arrived:
		msg.Header.From = h.sender(msg.Header.From.Incarnation)
		h.route(msg)
	case wire.Any:
		h.route(msg)
	}
	return nil
}

// sender returns the member of an incarnation. Of one that is no member only that is known.
func (h *hub) sender(incarnation uint64) remote.NodeID {
	for _, m := range h.topo.Members {
		if m.ID.Incarnation == incarnation {
			return m.ID
		}
	}
	return remote.NodeID{Incarnation: incarnation}
}

func (h *hub) register(msg registered) {
	name := directory.AdvertisedName(msg.advertisement)
	h.managers[name] = msg.inbox
	h.fresh[name] = true
	if taken := h.taken[name]; taken > 0 {
		msg.inbox.Tell(wire.New(wire.Header{Name: name}, wire.Grant{Taken: taken})) // of no attempt
	}
	h.link.Note(func(d *directory.Directory) { d.Advertise(msg.advertisement) })
	for _, r := range h.early[name] {
		h.ctx.Self().Tell(r) // after the topology
	}
	delete(h.early, name)
}

func (h *hub) unregister(msg unregistered) {
	delete(h.managers, msg.name)
	delete(h.fresh, msg.name)
	h.taken[msg.name] = max(h.taken[msg.name], msg.taken)
	h.link.Note(func(d *directory.Directory) { d.Withdraw(msg.name) })
	h.drained(msg.name)
}

// listen adds or removes a listener. A new one is called soon.
func (h *hub) listen(msg listening) {
	if msg.changed == nil {
		delete(h.listeners, msg.name)
		h.link.Note(func(d *directory.Directory) { d.Unwatch(msg.name) })
		return
	}
	h.listeners[msg.name] = msg.changed
	h.link.Note(func(d *directory.Directory) { d.Watch(msg.name) })
}

// exchange sends the changes made here, changes the directory with f, sends the messages that f
// returns, and only then informs the managers here. So the nodes that the managers ask already know
// of them.
func (h *hub) exchange(f func(d *directory.Directory) []wire.Any) {
	var names []string
	quiet := false
	out := read(h.link, func(d *directory.Directory) []wire.Any {
		out := append(d.Flush(), f(d)...)
		quiet = d.Quiet()
		if h.seen {
			names = d.Changed()
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

func nothingElse(*directory.Directory) []wire.Any { return nil }

// view takes a topology, and informs all managers if it differs from the last one.
func (h *hub) view(topo directory.Topology) {
	if h.seen && h.topo.Same(&topo) {
		return
	}
	h.topo, h.seen = topo, true
	clear(h.early) // they will be asked again
	h.exchange(func(d *directory.Directory) []wire.Any {
		return d.View(topo)
	})
}

func (h *hub) tell(name string) {
	if changed, listens := h.listeners[name]; listens {
		changed()
	}
	inbox, here := h.managers[name]
	if !here {
		return
	}
	topo := read(h.link, func(d *directory.Directory) directory.Topology { return d.Topology(name) })
	if h.fresh[name] && h.closed == topo.Self {
		inbox.Tell(Viewed{Topology: directory.Topology{Self: topo.Self}}) // nothing may start until the next one
		inbox.Tell(DrainAsked{})
	}
	delete(h.fresh, name)
	inbox.Tell(Viewed{Topology: topo})
}

// compareEvery is the interval of comparisons, each of which is with some of the other nodes.
const compareEvery = 2 * time.Second

// tick turns comparisons on or off: they continue while there is something to compare.
func (h *hub) tick(on bool) {
	if on == h.ticking {
		return
	}
	if h.ticking = on; on {
		h.ctx.Every("compare", compareEvery, compareDue{})
	} else {
		h.ctx.CancelTimer("compare")
	}
}

func (h *hub) drain(msg drain) {
	h.exchange(nothingElse) // so that managers know the incarnation that leaves
	h.closed = h.topo.Self
	d := &drainage{left: make(map[string]bool), done: msg.done}
	for name, inbox := range h.managers {
		d.left[name] = true
		inbox.Tell(DrainAsked{})
	}
	h.drains = append(h.drains, d)
	h.finishDrains()
}

func (h *hub) drained(name string) {
	for _, d := range h.drains {
		delete(d.left, name)
	}
	h.finishDrains()
}

// finishDrains ends the drains whose managers have all drained, once the members know the outcome.
// They then no longer ask this node.
func (h *hub) finishDrains() {
	if !slices.ContainsFunc(h.drains, (*drainage).drained) || h.waitsForMembers() {
		return
	}
	h.confirmRounds = 0
	h.drains = slices.DeleteFunc(h.drains, func(d *drainage) bool {
		if d.drained() {
			d.done()
		}
		return d.drained()
	})
}

// How often reachable members are asked to confirm the news, and the maximum number of times.
const (
	confirmEvery  = 200 * time.Millisecond
	confirmRounds = 3
)

// waitsForMembers reports whether some members have not confirmed the news. It asks them on the
// first call, and then at intervals.
func (h *hub) waitsForMembers() bool {
	asks := h.confirmRounds == 0
	var unaware []wire.Any
	out := read(h.link, func(d *directory.Directory) []wire.Any {
		out := d.Flush()
		asks = asks || len(out) > 0
		unaware = d.Unaware()
		return out
	})
	h.send(out)
	if len(unaware) == 0 || h.topo.Down || h.confirmRounds > confirmRounds {
		return false
	}
	if asks {
		h.confirmRounds = max(h.confirmRounds, 1)
		h.send(unaware)
		h.ctx.After("confirm", confirmEvery, confirmDue{})
	}
	return true
}

func (h *hub) confirmAgain() {
	if h.confirmRounds == 0 {
		return
	}
	h.confirmRounds++
	h.send(read(h.link, (*directory.Directory).Unaware))
	h.ctx.After("confirm", confirmEvery, confirmDue{})
	h.finishDrains()
}

func (h *hub) send(messages []wire.Any) {
	for _, msg := range messages {
		h.post.Send(msg.Head().To, msg)
	}
}

func (h *hub) route(msg wire.Any) {
	head := msg.Head()
	if head.To != (remote.NodeID{}) && head.To != h.topo.Self {
		h.log.Debug("message for another incarnation", zap.String("singleton", head.Name), zap.Uint64("to_incarnation", head.To.Incarnation))
		return
	}
	if _, asks := msg.(wire.Message[wire.Request]); asks {
		h.exchange(func(d *directory.Directory) []wire.Any { return d.Asks(head.From, head.Name) })
	}
	if inbox, ok := h.managers[head.Name]; ok {
		extension.TellWith[any](inbox, msg, extension.MetadataOf(h.ctx))
		return
	}
	h.answer(msg)
}

// answer answers for a singleton without a manager here, so no instance of it runs here. A request
// for a manager that is starting waits for it.
func (h *hub) answer(msg wire.Any) {
	back := wire.Header{Name: msg.Head().Name, From: h.topo.Self, To: msg.Head().From}
	switch msg := msg.(type) {
	case wire.Message[wire.Request]:
		h.answerRequest(msg, back)
	case wire.Message[wire.Barrier]:
		h.post.Send(back.To, wire.New(back, wire.Passed(msg.Body)))
	case wire.Message[wire.Deliver]:
		h.giveBack(msg, back)
	case Arrived:
		h.giveBack(msg.Message, back)
		msg.Done()
	case wire.Message[wire.Return]:
		extension.DeadLetter(h.post.System, "", msg, errNoManager)
	}
	// Others need no answer. The sender of a sequenced message keeps it, and sends it again.
}

func (h *hub) answerRequest(r wire.Message[wire.Request], back wire.Header) {
	if _, known := h.topo.Member(back.To); !known {
		return
	}
	if h.expects(back.Name) {
		same := func(o wire.Message[wire.Request]) bool { return o.Header.From == back.To }
		h.early[back.Name] = append(slices.DeleteFunc(h.early[back.Name], same), r)
		return
	}
	record := read(h.link, func(d *directory.Directory) wire.Record { return d.Record(back.Name) })
	h.post.Send(back.To, wire.New(back, wire.Grant{Attempt: r.Body.Attempt, Record: record, Taken: max(record.Term, h.taken[back.Name])}))
}

// giveBack returns a message whose sender does not know yet that there is no manager here.
func (h *hub) giveBack(msg wire.Message[wire.Deliver], back wire.Header) {
	if _, member := h.topo.Member(back.To); !member {
		extension.DeadLetter(h.post.System, "", msg, errNoManager)
		return
	}
	to := back.To
	back.To = remote.NodeID{} // any incarnation
	h.post.Send(to, wire.New(back, wire.Return(msg.Body)))
}

// expects reports whether a manager exists, or is starting, whose registration has not come yet. A
// manager has begun before it counts as started, so this is read last.
func (h *hub) expects(name string) bool {
	return extension.Starting(h.post.System, "/user/"+name) || read(h.link, func(*directory.Directory) bool { return h.link.begun[name] })
}
