package singleton

import (
	"time"

	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/node"
)

// A route is where a manager sends messages at the moment.
type route struct {
	kind routeKind
	peer node.ID // of toPeer
}

type routeKind uint8

const (
	toNobody   routeKind = iota // keep what was told here, give back what others have sent
	toSelf                      // keep both: the instance is about to be here, or just goes
	toInstance                  // it is here
	toPeer                      // it is there; give back what others have sent
)

// mail keeps the messages that were told to one manager in order, and bounded. It is pure.
//
// A message is always with one node: this one, or the one it was sent to. When the route
// changes, what is still with the node it led to is called back: a gate closes, behind
// which new messages wait, and opens when that node says that it has given back
// everything. What has come back goes first.
type mail[M any] struct {
	limit int
	route route

	sentTo  node.ID // who may have messages of ours; zero when nobody has
	recall  uint64  // number of the recall under way, or of the last one
	closed  bool    // a recall from sentTo is under way
	refused bool    // the node of the route has given back something: wait a moment

	early fifo.Queue[M] // came back
	held  fifo.Queue[M]
	kept  uint64 // how many have ever waited
	sends uint64 // how many have been sent to other nodes
}

// clear reports whether a message that is told now can go at once. It is then to be
// sent, see sent.
func (q *mail[M]) clear() bool { return q.passable() && q.size() == 0 }

func (q *mail[M]) passable() bool {
	return !q.closed && (q.route.kind == toInstance || q.route.kind == toPeer && !q.refused)
}

// sent notes that a message goes along the route.
func (q *mail[M]) sent() {
	if q.route.kind == toPeer {
		q.sentTo = q.route.peer
		q.sends++
	}
}

// hold keeps a message that was told here. What has no room any more is returned.
func (q *mail[M]) hold(msg M) (over []M) {
	q.held.Push(msg)
	q.kept++
	return q.shrink()
}

// gaveBack keeps a message of ours that peer has given back. When that was not asked
// for, the rest is: then recall is true.
func (q *mail[M]) gaveBack(msg M, peer node.ID) (over []M, recall bool) {
	q.early.Push(msg)
	q.kept++
	if !q.closed && peer == q.sentTo {
		q.refused = true
		q.close()
		recall = true
	}
	return q.shrink(), recall
}

// shrink drops the oldest messages beyond the limit.
func (q *mail[M]) shrink() (over []M) {
	for q.size() > q.limit {
		oldest := &q.held
		if q.early.Len() > 0 {
			oldest = &q.early
		}
		over = append(over, oldest.Pop())
	}
	return over
}

func (q *mail[M]) size() int { return q.early.Len() + q.held.Len() }

// redirect changes the route. When it leads away from a node that may have messages of
// ours, they are to be recalled.
func (q *mail[M]) redirect(r route) (recall bool) {
	q.refused = q.refused && r == q.route
	q.route = r
	elsewhere := r.kind == toInstance || r.kind == toPeer && r.peer != q.sentTo
	if q.closed || q.sentTo == (node.ID{}) || !elsewhere {
		return false
	}
	q.close()
	return true
}

// part calls back what a node has that hosts no more, if it has any.
func (q *mail[M]) part(peer node.ID) (recall bool) {
	if q.closed || q.sentTo != peer {
		return false
	}
	q.close()
	return true
}

func (q *mail[M]) close() {
	q.closed = true
	q.recall++
}

// recalled opens the gate, when it is the latest recall that has been answered.
func (q *mail[M]) recalled(number uint64) {
	if q.closed && number == q.recall {
		q.open()
	}
}

// open opens the gate. What comes back later is no longer in order.
func (q *mail[M]) open() { q.closed, q.sentTo = false, node.ID{} }

// retry lets messages go again to a node that has given back some.
func (q *mail[M]) retry() { q.refused = false }

// How long a recall is tried with a node that is lost, and with one that has left: that one
// may still give back what it has.
const (
	recallPatience    = 100 * time.Millisecond
	recallPatienceEnd = time.Second
)

// lookAfter tries again what may have been in vain, after messages have been held up for so
// long. It reports whether the recall is to be sent again.
func (q *mail[M]) lookAfter(waited time.Duration, topo *Topology) (recall bool) {
	if !q.closed {
		q.retry()
		return false
	}
	patience := recallPatienceEnd
	if topo.lost(q.sentTo) {
		patience = recallPatience
	}
	if !topo.reachable(q.sentTo) && waited >= patience {
		q.open()
		return false
	}
	return true
}

// next takes out the message that can go now, if any.
func (q *mail[M]) next() (msg M, ok bool) {
	switch {
	case !q.passable():
		return msg, false
	case q.early.Len() > 0:
		return q.early.Pop(), true
	case q.held.Len() > 0:
		return q.held.Pop(), true
	}
	return msg, false
}

// remove takes out the messages that gone says, from the oldest on, up to the first that it does
// not.
func (q *mail[M]) remove(gone func(M) bool) (removed []M) {
	for _, of := range []*fifo.Queue[M]{&q.early, &q.held} {
		for of.Len() > 0 && gone(of.At(0)) {
			removed = append(removed, of.Pop())
		}
	}
	return removed
}

// sweep takes out the messages that gone says, wherever they are, when there is no room for more.
func (q *mail[M]) sweep(gone func(M) bool) (removed []M) {
	if q.size() < q.limit {
		return nil
	}
	return append(q.early.Remove(gone), q.held.Remove(gone)...)
}

// first returns the messages that have waited the longest: of those that came back, and of the
// others.
func (q *mail[M]) first() (all []M) {
	for _, of := range []*fifo.Queue[M]{&q.early, &q.held} {
		if of.Len() > 0 {
			all = append(all, of.At(0))
		}
	}
	return all
}

// drain empties the mail and returns what was in it.
func (q *mail[M]) drain() []M { return append(q.early.Drain(), q.held.Drain()...) }
