package handover

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/remote"
)

// A remoteBuffer keeps the messages that other nodes have sent here while this node is about to
// host, or is just stopping its instance. Those of one node are in order, and bounded. They stay
// encoded, because they may be returned.
type remoteBuffer struct {
	limit   int // per node
	queues  []*remoteQueue
	removed []remote.NodeID // the last members to have been removed
}

const keptRemoved = 100

type remoteQueue struct {
	from  remote.NodeID
	items fifo.Queue[Waiting]
}

// hold keeps a message of a node. Without room the oldest of that node is returned.
func (r *remoteBuffer) hold(from remote.NodeID, w Waiting) (over []Waiting) {
	if r.limit == 0 {
		return []Waiting{w}
	}
	q := r.queue(from)
	if q.items.Len() == r.limit {
		over = append(over, q.items.Pop())
	}
	q.items.Push(w)
	return over
}

func (r *remoteBuffer) queue(from remote.NodeID) *remoteQueue {
	for _, q := range r.queues {
		if q.from == from {
			return q
		}
	}
	q := &remoteQueue{from: from}
	r.queues = append(r.queues, q)
	return q
}

// view notes which members were removed between two views of one incarnation of this node.
func (r *remoteBuffer) view(was, is *directory.Topology) {
	if was.Self != is.Self {
		r.removed = nil // the first views of another incarnation do not have all members
		return
	}
	for _, p := range was.Members {
		if _, member := is.Member(p.ID); !member {
			r.removed = append(r.removed[max(0, len(r.removed)-keptRemoved+1):], p.ID)
		}
	}
}

// wasRemoved reports whether a node was a member and has been removed. An unknown node that has
// sent something is more likely to be newer than the view.
func (r *remoteBuffer) wasRemoved(id remote.NodeID) bool { return slices.Contains(r.removed, id) }

// takeFrom takes out the messages of the node at an address, whatever its incarnation was when it
// sent them.
func (r *remoteBuffer) takeFrom(address string) []Waiting {
	var taken []Waiting
	var others []*remoteQueue
	for _, q := range r.queues {
		if q.from.Address == address {
			taken = append(taken, q.items.Drain()...)
		} else {
			others = append(others, q)
		}
	}
	r.queues = others
	return taken
}

// expire takes out the messages that have expired.
func (r *remoteBuffer) expire(now time.Time) (all []Waiting) {
	for _, q := range r.queues {
		for q.items.Len() > 0 && q.items.At(0).Expired(now) {
			all = append(all, q.items.Pop())
		}
	}
	return all
}

func (r *remoteBuffer) nextExpiry() (next time.Time) {
	for _, q := range r.queues {
		if q.items.Len() > 0 {
			next = recall.Earliest(next, q.items.At(0).Until)
		}
	}
	return next
}

func (r *remoteBuffer) has(from remote.NodeID) bool {
	for _, q := range r.queues {
		if q.from == from && q.items.Len() > 0 {
			return true
		}
	}
	return false
}

func (r *remoteBuffer) takeAll() []*remoteQueue {
	all := r.queues
	r.queues = nil
	return all
}

func (r *remoteBuffer) size() int {
	n := 0
	for _, q := range r.queues {
		n += q.items.Len()
	}
	return n
}
