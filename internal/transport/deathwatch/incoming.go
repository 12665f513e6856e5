package deathwatch

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/remote"
)

const watcherTTL = time.Minute

// The shell takes what is in post, begun and dropped.
type incoming struct {
	self           func() remote.NodeID
	remoteWatchers map[watcherKey]*remoteWatcher

	post    []outMessage
	begun   []incomingID
	dropped []incomingID
}

// The address at is one of this node.
type watcherKey struct{ address, at string }

type remoteWatcher struct {
	from    remote.NodeID
	at      string
	watches map[uint64]*incomingWatch
	sum     digest
	heard   time.Time
}

// After the end of the watched actor it is kept until the other node has acknowledged the end.
type incomingWatch struct {
	ended bool
	told  uint64 // how many checks have come since the end was sent
}

type incomingID struct {
	from   remote.NodeID
	at     string
	target wireTarget // of what was dropped, the number only
}

func newIncoming(self func() remote.NodeID) *incoming {
	return &incoming{self: self, remoteWatchers: make(map[watcherKey]*remoteWatcher)}
}

func (h *incoming) watch(msg wireWatch, now time.Time) {
	key := watcherKey{msg.From.Address, msg.At}
	g := h.remoteWatchers[key]
	if g != nil && (msg.Fresh || g.from != msg.From) {
		h.drop(key)
		g = nil
	}
	if g == nil {
		g = &remoteWatcher{from: msg.From, at: msg.At, watches: make(map[uint64]*incomingWatch)}
		h.remoteWatchers[key] = g
	}
	g.heard = now
	for _, target := range msg.Watches {
		if g.watches[target.Number] != nil {
			continue
		}
		g.watches[target.Number] = &incomingWatch{}
		g.sum.add(target.Number)
		h.begun = append(h.begun, incomingID{g.from, g.at, target})
	}
}

func (h *incoming) unwatch(msg wireUnwatch) {
	key := watcherKey{msg.From.Address, msg.At}
	g := h.remoteWatchers[key]
	if g == nil || g.from != msg.From {
		return
	}
	for _, number := range msg.Numbers {
		h.remove(g, number)
	}
	if len(g.watches) == 0 {
		delete(h.remoteWatchers, key)
	}
}

func (h *incoming) remove(g *remoteWatcher, number uint64) {
	x := g.watches[number]
	if x == nil {
		return
	}
	delete(g.watches, number)
	g.sum.remove(number)
	if !x.ended {
		h.dropped = append(h.dropped, incomingID{g.from, g.at, wireTarget{Number: number}})
	}
}

func (h *incoming) drop(key watcherKey) {
	g := h.remoteWatchers[key]
	for _, number := range slices.Sorted(maps.Keys(g.watches)) {
		h.remove(g, number)
	}
	delete(h.remoteWatchers, key)
}

// The end was sent to the remote watcher.
func (h *incoming) ended(x incomingID) {
	g := h.remoteWatchers[watcherKey{x.from.Address, x.at}]
	if g == nil || g.from != x.from {
		return
	}
	if watch := g.watches[x.target.Number]; watch != nil {
		watch.ended = true
	}
}

// check answers whether both sides know the same watches, and repeats each end that should have
// been acknowledged by now.
func (h *incoming) check(msg wireCheck, now time.Time) {
	known := digest{}
	if g := h.remoteWatchers[watcherKey{msg.From.Address, msg.At}]; g != nil && g.from == msg.From {
		g.heard = now
		known = g.sum
		h.resend(g)
	}
	h.send(msg.From, wireChecked{From: h.self(), To: msg.From, At: msg.At, Check: msg.Check, Same: known == msg.Sum})
}

// resend repeats the ends that were sent before the last check.
func (h *incoming) resend(g *remoteWatcher) {
	var numbers []uint64
	for number, x := range g.watches {
		if !x.ended {
			continue
		}
		// The first check after the end was probably sent before the end arrived. From the second
		// on, the end or its acknowledgement has been lost.
		if x.told++; x.told > 1 {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	for some := range slices.Chunk(numbers, maxBatch) {
		h.send(g.from, wireEnded{To: g.from, At: g.at, Numbers: some})
	}
}

func (h *incoming) send(to remote.NodeID, msg any) {
	h.post = append(h.post, outMessage{to.Address, msg})
}

func (h *incoming) gone(p remote.NodeID) {
	for key, g := range h.remoteWatchers {
		if g.from == p {
			h.drop(key)
		}
	}
}

func (h *incoming) tick(now time.Time) {
	for key, g := range h.remoteWatchers {
		if now.Sub(g.heard) >= watcherTTL {
			h.drop(key)
		}
	}
}

// The zero time means never.
func (h *incoming) next() (at time.Time) {
	for _, g := range h.remoteWatchers {
		if due := g.heard.Add(watcherTTL); at.IsZero() || due.Before(at) {
			at = due
		}
	}
	return at
}
