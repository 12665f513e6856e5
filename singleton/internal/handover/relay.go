package handover

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/internal/singletonhook"
	"github.com/understudy-go/understudy/singleton/internal/wire"
)

// A Waiting message was sent here and waits on this node.
type Waiting struct {
	extension.Described[any]
	Until     time.Time // when it expires; zero for never
	Explained bool      // its ask has been told why it waits
}

// Expired reports whether the message has expired.
func (w Waiting) Expired(now time.Time) bool { return expired(w.Until, now) }

func expired(until, now time.Time) bool { return !until.IsZero() && !now.Before(until) }

// A Told is a message that was sent here, of whatever type, with its metadata.
type Told = extension.Described[any]

// A Parcel is an encoded message of another node, with its metadata.
type Parcel = extension.Described[extension.Payload]

// An Outlet carries out the decisions of a [Relay].
type Outlet interface {
	Send(to node.ID, msg wire.Any, m extension.Metadata) // to another manager
	Deliver(d Told)                                      // to the instance here
	Ready() bool                                         // the instance here takes messages
	Take(d Told)                                         // handles a message as if it had been told here

	Hold(d Told) Waiting        // notes that a message begins to wait
	Pass(w Waiting) bool        // whether it is sent on; if not it has become a dead letter
	GoesOn(msg any)             // a message of another node, which may be encoded, does not wait any more
	Until() time.Time           // when a message that begins to wait now expires
	Overflow(msg any)           // there is no room for it
	Rerouted()                  // the route may have changed
	BeforeDrain(host node.ID)   // the next host is about to learn that this node drains
	Follow(to node.ID, msg any) // the ask of a request that is sent there ends when that node is removed

	// Pack and Unpack make a dead letter of a message that cannot be encoded or decoded, and then
	// return false.
	Pack(msg any) (extension.Payload, bool)
	Unpack(p Parcel) (Told, bool)
}

// A Relay brings the messages that are sent to one manager to the instance, wherever it runs. It
// buffers them while there is no instance.
type Relay struct {
	out     Outlet
	machine *Machine

	buffer   recall.Buffer[Waiting]  // of messages told here
	remote   remoteBuffer            // of messages that other nodes have sent
	returns  recall.Returns[node.ID] // of those
	retry    recall.RetryTimer       // of what the buffer waits for
	drained  map[node.ID]bool        // members that no longer host, even if the view does not show it
	settling map[node.ID]uint64      // members that wait until none of their messages waits here

	draining   bool
	drain      drain
	drainRetry recall.RetryTimer
	hosted     node.ID // the incarnation of this node to which others may have sent messages
}

// NewRelay returns the relay of a manager that keeps up to limit messages of its own, and up to
// limit of each other node.
func NewRelay(out Outlet, machine *Machine, limit int) Relay {
	return Relay{
		out: out, machine: machine, buffer: recall.Buffer[Waiting]{Limit: limit}, remote: remoteBuffer{limit: limit},
		drained: make(map[node.ID]bool), settling: make(map[node.ID]uint64),
	}
}

// Route returns where messages go now.
func (r *Relay) Route() recall.Route { return r.buffer.Route() }

// Clear reports whether a new message is sent along the route at once.
func (r *Relay) Clear() bool { return r.buffer.Clear() }

// Recalling reports whether messages wait for those that another node has to return.
func (r *Relay) Recalling() bool {
	_, _, up := r.buffer.Recall()
	return up
}

// Waiting returns how many messages wait now.
func (r *Relay) Waiting() int { return r.buffer.Size() + r.remote.size() }

// Kept returns how many messages told here have ever waited.
func (r *Relay) Kept() uint64 { return r.buffer.Kept() }

// Take takes a message that was told here. It reports whether the message waits.
func (r *Relay) Take(d Told) (waits bool) {
	if r.buffer.Clear() {
		r.send(d)
		return false
	}
	r.overflow(r.buffer.Hold(r.out.Hold(d)))
	return true
}

// send sends a message along the route, which is clear.
func (r *Relay) send(d Told) {
	if r.buffer.Route().Kind == recall.ToInstance {
		r.out.Deliver(d)
		return
	}
	if payload, ok := r.out.Pack(d.Message); ok {
		r.buffer.Sent()
		if d.Metadata.Request() != nil {
			r.out.Follow(r.buffer.Route().Peer, d.Message)
		}
		r.out.Send(r.buffer.Route().Peer, wire.New(r.anyAt(), wire.Deliver{Payload: payload}), d.Metadata)
	}
}

// anyAt is the header of a message that any incarnation at an address may take.
func (r *Relay) anyAt() wire.Header { return r.machine.header(node.ID{}) }

func (r *Relay) overflow(lost []Waiting) {
	for _, w := range lost {
		r.out.Overflow(w.Message)
	}
}

// Deliver takes a message from another node. If no instance is expected here, the message is
// returned. If its node was removed, it is handled as if it had been sent here. Deliver reports
// whether the message waits.
func (r *Relay) Deliver(from node.ID, p Parcel) (waits bool) {
	if r.returns.Due(from) && r.machine.phase != Ended && !r.remote.wasRemoved(from) {
		r.giveBack(from, p)
		return false
	}
	switch r.buffer.Route().Kind {
	case recall.ToInstance:
		if msg, ok := r.out.Unpack(p); ok {
			r.out.Deliver(msg)
		}
	case recall.ToSelf:
		if over, overflow := r.remote.hold(from, p, r.out.Until()); overflow {
			if msg, ok := r.out.Unpack(over); ok {
				r.out.Overflow(msg.Message)
			}
		}
		return true
	case recall.NoRoute, recall.ToPeer:
		if r.machine.phase != Ended && !r.remote.wasRemoved(from) {
			r.giveBack(from, p)
		} else if msg, ok := r.out.Unpack(p); ok {
			r.out.Take(msg)
		}
	}
	return false
}

func (r *Relay) giveBack(to node.ID, p Parcel) {
	r.returns.Note(to)
	r.out.Send(to, wire.New(r.anyAt(), wire.Return{Payload: p.Message}), p.Metadata)
}

// Returned takes a message of ours that has not reached the instance.
func (r *Relay) Returned(from node.ID, d Told) {
	over, unasked := r.buffer.Returned(from, r.out.Hold(d))
	r.overflow(over)
	if unasked {
		r.sendRecall()
	}
	r.flush()
}

// Barrier answers another manager, now or when the condition holds.
func (r *Relay) Barrier(from node.ID, b wire.Barrier) {
	switch b.Kind {
	case wire.Recall:
		for _, p := range r.remote.takeFrom(from.Address) {
			r.giveBack(from, p)
		}
		r.returns.Recalled(from, b.Number)
		r.answerSettling()
	case wire.Drain: // what the node still has is recalled before the answer
		r.drained[from] = true
		r.Reroute()
		if r.buffer.RecallFrom(from) {
			r.sendRecall()
		}
	case wire.Settle:
		r.settling[from] = b.Number
		r.answerSettling()
		return
	}
	r.out.Send(from, wire.New(r.machine.header(from), wire.Passed(b)), extension.Metadata{})
}

// answerSettling answers the nodes that have no messages waiting here.
func (r *Relay) answerSettling() {
	for _, id := range slices.SortedFunc(maps.Keys(r.settling), node.ID.Compare) {
		if !r.remote.has(id) {
			r.out.Send(id, wire.New(r.machine.header(id), wire.Passed{Kind: wire.Settle, Number: r.settling[id]}), extension.Metadata{})
			delete(r.settling, id)
		}
	}
}

// Passed takes the answer of another manager.
func (r *Relay) Passed(from node.ID, p wire.Passed) {
	switch p.Kind {
	case wire.Recall:
		r.buffer.Recalled(p.Number)
		r.flush()
	case wire.Drain:
		r.drain.confirm(from)
	case wire.Settle:
		r.drain.settled(p.Number)
	}
}

func (r *Relay) raise(to node.ID, kind wire.BarrierKind, number uint64) {
	r.out.Send(to, wire.New(r.machine.header(to), wire.Barrier{Kind: kind, Number: number}), extension.Metadata{})
}

// sendRecall asks the node that may have messages of ours to return them. It may be repeated.
func (r *Relay) sendRecall() {
	to, number, _ := r.buffer.Recall()
	r.raise(to, wire.Recall, number)
}

// View prepares for a new topology, before the machine sees it.
func (r *Relay) View(topo *singletonhook.Topology) {
	r.retry.Reset()
	maps.DeleteFunc(r.drained, func(id node.ID, _ bool) bool {
		_, member := topo.Member(id)
		return !member
	})
	r.returns.Keep(func(id node.ID) bool {
		_, member := topo.Member(id)
		return member
	})
	r.remote.view(&r.machine.topo, topo)
}

// Reroute follows the machine, after each of its steps.
func (r *Relay) Reroute() {
	switch r.machine.phase {
	case Asking, Acquiring, Host:
		r.hosted = r.machine.topo.Self
	case Pending, Standby, HandingOver, Stopping, Ended:
	}
	if r.buffer.Redirect(r.route()) {
		r.sendRecall()
	}
	r.flush()
	r.out.Rerouted()
}

// route returns where messages should go.
func (r *Relay) route() recall.Route {
	m := r.machine
	switch m.phase {
	case Host:
		if m.instance.Running && r.out.Ready() {
			return recall.Route{Kind: recall.ToInstance}
		}
		return recall.Route{Kind: recall.ToSelf}
	case Asking, Acquiring, HandingOver, Stopping:
		return recall.Route{Kind: recall.ToSelf}
	case Standby:
		return r.toHost()
	case Pending: // a node that has drained passes on what comes back to it
		_, _, mismatch := m.Mismatch()
		if m.drained == m.topo.Self && m.drained != (node.ID{}) && !mismatch {
			return r.toHost()
		}
	case Ended:
	}
	return recall.Route{Kind: recall.NoRoute}
}

func (r *Relay) toHost() recall.Route {
	h, ok := r.machine.Host()
	if ok && h.Reachable && !h.Assumed && h.ID != r.machine.topo.Self && !r.drained[h.ID] {
		return recall.Route{Kind: recall.ToPeer, Peer: h.ID}
	}
	return recall.Route{Kind: recall.NoRoute}
}

// flush sends what can go by now, in order.
func (r *Relay) flush() {
	if r.buffer.Route().Kind != recall.ToSelf {
		for _, q := range r.remote.takeAll() {
			for _, p := range q.drain() {
				r.out.GoesOn(p.Message)
				r.Deliver(q.from, p)
			}
		}
	}
	r.answerSettling()
	for w, ok := r.buffer.Next(); ok; w, ok = r.buffer.Next() {
		if r.out.Pass(w) {
			r.send(w.Described)
		}
	}
}

// Close returns what other nodes have sent. The caller then takes the messages told here with
// [Relay.TakeAll].
func (r *Relay) Close() {
	r.buffer.Redirect(recall.Route{Kind: recall.NoRoute})
	r.flush()
}

// TakeAll takes out the messages told here that wait.
func (r *Relay) TakeAll() []Waiting { return r.buffer.Drain() }

// Sweep takes out the messages told here for which gone is true, when there is no room for another.
func (r *Relay) Sweep(gone func(Waiting) bool) []Waiting { return r.buffer.Sweep(gone) }

// Expire takes out the messages that have expired: those told here, and those of other nodes.
func (r *Relay) Expire(now time.Time) (own []Waiting, others []Parcel) {
	return r.buffer.Remove(func(w Waiting) bool { return w.Expired(now) }), r.remote.expire(now)
}

// NextExpiry returns when the next message expires; zero when none does.
func (r *Relay) NextExpiry() time.Time {
	next := r.remote.nextExpiry()
	for _, w := range r.buffer.Oldest() {
		next = recall.Earliest(next, w.Until)
	}
	return next
}

// BeginDrain begins to drain, after the machine was asked to.
func (r *Relay) BeginDrain() { r.draining, r.drain = true, drain{} }

// EndDrain ends it.
func (r *Relay) EndDrain() { r.draining = false }

// Drained reports whether this node drains and nothing is left to do: no instance runs here, no
// message waits here for an instance elsewhere, and none is in flight to or from here. It asks the
// other managers for what it does not know. A node that is down cannot ask, so it does not wait.
func (r *Relay) Drained(now time.Time) bool {
	m := r.machine
	if !r.draining || m.occupied() || m.phase == Host || m.outside.Releasing {
		r.drainRetry.Plan(now, false)
		return false
	}
	waits := !m.topo.Down && m.phase != Ended && r.drainWaits()
	r.drainRetry.Plan(now, waits)
	return !waits && !r.Recalling()
}

// drainWaits takes the next steps of the drain, and reports whether there is something to wait for.
func (r *Relay) drainWaits() bool {
	if r.drain.begin(r.hosted == r.machine.topo.Self) {
		r.tellMembers()
	}
	topo := &r.machine.topo
	if len(r.drain.unconfirmed(topo)) > 0 {
		return true
	}
	if _, found := r.machine.Host(); !found {
		return false
	}
	if r.buffer.Size() > 0 || r.Recalling() {
		return true
	}
	host := r.buffer.SentTo()
	if !topo.Reachable(host) {
		host = node.ID{}
	}
	ask, waits := r.drain.askHost(host, r.buffer.Sends())
	if ask {
		r.askHost()
	}
	return waits
}

// tellMembers tells the members that have not confirmed yet that this node drains.
func (r *Relay) tellMembers() {
	host, _ := r.machine.Host()
	for _, id := range r.drain.unconfirmed(&r.machine.topo) {
		if id == host.ID {
			r.out.BeforeDrain(id)
		}
		r.raise(id, wire.Drain, 0)
	}
}

func (r *Relay) askHost() { r.raise(r.drain.settle.To(), wire.Settle, r.drain.settle.Number()) }

// Plan sets the time of the next retry.
func (r *Relay) Plan(now time.Time) { r.retry.Plan(now, r.Recalling() || r.buffer.Refused()) }

// Wake returns when the next [Relay.Tick] is due; zero when none is.
func (r *Relay) Wake() time.Time { return recall.Earliest(r.retry.At(), r.drainRetry.At()) }

// Tick sends again what may have been lost, when it is time. The caller reroutes afterwards.
func (r *Relay) Tick(now time.Time) {
	if r.retry.Due(now) && r.tryAgain(now.Sub(r.retry.Since())) {
		r.sendRecall()
	}
	if r.drainRetry.Due(now) {
		r.tellMembers()
		if r.drain.settle.Up() {
			r.askHost()
		}
	}
}

// tryAgain retries after messages have waited for so long. It reports whether the recall is to be
// sent again.
func (r *Relay) tryAgain(waited time.Duration) (again bool) {
	topo, to := &r.machine.topo, r.buffer.SentTo()
	return r.buffer.TryAgain(waited, topo.Lost(to), topo.Reachable(to))
}
