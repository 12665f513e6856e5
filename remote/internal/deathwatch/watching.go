package deathwatch

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/node"
)

const (
	quick    = time.Second      // between checks until one is answered by "the same"
	steady   = 5 * time.Second  // and then
	patience = 10 * time.Second // with a silent address at which no member lives
	chunk    = 200              // watches in one message
)

// A watching is what this node watches elsewhere. It is pure: what is to be sent is
// collected in post, which watches have ended in over, and where nobody is known to be gone any
// more in back, for the shell to take.
type watching struct {
	self    node.ID
	last    uint64 // number of a watch, or of a check
	places  map[string]*place
	members members

	post []parcel
	over []uint64
	back []string // addresses
}

// A parcel is a message for the watcher at an address.
type parcel struct {
	to  string
	msg any
}

// A place is an address at which something is watched.
type place struct {
	address string
	watches map[uint64]*watched
	sum     digest
	asked   uint64    // the last check
	due     time.Time // of the next
	heard   time.Time // when it was last known to answer, or since when that counts
	met     uint64    // the incarnation that has answered last; 0 for none
}

// A watched is one watch. It is confirmed when a check that was made after it has been
// answered by "the same".
type watched struct {
	target wireTarget
	by     uint64 // the incarnation that has confirmed it; 0 for none
	check  uint64 // the last one that confirmed it, or any that came before it
}

func newWatching(self node.ID) *watching {
	return &watching{self: self, places: make(map[string]*place)}
}

// watch begins a watch and returns its number. That of an actor whose process is gone ends at
// once.
func (w *watching) watch(address, path string, uid uint64, now time.Time) uint64 {
	if w.isGone(address, uid) {
		w.last++
		w.over = append(w.over, w.last)
		return w.last
	}
	p := w.places[address]
	fresh := p == nil
	if fresh {
		p = &place{address: address, watches: make(map[uint64]*watched), heard: now}
		w.places[address] = p
	}
	w.last++
	target := wireTarget{Number: w.last, Path: path, UID: uid}
	p.watches[w.last] = &watched{target: target, check: w.last}
	p.sum.add(w.last)
	p.soon(now)
	w.send(address, wireWatch{From: w.self, At: address, Fresh: fresh, Watches: []wireTarget{target}})
	return w.last
}

// soon sees that a check comes before long.
func (p *place) soon(now time.Time) {
	if soon := now.Add(quick); p.due.IsZero() || p.due.After(soon) {
		p.due = soon
	}
}

// unwatch ends a watch of which nobody wants to hear any more.
func (w *watching) unwatch(address string, number uint64) {
	if w.remove(address, number) {
		w.send(address, wireUnwatch{From: w.self, At: address, Numbers: []uint64{number}})
	}
}

func (w *watching) remove(address string, number uint64) bool {
	p := w.places[address]
	if p == nil || p.watches[number] == nil {
		return false
	}
	delete(p.watches, number)
	p.sum.remove(number)
	if len(p.watches) == 0 {
		delete(w.places, address)
	}
	return true
}

func (w *watching) send(to string, msg any) { w.post = append(w.post, parcel{to, msg}) }

// ended takes the news that what was watched has ended, and says that it was heard, also
// if it was heard before.
func (w *watching) ended(msg wireEnded) {
	if msg.To != w.self {
		return
	}
	for _, number := range msg.Numbers {
		w.end(msg.At, number)
	}
	w.send(msg.At, wireUnwatch{From: w.self, At: msg.At, Numbers: msg.Numbers})
}

func (w *watching) end(address string, number uint64) {
	if w.remove(address, number) {
		w.over = append(w.over, number)
	}
}

// checked takes the answer to a check.
func (w *watching) checked(msg wireChecked, now time.Time) {
	p := w.places[msg.At]
	if p == nil || msg.To != w.self {
		return
	}
	p.heard, p.met = now, msg.From.Incarnation
	w.replaced(p, msg)
	switch {
	case msg.Same:
		p.confirm(msg)
		if msg.Check == p.asked {
			p.due = now.Add(steady)
		}
	case msg.Check == p.asked:
		w.tellAll(p)
	}
}

// replaced ends the watches that another incarnation than the one that answers has
// confirmed, if it did so before: it is gone.
func (w *watching) replaced(p *place, msg wireChecked) {
	for _, number := range slices.Sorted(maps.Keys(p.watches)) {
		if x := p.watches[number]; x.by != 0 && x.by != msg.From.Incarnation && x.check < msg.Check {
			w.end(p.address, number)
			w.send(p.address, wireUnwatch{From: w.self, At: p.address, Numbers: []uint64{number}})
		}
	}
}

// confirm notes which watches the other node knows.
func (p *place) confirm(msg wireChecked) {
	for _, x := range p.watches {
		if x.check < msg.Check {
			x.by, x.check = msg.From.Incarnation, msg.Check
		}
	}
}

// tellAll tells a node all that is watched there.
func (w *watching) tellAll(p *place) {
	fresh := true
	for numbers := range slices.Chunk(slices.Sorted(maps.Keys(p.watches)), chunk) {
		msg := wireWatch{From: w.self, At: p.address, Fresh: fresh}
		for _, number := range numbers {
			msg.Watches = append(msg.Watches, p.watches[number].target)
		}
		w.send(p.address, msg)
		fresh = false
	}
}

// tick sends the checks that are due, and ends the watches at addresses that have been
// silent for too long.
func (w *watching) tick(now time.Time) {
	for _, address := range slices.Sorted(maps.Keys(w.places)) {
		p := w.places[address]
		switch {
		case w.abandoned(p, now):
			w.endAll(p, func(*watched) bool { return true })
		case !now.Before(p.due):
			w.check(p)
			p.due = now.Add(quick)
		}
	}
}

func (w *watching) check(p *place) {
	w.last++
	p.asked = w.last
	w.send(p.address, wireCheck{From: w.self, At: p.address, Check: p.asked, Sum: p.sum})
}

// abandoned reports whether nobody lives at an address, as far as this node can know.
func (w *watching) abandoned(p *place, now time.Time) bool {
	_, member := w.members.all[p.address]
	return w.members.known && !member && now.Sub(p.heard) >= patience
}

// endAll ends the watches at a place for which that holds.
func (w *watching) endAll(p *place, which func(*watched) bool) {
	for _, number := range slices.Sorted(maps.Keys(p.watches)) {
		if which(p.watches[number]) {
			w.end(p.address, number)
		}
	}
}

// next returns when there is something to do by itself; the zero time is never.
func (w *watching) next() (at time.Time) {
	for _, p := range w.places {
		if at.IsZero() || p.due.Before(at) {
			at = p.due
		}
	}
	return at
}
