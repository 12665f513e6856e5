package deathwatch

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/node"
)

// forgetful is after how long nothing is known any more of a node that sends no checks.
const forgetful = time.Minute

// A hosting is what other nodes watch here. It is pure, like a watching: begun and dropped
// are for the shell to take.
type hosting struct {
	self   func() node.ID
	guests map[guestKey]*guest

	post    []parcel
	begun   []hosted
	dropped []hosted
}

// A guestKey is a node that watches something here, by an address of this node.
type guestKey struct{ address, at string }

// A guest is such a node.
type guest struct {
	from    node.ID
	at      string
	watches map[uint64]*watchHere
	sum     digest
	heard   time.Time
}

// A watchHere is one watch. After the end of what it watches it is kept until who watches
// has heard of that.
type watchHere struct {
	ended bool
	told  uint64 // how many checks there have been since
}

// A hosted names a watch, for the shell.
type hosted struct {
	from   node.ID
	at     string
	target wireTarget // of what was dropped, the number only
}

func newHosting(self func() node.ID) *hosting {
	return &hosting{self: self, guests: make(map[guestKey]*guest)}
}

// watch begins watches, but for those that are known.
func (h *hosting) watch(msg wireWatch, now time.Time) {
	key := guestKey{msg.From.Address, msg.At}
	g := h.guests[key]
	if g != nil && (msg.Fresh || g.from != msg.From) {
		h.drop(key)
		g = nil
	}
	if g == nil {
		g = &guest{from: msg.From, at: msg.At, watches: make(map[uint64]*watchHere)}
		h.guests[key] = g
	}
	g.heard = now
	for _, target := range msg.Watches {
		if g.watches[target.Number] != nil {
			continue
		}
		g.watches[target.Number] = &watchHere{}
		g.sum.add(target.Number)
		h.begun = append(h.begun, hosted{g.from, g.at, target})
	}
}

func (h *hosting) unwatch(msg wireUnwatch) {
	key := guestKey{msg.From.Address, msg.At}
	g := h.guests[key]
	if g == nil || g.from != msg.From {
		return
	}
	for _, number := range msg.Numbers {
		h.remove(g, number)
	}
	if len(g.watches) == 0 {
		delete(h.guests, key)
	}
}

func (h *hosting) remove(g *guest, number uint64) {
	x := g.watches[number]
	if x == nil {
		return
	}
	delete(g.watches, number)
	g.sum.remove(number)
	if !x.ended {
		h.dropped = append(h.dropped, hosted{g.from, g.at, wireTarget{Number: number}})
	}
}

// drop forgets a guest.
func (h *hosting) drop(key guestKey) {
	g := h.guests[key]
	for _, number := range slices.Sorted(maps.Keys(g.watches)) {
		h.remove(g, number)
	}
	delete(h.guests, key)
}

// ended notes that what is watched has ended, which the guest has been told.
func (h *hosting) ended(x hosted) {
	g := h.guests[guestKey{x.from.Address, x.at}]
	if g == nil || g.from != x.from {
		return
	}
	if watch := g.watches[x.target.Number]; watch != nil {
		watch.ended = true
	}
}

// check says whether the guest and this node know the same, and tells again of each end
// that should have been heard of by now.
func (h *hosting) check(msg wireCheck, now time.Time) {
	known := digest{}
	if g := h.guests[guestKey{msg.From.Address, msg.At}]; g != nil && g.from == msg.From {
		g.heard = now
		known = g.sum
		h.tellAgain(g)
	}
	h.send(msg.From, wireChecked{From: h.self(), To: msg.From, At: msg.At, Check: msg.Check, Same: known == msg.Sum})
}

// tellAgain repeats what was told before the check before this one.
func (h *hosting) tellAgain(g *guest) {
	var numbers []uint64
	for number, x := range g.watches {
		if !x.ended {
			continue
		}
		if x.told++; x.told > 1 {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	for some := range slices.Chunk(numbers, chunk) {
		h.send(g.from, wireEnded{To: g.from, At: g.at, Numbers: some})
	}
}

func (h *hosting) send(to node.ID, msg any) { h.post = append(h.post, parcel{to.Address, msg}) }

// gone forgets what a former member watches.
func (h *hosting) gone(p node.ID) {
	for key, g := range h.guests {
		if g.from == p {
			h.drop(key)
		}
	}
}

// tick forgets guests that have been silent for long.
func (h *hosting) tick(now time.Time) {
	for key, g := range h.guests {
		if now.Sub(g.heard) >= forgetful {
			h.drop(key)
		}
	}
}

// next returns when there is something to do by itself; the zero time is never.
func (h *hosting) next() (at time.Time) {
	for _, g := range h.guests {
		if due := g.heard.Add(forgetful); at.IsZero() || due.Before(at) {
			at = due
		}
	}
	return at
}
