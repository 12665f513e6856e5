package handover

import (
	"time"

	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

// A Route is where a manager currently sends messages.
type Route struct {
	Kind RouteKind
	Peer node.ID // for ToPeer
}

// A RouteKind is a kind of [Route].
type RouteKind uint8

// The kinds of routes.
const (
	ToNobody   RouteKind = iota // buffer the messages sent here, return those of other nodes
	ToSelf                      // buffer both: the instance is about to be here, or is stopping
	ToInstance                  // the instance is here
	ToPeer                      // it is on another node; return what others have sent
)

// A buffer keeps the messages that were sent to one manager, in order and up to a limit.
//
// A message is always with one node: this one, or the one it was sent to. When the route changes,
// the messages that are still with the former node are recalled. New ones wait until that node has
// answered that it has returned all, and the returned ones go first.
type buffer[M any] struct {
	limit int
	route Route

	sentTo  node.ID // the node that may have messages of ours; zero when none has
	recall  barrier // to sentTo
	refused bool    // the node of the route has returned something: wait a moment

	returned fifo.Queue[M]
	held     fifo.Queue[M]
	kept     uint64 // how many messages have ever waited
	sends    uint64 // how many have been sent to other nodes
}

// clear reports whether a new message can be sent at once. The caller then sends it and calls sent.
func (b *buffer[M]) clear() bool { return b.passable() && b.size() == 0 }

func (b *buffer[M]) passable() bool {
	return !b.recall.up() && (b.route.Kind == ToInstance || b.route.Kind == ToPeer && !b.refused)
}

// sent notes that a message goes along the route.
func (b *buffer[M]) sent() {
	if b.route.Kind == ToPeer {
		b.sentTo = b.route.Peer
		b.sends++
	}
}

// hold keeps a message that was sent here. It returns the messages for which there is no more room.
func (b *buffer[M]) hold(msg M) (over []M) {
	b.held.Push(msg)
	b.kept++
	return b.shrink()
}

// returnedBy keeps a message of ours that peer has returned. If it was not recalled, recall is
// true: the others must be recalled.
func (b *buffer[M]) returnedBy(peer node.ID, msg M) (over []M, recall bool) {
	b.returned.Push(msg)
	b.kept++
	if !b.recall.up() && peer == b.sentTo {
		b.refused = true
		b.recall.raise(b.sentTo)
		recall = true
	}
	return b.shrink(), recall
}

// shrink takes out the oldest messages beyond the limit.
func (b *buffer[M]) shrink() (over []M) {
	for b.size() > b.limit {
		oldest := &b.held
		if b.returned.Len() > 0 {
			oldest = &b.returned
		}
		over = append(over, oldest.Pop())
	}
	return over
}

func (b *buffer[M]) size() int { return b.returned.Len() + b.held.Len() }

// redirect changes the route. It reports whether messages must be recalled, because the former node
// of the route may have some of ours.
func (b *buffer[M]) redirect(r Route) (recall bool) {
	b.refused = b.refused && r == b.route
	b.route = r
	elsewhere := r.Kind == ToInstance || r.Kind == ToPeer && r.Peer != b.sentTo
	return elsewhere && b.recallFrom(b.sentTo)
}

// recallFrom begins to recall the messages that peer may have, if it has any and no recall is under
// way. It reports whether it did.
func (b *buffer[M]) recallFrom(peer node.ID) bool {
	if b.recall.up() || b.sentTo != peer || peer == (node.ID{}) {
		return false
	}
	b.recall.raise(peer)
	return true
}

// recalled notes the answer to a recall.
func (b *buffer[M]) recalled(number uint64) {
	if b.recall.pass(number) {
		b.sentTo = node.ID{}
	}
}

// giveUpRecall lets messages go again. Those that come back later are no longer in order.
func (b *buffer[M]) giveUpRecall() { b.recall.to, b.sentTo = node.ID{}, node.ID{} }

// retry lets messages go again to a node that has returned some.
func (b *buffer[M]) retry() { b.refused = false }

// How long a recall is repeated with a node that is lost, and with one that has left and may still
// return what it has.
const (
	recallPatience    = 100 * time.Millisecond
	recallPatienceEnd = time.Second
)

// tryAgain retries after messages have waited for so long. It reports whether the recall is to be
// sent again.
func (b *buffer[M]) tryAgain(waited time.Duration, topo *singletonhook.Topology) (recall bool) {
	if !b.recall.up() {
		b.retry()
		return false
	}
	patience := recallPatienceEnd
	if topo.Lost(b.sentTo) {
		patience = recallPatience
	}
	if !topo.Reachable(b.sentTo) && waited >= patience {
		b.giveUpRecall()
		return false
	}
	return true
}

// next takes out the message that can be sent now, if any.
func (b *buffer[M]) next() (msg M, ok bool) {
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

// remove takes out the oldest messages for which gone is true, up to the first for which it is not.
func (b *buffer[M]) remove(gone func(M) bool) (removed []M) {
	for _, of := range []*fifo.Queue[M]{&b.returned, &b.held} {
		for of.Len() > 0 && gone(of.At(0)) {
			removed = append(removed, of.Pop())
		}
	}
	return removed
}

// sweep takes out all messages for which gone is true, when there is no room for another.
func (b *buffer[M]) sweep(gone func(M) bool) (removed []M) {
	if b.size() < b.limit {
		return nil
	}
	return append(b.returned.Remove(gone), b.held.Remove(gone)...)
}

// oldest returns the messages that have waited the longest: of those that came back, and of the
// others.
func (b *buffer[M]) oldest() (all []M) {
	for _, of := range []*fifo.Queue[M]{&b.returned, &b.held} {
		if of.Len() > 0 {
			all = append(all, of.At(0))
		}
	}
	return all
}

// drain empties the buffer and returns what was in it.
func (b *buffer[M]) drain() []M { return append(b.returned.Drain(), b.held.Drain()...) }
