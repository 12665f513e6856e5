package handover

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// A Waiting message waits on this node. One of another node is encoded, as an
// [extension.Payload], because it may be returned.
type Waiting struct {
	extension.Described[any]
	Until     time.Time // when it expires; zero for never
	Explained bool      // its ask has been told why it waits
}

// Expired reports whether the message has expired.
func (w Waiting) Expired(now time.Time) bool { return !w.Until.IsZero() && !now.Before(w.Until) }

// A Told is a message that was sent here, of whatever type, with its metadata. One of another node
// is encoded.
type Told = extension.Described[any]

// An Outlet carries out the decisions of a [Relay].
type Outlet interface {
	Send(to remote.NodeID, msg wire.Any, m extension.Metadata) // to another manager
	Deliver(d Told)                                            // to the instance here
	Ready() bool                                               // the instance here takes messages
	Take(d Told)                                               // handles a message as if it had been told here

	Hold(d Told) Waiting              // notes that a message begins to wait
	Pass(w Waiting) bool              // whether it is sent on; if not it has become a dead letter
	Until() time.Time                 // when a message that begins to wait now expires
	Overflow(msg any)                 // there is no room for it
	Rerouted()                        // the route may have changed
	BeforeDrain(host remote.NodeID)   // the next host is about to learn that this node drains
	Follow(to remote.NodeID, msg any) // the ask of a request that is sent there ends when that node is removed

	// Forward sends a message to another manager, as a wire.Deliver with it would come there. It
	// returns false if that one needs a wire.Deliver.
	Forward(to remote.NodeID, d Told) bool

	// Pack encodes a message, unless it is. If that fails it makes a dead letter of the message,
	// and returns false.
	Pack(msg any) (extension.Payload, bool)
}

// A Relay brings the messages that are sent to one manager to the instance, wherever it runs. The
// Lane in it has those that were told here.
type Relay struct {
	recall.Lane[Waiting]
	out     Outlet
	machine *Machine

	remote   remoteBuffer             // of messages that other nodes have sent
	limit    int                      // of the messages told here that wait
	drained  map[remote.NodeID]bool   // members that no longer host, even if the view does not show it
	settling map[remote.NodeID]uint64 // members that wait until none of their messages waits here

	draining   bool
	drain      drain
	drainRetry recall.RetryTimer
	hosted     remote.NodeID // the incarnation of this node to which others may have sent messages
}

// NewRelay returns the relay of a manager that keeps up to limit messages of its own, and up to
// limit of each other node.
func NewRelay(out Outlet, machine *Machine, limit int) *Relay {
	r := &Relay{
		out: out, machine: machine, limit: limit, remote: remoteBuffer{limit: limit},
		drained: make(map[remote.NodeID]bool), settling: make(map[remote.NodeID]uint64),
	}
	r.Lane = recall.NewLane[Waiting](ends{r})
	return r
}

// Waiting returns how many messages wait now.
func (r *Relay) Waiting() int { return r.Size() + r.remote.size() }

// Each calls f with each message that waits: those told here, and those of other nodes.
func (r *Relay) Each(f func(Waiting)) {
	r.Lane.Sweep(func(w Waiting) bool {
		f(w)
		return false
	})
	for _, q := range r.remote.queues {
		for i := range q.items.Len() {
			f(q.items.At(i))
		}
	}
}

// Take takes a message that was told here. It reports whether the message waits.
func (r *Relay) Take(d Told) (waits bool) {
	if waits = r.Lane.Take(Waiting{Described: d}); waits {
		r.shrink()
	}
	return waits
}

// shrink drops the oldest messages for which there is no room.
func (r *Relay) shrink() {
	for _, w := range r.Shrink(r.limit) {
		r.out.Overflow(w.Message)
	}
}

// anyAt is the header of a message that any incarnation at an address may take.
func (r *Relay) anyAt() wire.Header { return r.machine.header(remote.NodeID{}) }

// The ends are the [recall.Outlet] of the lane of a relay.
type ends struct{ *Relay }

func (e ends) Deliver(w Waiting)                        { e.out.Deliver(w.Described) }
func (e ends) Hold(w Waiting) Waiting                   { return e.out.Hold(w.Described) }
func (e ends) Pass(w Waiting) bool                      { return e.out.Pass(w) }
func (e ends) Recall(number uint64, from remote.NodeID) { e.raise(from, wire.Recall, number) }
func (e ends) Passed(number uint64, to remote.NodeID)   { e.pass(to, wire.Recall, number) }

func (e ends) Send(to remote.NodeID, w Waiting) {
	if w.Metadata.Request() != nil {
		e.out.Follow(to, w.Message)
	}
	if e.out.Forward(to, w.Described) {
		return
	}
	if payload, ok := e.out.Pack(w.Message); ok {
		e.out.Send(to, wire.New(e.anyAt(), wire.Deliver{Payload: payload}), w.Metadata)
	}
}

func (e ends) Return(to remote.NodeID, w Waiting) {
	if payload, ok := e.out.Pack(w.Message); ok {
		e.out.Send(to, wire.New(e.anyAt(), wire.Return{Payload: payload}), w.Metadata)
	}
}

// Deliver takes a message from another node. If no instance is expected here, the message is
// returned. If its node was removed, it is handled as if it had been sent here. Deliver reports
// whether the message waits.
func (r *Relay) Deliver(from remote.NodeID, d Told) (waits bool) {
	switch {
	case r.machine.phase == Ended || r.remote.wasRemoved(from):
		r.out.Take(d)
	case r.Route().Kind == recall.ToSelf && !r.Due(from):
		for _, w := range r.remote.hold(from, Waiting{Described: d, Until: r.out.Until()}) {
			r.out.Overflow(w.Message)
		}
		return true
	default:
		r.Arrived(from, Waiting{Described: d})
	}
	return false
}

// Returned takes a message of ours that has not reached the instance.
func (r *Relay) Returned(from remote.NodeID, d Told) {
	r.Lane.Returned(from, Waiting{Described: d})
	r.shrink()
}

// Barrier answers another manager, now or when the condition holds.
func (r *Relay) Barrier(from remote.NodeID, b wire.Barrier) {
	switch b.Kind {
	case wire.Recall:
		for _, w := range r.remote.takeFrom(from.Address) {
			r.GiveBack(from, w)
		}
		r.Asked(from, b.Number)
		r.answerSettling()
	case wire.Drain: // what the node still has is recalled before the answer
		r.drained[from] = true
		r.Reroute()
		r.RecallFrom(from)
		r.pass(from, wire.Drain, b.Number)
	case wire.Settle:
		r.settling[from] = b.Number
		r.answerSettling()
	}
}

// answerSettling answers the nodes that have no messages waiting here.
func (r *Relay) answerSettling() {
	for _, id := range slices.SortedFunc(maps.Keys(r.settling), remote.NodeID.Compare) {
		if !r.remote.has(id) {
			r.pass(id, wire.Settle, r.settling[id])
			delete(r.settling, id)
		}
	}
}

// Passed takes the answer of another manager.
func (r *Relay) Passed(from remote.NodeID, p wire.Passed) {
	switch p.Kind {
	case wire.Recall:
		r.Lane.Passed(p.Number)
	case wire.Drain:
		r.drain.confirm(from)
	case wire.Settle:
		r.drain.settled(p.Number)
	}
}

func (r *Relay) raise(to remote.NodeID, kind wire.BarrierKind, number uint64) {
	r.out.Send(to, wire.New(r.machine.header(to), wire.Barrier{Kind: kind, Number: number}), extension.Metadata{})
}

func (r *Relay) pass(to remote.NodeID, kind wire.BarrierKind, number uint64) {
	r.out.Send(to, wire.New(r.machine.header(to), wire.Passed{Kind: kind, Number: number}), extension.Metadata{})
}

// View prepares for a new topology, before the machine sees it.
func (r *Relay) View(topo *directory.Topology) {
	maps.DeleteFunc(r.drained, func(id remote.NodeID, _ bool) bool {
		_, member := topo.Member(id)
		return !member
	})
	r.Viewed(func(id remote.NodeID) bool {
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
	r.Redirect(r.route())
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
		if m.drained == m.topo.Self && m.drained != (remote.NodeID{}) && !mismatch {
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
	if r.Route().Kind != recall.ToSelf {
		for _, q := range r.remote.takeAll() {
			for _, w := range q.items.Drain() {
				r.Deliver(q.from, w.Described)
			}
		}
	}
	r.answerSettling()
	r.Flush()
}

// Close returns what other nodes have sent. The caller then drains the Lane.
func (r *Relay) Close() {
	r.Redirect(recall.Route{Kind: recall.NoRoute})
	r.flush()
}

// Sweep takes out the messages told here for which gone is true, when there is no room for another.
func (r *Relay) Sweep(gone func(Waiting) bool) []Waiting {
	if r.Size() < r.limit {
		return nil
	}
	return r.Lane.Sweep(gone)
}

// Expire takes out the messages that have expired: those told here, and those of other nodes.
func (r *Relay) Expire(now time.Time) (own []Waiting, others []Waiting) {
	return r.Remove(func(w Waiting) bool { return w.Expired(now) }), r.remote.expire(now)
}

// GiveUp takes out all messages that wait: those told here, and those of other nodes.
func (r *Relay) GiveUp() (own []Waiting, others []Waiting) {
	own = r.Remove(func(Waiting) bool { return true })
	for _, q := range r.remote.takeAll() {
		others = append(others, q.items.Drain()...)
	}
	return own, others
}

// NextExpiry returns when the next message expires; zero when none does.
func (r *Relay) NextExpiry() time.Time {
	next := r.remote.nextExpiry()
	for _, w := range r.Oldest() {
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
	if r.Size() > 0 || r.Recalling() {
		return true
	}
	host := r.SentTo()
	if !topo.Reachable(host) {
		host = remote.NodeID{}
	}
	ask, waits := r.drain.askHost(host, r.Sends())
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

// Wake returns when the next [Relay.Tick] is due; zero when none is.
func (r *Relay) Wake() time.Time { return recall.Earliest(r.Lane.Wake(), r.drainRetry.At()) }

// Tick sends again what may have been lost, when it is time. The caller reroutes afterwards.
func (r *Relay) Tick(now time.Time) {
	r.Lane.Tick(now, &r.machine.topo)
	if r.drainRetry.Due(now) {
		r.tellMembers()
		if r.drain.settle.Up() {
			r.askHost()
		}
	}
}
