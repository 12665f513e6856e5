package recall

import (
	"time"

	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/remote"
)

// A Buffer keeps the messages that were sent on one node along a route, in order. The zero Buffer
// has no route.
//
// A message is always with one node: this one, or the one it was sent to. When the route changes,
// the messages that are still with the former node are recalled. New ones wait until that node has
// answered that it has returned all, and the returned ones go first.
type Buffer[M any] struct {
	route   Route
	sentTo  remote.NodeID // the node that may have messages of ours; zero when none has
	recall  Barrier       // to sentTo
	refused bool          // the node of the route has returned something: wait a moment

	returned fifo.Queue[M]
	held     fifo.Queue[M]
	kept     uint64 // how many messages have ever waited
	sends    uint64 // how many have been sent to other nodes
}

// Route returns where messages go now.
func (b *Buffer[M]) Route() Route { return b.route }

// Clear reports whether a new message can be sent at once. The caller then sends it and calls
// [Buffer.Sent].
func (b *Buffer[M]) Clear() bool { return b.passable() && b.Size() == 0 }

func (b *Buffer[M]) passable() bool {
	return !b.recall.Up() && (b.route.Kind == ToInstance || b.route.Kind == ToPeer && !b.refused)
}

// Sent notes that a message goes along the route, new or from [Buffer.Next].
func (b *Buffer[M]) Sent() {
	if b.route.Kind == ToPeer {
		b.sentTo = b.route.Peer
		b.sends++
	}
}

// Hold keeps a message that was sent here.
func (b *Buffer[M]) Hold(msg M) {
	b.held.Push(msg)
	b.kept++
}

// Returned keeps a message of ours that peer has returned. If it was not recalled, recall is
// true: the others must be recalled.
func (b *Buffer[M]) Returned(peer remote.NodeID, msg M) (recall bool) {
	b.returned.Push(msg)
	b.kept++
	b.refused = b.refused || peer == b.sentTo && !b.recall.Up()
	return b.RecallFrom(peer)
}

// Shrink takes out the oldest messages beyond a limit.
func (b *Buffer[M]) Shrink(limit int) (over []M) {
	for b.Size() > limit {
		oldest := &b.held
		if b.returned.Len() > 0 {
			oldest = &b.returned
		}
		over = append(over, oldest.Pop())
	}
	return over
}

// Size returns how many messages wait now.
func (b *Buffer[M]) Size() int { return b.returned.Len() + b.held.Len() }

// Redirect changes the route. It reports whether messages must be recalled, because the former node
// of the route may have some of ours.
func (b *Buffer[M]) Redirect(r Route) (recall bool) {
	b.refused = b.refused && r == b.route
	b.route = r
	elsewhere := r.Kind == ToInstance || r.Kind == ToPeer && r.Peer != b.sentTo
	return elsewhere && b.RecallFrom(b.sentTo)
}

// RecallFrom begins to recall the messages that peer may have, if it has any and no recall is under
// way. It reports whether it did.
func (b *Buffer[M]) RecallFrom(peer remote.NodeID) bool {
	if b.recall.Up() || b.sentTo != peer || peer == (remote.NodeID{}) {
		return false
	}
	b.recall.Raise(peer)
	return true
}

// Recalled notes the answer to the recall with that number. An answer to an earlier one is ignored.
func (b *Buffer[M]) Recalled(number uint64) {
	if b.recall.Pass(number) {
		b.sentTo = remote.NodeID{}
	}
}

// Messages that come back later are no longer in order.
func (b *Buffer[M]) giveUpRecall() { b.recall.to, b.sentTo = remote.NodeID{}, remote.NodeID{} }

// How long a recall is repeated with a node that is lost, and with one that has left and may still
// return what it has.
const (
	recallPatience    = 100 * time.Millisecond
	recallPatienceEnd = time.Second
)

// TryAgain retries after messages have waited for so long. lost and reachable describe the node of
// [Buffer.SentTo]: whether it may still be running although it cannot be reached, and whether it is
// a member that can be reached. TryAgain reports whether the recall is to be sent again; it gives
// up a recall from a node that has not been reachable for some time.
func (b *Buffer[M]) TryAgain(waited time.Duration, lost, reachable bool) (recall bool) {
	if !b.recall.Up() {
		b.refused = false
		return false
	}
	if givesUp(waited, lost, reachable) {
		b.giveUpRecall()
		return false
	}
	return true
}

// givesUp reports whether a node is not asked any more that has not answered for so long.
func givesUp(waited time.Duration, lost, reachable bool) bool {
	patience := recallPatienceEnd
	if lost {
		patience = recallPatience
	}
	return !reachable && waited >= patience
}

// Next takes out the message that can be sent now, if any.
func (b *Buffer[M]) Next() (msg M, ok bool) {
	switch {
	case !b.passable():
		return msg, false
	case b.returned.Len() > 0:
		return b.returned.Pop(), true
	case b.held.Len() > 0:
		return b.held.Pop(), true
	}
	return msg, false
}

// Remove takes out the oldest messages for which gone is true, up to the first for which it is not.
func (b *Buffer[M]) Remove(gone func(M) bool) (removed []M) {
	for _, of := range []*fifo.Queue[M]{&b.returned, &b.held} {
		for of.Len() > 0 && gone(of.At(0)) {
			removed = append(removed, of.Pop())
		}
	}
	return removed
}

// Sweep takes out all messages for which gone is true.
func (b *Buffer[M]) Sweep(gone func(M) bool) (removed []M) {
	return append(b.returned.Remove(gone), b.held.Remove(gone)...)
}

// Oldest returns the messages that have waited the longest: of those that came back, and of the
// others.
func (b *Buffer[M]) Oldest() (all []M) {
	for _, of := range []*fifo.Queue[M]{&b.returned, &b.held} {
		if of.Len() > 0 {
			all = append(all, of.At(0))
		}
	}
	return all
}

// Drain empties the buffer and returns what was in it.
func (b *Buffer[M]) Drain() []M { return append(b.returned.Drain(), b.held.Drain()...) }

// Kept returns how many messages have ever waited. A message that comes back counts once more.
func (b *Buffer[M]) Kept() uint64 { return b.kept }

// Sends returns how many messages have ever been sent to other nodes.
func (b *Buffer[M]) Sends() uint64 { return b.sends }

// SentTo returns the node that may have messages of ours; zero when none has.
func (b *Buffer[M]) SentTo() remote.NodeID { return b.sentTo }

// A Route is where a node currently sends messages.
type Route struct {
	Kind RouteKind
	Peer remote.NodeID // for ToPeer
}

// A RouteKind is a kind of [Route].
type RouteKind uint8

// The kinds of routes.
const (
	NoRoute    RouteKind = iota // buffer the messages sent here, return those of other nodes
	ToSelf                      // buffer both: the instance is about to be here, or is stopping
	ToInstance                  // the instance is here
	ToPeer                      // it is on another node; return what others have sent
)
