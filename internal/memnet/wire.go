package memnet

import (
	"container/heap"
	"time"

	"github.com/understudy-go/understudy/internal/bubble"
)

type transmission struct {
	link        link
	sender      *Host  // nil for an answer of the network itself
	stream      bool   // of a stream, not a datagram
	retransmits bool   // waits for a cut to heal: TCP retransmits
	arrive      func() // called with Network.mu held
	due         time.Time
	seq         uint64 // order among equals
}

// One timer serves all transmissions in flight.
type wire struct {
	flying transmissions
	held   []*transmission // stopped by a fault, in order
	seq    uint64
	timer  *time.Timer
}

// p is due after the delay of its link, but not before p.due, which keeps streams in order.
func (n *Network) send(p *transmission) {
	due := time.Now().Add(n.latency(p.link))
	if due.After(p.due) {
		p.due = due
	}
	n.wire.seq++
	p.seq = n.wire.seq
	heap.Push(&n.wire.flying, p)
	n.arm()
}

func (n *Network) arm() {
	w := &n.wire
	if n.closed || len(w.flying) == 0 {
		return
	}
	wait := bubble.Wait(time.Until(w.flying[0].due))
	if w.timer == nil {
		w.timer = time.AfterFunc(wait, n.deliver)
		return
	}
	w.timer.Reset(wait)
}

func (n *Network) deliver() {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	for len(n.wire.flying) > 0 && !n.wire.flying[0].due.After(now) {
		n.handOver(heap.Pop(&n.wire.flying).(*transmission))
	}
	n.arm()
}

func (n *Network) handOver(p *transmission) {
	cut := n.faults.cut(p.link, p.stream)
	switch {
	case cut && !p.retransmits:
	case cut || n.faults.frozen(p.link):
		n.wire.held = append(n.wire.held, p)
	default:
		p.arrive()
	}
}

// The transmissions keep their numbers, so that they arrive before later traffic. Transmissions of
// a crashed host are not repeated.
func (n *Network) release() {
	for _, p := range n.wire.held {
		if p.sender == nil || !p.sender.failed {
			heap.Push(&n.wire.flying, p)
		}
	}
	n.wire.held = nil
	n.arm()
}

func (w *wire) clear() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.flying, w.held = nil, nil
}

// The first due is first.
type transmissions []*transmission

func (p transmissions) Len() int { return len(p) }

func (p transmissions) Less(i, j int) bool {
	if p[i].due.Equal(p[j].due) {
		return p[i].seq < p[j].seq
	}
	return p[i].due.Before(p[j].due)
}

func (p transmissions) Swap(i, j int) { p[i], p[j] = p[j], p[i] }

func (p *transmissions) Push(x any) { *p = append(*p, x.(*transmission)) }

func (p *transmissions) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	(*p)[last] = nil
	*p = (*p)[:last]
	return x
}
