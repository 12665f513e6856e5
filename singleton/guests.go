package singleton

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/node"
)

// guests are messages that other nodes have sent here while this node is about to host,
// or just ends to. Those of one node are in order, and bounded. They stay encoded, as
// they may be given back.
type guests struct {
	limit int // per node
	boxes []*guestBox
	left  []node.ID // the last members to have been removed
}

// keptLeft is how many are remembered.
const keptLeft = 100

type guestBox struct {
	from  node.ID
	items fifo.Queue[waiting[extension.Payload]]
}

// lodge keeps a message of a node, until a time; the oldest of that node gives way when there
// is no room.
func (g *guests) lodge(from node.ID, p extension.Payload, until time.Time) (over extension.Payload, overflow bool) {
	if g.limit == 0 {
		return p, true
	}
	b := g.box(from)
	if b.items.Len() == g.limit {
		over, overflow = b.items.Pop().Message, true
	}
	b.items.Push(waiting[extension.Payload]{Held: extension.Held[extension.Payload]{Message: p}, until: until})
	return over, overflow
}

func (g *guests) box(from node.ID) *guestBox {
	for _, b := range g.boxes {
		if b.from == from {
			return b
		}
	}
	b := &guestBox{from: from}
	g.boxes = append(g.boxes, b)
	return b
}

// view notes who has been removed between two views of one incarnation of this node.
func (g *guests) view(was, is *Topology) {
	if was.Self != is.Self {
		g.left = nil // the first views of another do not know everybody
		return
	}
	for _, p := range was.Members {
		if _, member := is.member(p.ID); !member {
			g.left = append(g.left[max(0, len(g.left)-keptLeft+1):], p.ID)
		}
	}
}

// hasLeft reports whether a node was a member and is none any more. Who is unknown, and has
// sent something, is rather a newer one than the view.
func (g *guests) hasLeft(id node.ID) bool { return slices.Contains(g.left, id) }

// takeFrom takes out the messages of the node at an address, whatever its incarnation
// was when it sent them.
func (g *guests) takeFrom(address string) []extension.Payload {
	var taken []extension.Payload
	var others []*guestBox
	for _, b := range g.boxes {
		if b.from.Address == address {
			taken = append(taken, b.drain()...)
		} else {
			others = append(others, b)
		}
	}
	g.boxes = others
	return taken
}

// drain empties the box.
func (b *guestBox) drain() (taken []extension.Payload) {
	for _, w := range b.items.Drain() {
		taken = append(taken, w.Message)
	}
	return taken
}

// remove takes out the messages that gone says, of each node from the oldest on.
func (g *guests) remove(gone func(waiting[extension.Payload]) bool) (removed []extension.Payload) {
	for _, b := range g.boxes {
		for b.items.Len() > 0 && gone(b.items.At(0)) {
			removed = append(removed, b.items.Pop().Message)
		}
	}
	return removed
}

// expiries returns when the oldest message of each node expires.
func (g *guests) expiries() (times []time.Time) {
	for _, b := range g.boxes {
		if b.items.Len() > 0 {
			times = append(times, b.items.At(0).until)
		}
	}
	return times
}

// has reports whether there are messages of a node.
func (g *guests) has(from node.ID) bool {
	for _, b := range g.boxes {
		if b.from == from && b.items.Len() > 0 {
			return true
		}
	}
	return false
}

// takeAll takes out everything.
func (g *guests) takeAll() []*guestBox {
	all := g.boxes
	g.boxes = nil
	return all
}

func (g *guests) size() int {
	n := 0
	for _, b := range g.boxes {
		n += b.items.Len()
	}
	return n
}
