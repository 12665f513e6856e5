package recall

import (
	"time"

	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/remote"
)

// A Lane brings the messages of one node to an instance, wherever that runs. Each node has one. A
// message is always with one node: the node of its sender, or the one to which that has sent it.
// Messages of one sender stay in order while the instance moves. The only exceptions are messages
// on a former node of the instance that cannot be reached.
//
// The methods of the [Buffer] in it look at what waits, and take it out.
type Lane[M any] struct {
	Buffer[M]
	out     Outlet[M]
	returns returns
	retry   RetryTimer
}

// An Outlet carries out what a [Lane] decides.
type Outlet[M any] interface {
	Deliver(msg M)                            // to the instance here
	Send(to remote.NodeID, msg M)             // to the lane of another node
	Return(to remote.NodeID, msg M)           // to the lane of the node that has sent it
	Recall(number uint64, from remote.NodeID) // asks the lane of another node to return our messages
	Passed(number uint64, to remote.NodeID)   // answers such a lane: none of its messages is here
	Hold(msg M) M                             // msg begins to wait
	Pass(msg M) bool                          // msg goes on; if not, it has become a dead letter
}

// NewLane returns a lane that knows no instance, and keeps any number of messages.
func NewLane[M any](out Outlet[M]) Lane[M] { return Lane[M]{out: out} }

// Take takes a message that was told here. It reports whether the message waits.
func (l *Lane[M]) Take(msg M) (waits bool) {
	if waits = !l.Clear(); waits {
		l.Hold(l.out.Hold(msg))
	} else {
		l.send(msg)
	}
	return waits
}

// send sends a message along the route, which is clear.
func (l *Lane[M]) send(msg M) {
	l.Sent()
	if l.route.Kind == ToInstance {
		l.out.Deliver(msg)
	} else {
		l.out.Send(l.route.Peer, msg)
	}
}

// Here reports whether messages that are told here go to the instance here at once, without any
// decision of the lane. So do those of other nodes, unless it is [Lane.Returning] some.
func (l *Lane[M]) Here() bool { return l.route.Kind == ToInstance && l.Clear() }

// Returning reports whether messages of some nodes go back to them whatever the route is.
func (l *Lane[M]) Returning() bool { return l.returns.due > 0 }

// Due reports whether the messages of a node go back to it whatever the route is.
func (l *Lane[M]) Due(from remote.NodeID) bool { return l.returns.senders[from].back }

// Arrived takes a message that a member has sent here. Unless the instance is here, the message
// goes back. What waits here is of this node, and can be overtaken.
func (l *Lane[M]) Arrived(from remote.NodeID, msg M) {
	if l.route.Kind != ToInstance || l.Due(from) {
		l.GiveBack(from, msg)
	} else {
		l.out.Deliver(msg)
	}
}

// GiveBack returns a message to the node that has sent it. All later ones of that node go back too,
// also to an instance that has come here meanwhile, until the node recalls them: the first must not
// be overtaken.
func (l *Lane[M]) GiveBack(to remote.NodeID, msg M) {
	l.returns.note(to)
	l.out.Return(to, msg)
}

// Before takes messages that go before all that wait here.
func (l *Lane[M]) Before(all []M) {
	if len(all) > 0 {
		l.returned = fifo.Of(append(all, l.returned.Drain()...))
	}
}

// Returned takes a message of ours that another node has not taken.
func (l *Lane[M]) Returned(from remote.NodeID, msg M) {
	l.raise(l.Buffer.Returned(from, l.out.Hold(msg)))
	l.Flush()
}

// Asked answers a node that recalls its messages. Those that have gone back come before the answer,
// and no others are here: the instance has taken them.
func (l *Lane[M]) Asked(by remote.NodeID, number uint64) {
	l.returns.recalled(by, number)
	l.out.Passed(number, by)
}

// RecallFrom recalls what another node may have, if it has anything.
func (l *Lane[M]) RecallFrom(peer remote.NodeID) { l.raise(l.Buffer.RecallFrom(peer)) }

// raise sends the recall that is under way, if it must be sent.
func (l *Lane[M]) raise(recall bool) {
	if recall {
		l.out.Recall(l.recall.number, l.recall.to)
	}
}

// Passed takes the answer to a recall.
func (l *Lane[M]) Passed(number uint64) {
	l.Recalled(number)
	l.Flush()
}

// Viewed follows a change of the members: a view that has changed may help what is tried again.
func (l *Lane[M]) Viewed(member func(remote.NodeID) bool) {
	l.retry.Reset()
	l.returns.keep(member)
}

// Redirect changes the route. The caller calls [Lane.Flush] when it has taken what must go first.
func (l *Lane[M]) Redirect(r Route) { l.raise(l.Buffer.Redirect(r)) }

// Flush sends what can go by now, in order.
func (l *Lane[M]) Flush() {
	for msg, ok := l.Next(); ok; msg, ok = l.Next() {
		if l.out.Pass(msg) {
			l.send(msg)
		}
	}
}

// Recalling reports whether messages wait for those that another node has to return.
func (l *Lane[M]) Recalling() bool { return l.recall.Up() }

// Waits reports whether anything is to be tried again.
func (l *Lane[M]) Waits() bool { return l.Recalling() || l.refused }

// Plan sets the time of the next retry, if anything is to be tried again.
func (l *Lane[M]) Plan(now time.Time) { l.retry.Plan(now, l.Waits()) }

// Wake returns when [Lane.Tick] is due; zero when it is not.
func (l *Lane[M]) Wake() time.Time { return l.retry.At() }

// Peers says what is known of other nodes.
type Peers interface {
	Lost(id remote.NodeID) bool      // it may be running, and cannot be reached
	Reachable(id remote.NodeID) bool // it is a member, and can be reached
}

// Tick tries again what may have been lost, when it is time. The caller flushes afterwards.
func (l *Lane[M]) Tick(now time.Time, peers Peers) {
	if l.Plan(now); l.retry.Due(now) {
		l.raise(l.TryAgain(now.Sub(l.retry.Since()), peers.Lost(l.sentTo), peers.Reachable(l.sentTo)))
	}
}

// A Barrier is a question to another node that is answered when a condition holds there. One is
// under way at a time. The zero Barrier has asked nothing.
type Barrier struct {
	to     remote.NodeID // the node that is asked; zero when none is
	number uint64        // of the question under way, or of the last one
}

// Raise asks a node, in place of the one before. The caller sends the question, with its number.
func (b *Barrier) Raise(to remote.NodeID) {
	b.to = to
	b.number++
}

// Up reports whether a question is under way.
func (b *Barrier) Up() bool { return b.to != remote.NodeID{} }

// To returns the node that is asked; zero when no question is under way.
func (b *Barrier) To() remote.NodeID { return b.to }

// Number returns the number of the question under way, or of the last one; zero before the first.
func (b *Barrier) Number() uint64 { return b.number }

// Pass notes an answer. It reports whether that belongs to the question under way.
func (b *Barrier) Pass(number uint64) bool {
	if !b.Up() || number != b.number {
		return false
	}
	b.to = remote.NodeID{}
	return true
}
