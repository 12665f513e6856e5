package deathwatch

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/remote"
)

const (
	checkInterval  = time.Second      // between checks until one is answered by "the same"
	steadyInterval = 5 * time.Second  // and then
	silenceTimeout = 10 * time.Second // with a silent address at which no member lives
	maxBatch       = 200              // watches in one message
)

// The shell takes the messages in post, the watches that have ended in over, and the addresses
// whose former member may live in back.
type outgoing struct {
	self      remote.NodeID
	last      uint64 // number of a watch, or of a check
	byAddress map[string]*peerWatches
	members   members

	post []outMessage
	over []uint64
	back []string
}

type outMessage struct {
	to  string
	msg any
}

type peerWatches struct {
	address string
	watches map[uint64]*outgoingWatch
	sum     digest
	asked   uint64    // the last check
	due     time.Time // of the next
	heard   time.Time // when it was last known to answer, or since when that counts
	met     uint64    // the incarnation that has answered last; 0 for none
}

// An outgoingWatch is confirmed when a check that was made after it was answered with "the same".
type outgoingWatch struct {
	target wireTarget
	by     uint64 // the incarnation that has confirmed it; 0 for none
	check  uint64 // the last one that confirmed it, or any that came before it
}

func newOutgoing(self remote.NodeID) *outgoing {
	return &outgoing{self: self, byAddress: make(map[string]*peerWatches)}
}

// A watch of an actor whose process is gone ends at once.
func (w *outgoing) watch(address, path string, uid uint64, now time.Time) uint64 {
	if w.isGone(address, uid) {
		w.last++
		w.over = append(w.over, w.last)
		return w.last
	}
	p := w.byAddress[address]
	fresh := p == nil
	if fresh {
		p = &peerWatches{address: address, watches: make(map[uint64]*outgoingWatch), heard: now}
		w.byAddress[address] = p
	}
	w.last++
	target := wireTarget{Number: w.last, Path: path, UID: uid}
	p.watches[w.last] = &outgoingWatch{target: target, check: w.last}
	p.sum.add(w.last)
	p.soon(now)
	w.send(address, wireWatch{From: w.self, At: address, Fresh: fresh, Watches: []wireTarget{target}})
	return w.last
}

func (p *peerWatches) soon(now time.Time) {
	if soon := now.Add(checkInterval); p.due.IsZero() || p.due.After(soon) {
		p.due = soon
	}
}

func (w *outgoing) unwatch(address string, number uint64) {
	if w.remove(address, number) {
		w.send(address, wireUnwatch{From: w.self, At: address, Numbers: []uint64{number}})
	}
}

func (w *outgoing) remove(address string, number uint64) bool {
	p := w.byAddress[address]
	if p == nil || p.watches[number] == nil {
		return false
	}
	delete(p.watches, number)
	p.sum.remove(number)
	if len(p.watches) == 0 {
		delete(w.byAddress, address)
	}
	return true
}

func (w *outgoing) send(to string, msg any) { w.post = append(w.post, outMessage{to, msg}) }

// ended acknowledges even an end that was known.
func (w *outgoing) ended(msg wireEnded) {
	if msg.To != w.self {
		return
	}
	for _, number := range msg.Numbers {
		w.end(msg.At, number)
	}
	w.send(msg.At, wireUnwatch{From: w.self, At: msg.At, Numbers: msg.Numbers})
}

func (w *outgoing) end(address string, number uint64) {
	if w.remove(address, number) {
		w.over = append(w.over, number)
	}
}

func (w *outgoing) checked(msg wireChecked, now time.Time) {
	p := w.byAddress[msg.At]
	if p == nil || msg.To != w.self {
		return
	}
	p.heard, p.met = now, msg.From.Incarnation
	w.replaced(p, msg)
	switch {
	case msg.Same:
		p.confirm(msg)
		if msg.Check == p.asked {
			p.due = now.Add(steadyInterval)
		}
	// The answer to an earlier check says nothing of the watches that were sent since.
	case msg.Check == p.asked:
		w.resendAll(p)
	}
}

// An earlier incarnation that has confirmed watches is gone.
func (w *outgoing) replaced(p *peerWatches, msg wireChecked) {
	for _, number := range slices.Sorted(maps.Keys(p.watches)) {
		// Watches and checks have numbers of one sequence. A check with a greater number than what
		// has confirmed the watch was therefore made later, and its answer shows that the
		// confirming incarnation has been replaced. An older answer shows nothing.
		if x := p.watches[number]; x.by != 0 && x.by != msg.From.Incarnation && x.check < msg.Check {
			w.end(p.address, number)
			w.send(p.address, wireUnwatch{From: w.self, At: p.address, Numbers: []uint64{number}})
		}
	}
}

func (p *peerWatches) confirm(msg wireChecked) {
	for _, x := range p.watches {
		if x.check < msg.Check {
			x.by, x.check = msg.From.Incarnation, msg.Check
		}
	}
}

func (w *outgoing) resendAll(p *peerWatches) {
	fresh := true
	for numbers := range slices.Chunk(slices.Sorted(maps.Keys(p.watches)), maxBatch) {
		msg := wireWatch{From: w.self, At: p.address, Fresh: fresh}
		for _, number := range numbers {
			msg.Watches = append(msg.Watches, p.watches[number].target)
		}
		w.send(p.address, msg)
		fresh = false
	}
}

func (w *outgoing) tick(now time.Time) {
	for _, address := range slices.Sorted(maps.Keys(w.byAddress)) {
		p := w.byAddress[address]
		switch {
		case w.abandoned(p, now):
			w.endAll(p, func(*outgoingWatch) bool { return true })
		case !now.Before(p.due):
			w.check(p)
			p.due = now.Add(checkInterval)
		}
	}
}

func (w *outgoing) check(p *peerWatches) {
	w.last++
	p.asked = w.last
	w.send(p.address, wireCheck{From: w.self, At: p.address, Check: p.asked, Sum: p.sum})
}

// As far as this node can know, no node is at the address.
func (w *outgoing) abandoned(p *peerWatches, now time.Time) bool {
	_, member := w.members.all[p.address]
	return w.members.known && !member && now.Sub(p.heard) >= silenceTimeout
}

func (w *outgoing) endAll(p *peerWatches, which func(*outgoingWatch) bool) {
	for _, number := range slices.Sorted(maps.Keys(p.watches)) {
		if which(p.watches[number]) {
			w.end(p.address, number)
		}
	}
}

// The zero time means never.
func (w *outgoing) next() (at time.Time) {
	for _, p := range w.byAddress {
		if at.IsZero() || p.due.Before(at) {
			at = p.due
		}
	}
	return at
}
