package actor

import (
	"sync"
	"sync/atomic"
)

// The zero value watches nothing.
type followed struct{ last atomic.Pointer[passedOn] }

// A passedOn watches the actor to which a request was passed on.
type passedOn struct {
	watch askWatch
	again sendsAgain
}

// A sendsAgain sends a request again whose recipient, at that path, is not on the node to which it
// was sent. It reports whether it does. nil never does.
type sendsAgain func(recipient string) bool

// follow lets by end with the actor behind to, or with none if to is nil, instead of the one before
// it. over reports whether by has an outcome. Once it has, end is called.
func (f *followed) follow(to *core, by askWatcher, over func() bool, again sendsAgain) {
	if to == nil {
		f.end()
		return
	}
	w := &passedOn{again: again}
	if !w.watch.begin(to, by) {
		return // the request becomes a dead letter, which ends the ask
	}
	if before := f.last.Swap(w); before != nil {
		before.watch.end()
	}
	if over() {
		w.watch.end() // end may have come before the watch was there
	}
}

// again reports whether the request is sent again, because recipient is not where it was sent.
func (f *followed) again(recipient string) bool {
	w := f.last.Load()
	return w != nil && w.again != nil && w.again(recipient)
}

func (f *followed) end() {
	if w := f.last.Load(); w != nil {
		w.watch.end()
	}
}

func (r refInternals) PassOn(msg any) (goesOn bool) {
	if r.c == nil || r.c.sys == nil {
		return true
	}
	letFollow(r.c, r.c.sys.refsOf(msg), nil)
	if why := r.c.unreachable(); why != nil {
		r.c.sys.reportDeadLetter(r.c.fullPath(), msg, why)
		return false
	}
	return true
}

func (r refInternals) Follow(msg any, again func(recipient string) bool) {
	letFollow(r.c, r.c.sys.refsOf(msg), again)
}

func (s internals) FollowNobody(msg any) { letFollow(nil, s.refsOf(msg), nil) }

func (r refInternals) Unfollow() { r.c.takeAsks(func(uint64) bool { return true }) }

func letFollow(to *core, refs []*core, again sendsAgain) {
	for _, ref := range refs {
		if a := askerOf(ref); a != nil {
			a.follow(to, again)
		} else if to != nil && ref.isFarAsk() {
			ref.sys.forwarded.follow(ref, to)
		}
	}
}

// maxForwarded is how many asks of other nodes and clients a system remembers that it has passed
// on. Beyond that the oldest are forgotten; most have ended long ago.
const maxForwarded = 4096

// forwarded are the asks of other nodes and clients whose requests this system has passed on to
// third nodes. Their systems do not know where the requests are, so this one tells them when such a
// node is removed. The zero value is empty.
type forwarded struct {
	mu   sync.Mutex // guards all below
	ring []*farFollower
	next int
}

// A farFollower lets the ask behind a ref to reply to end with a node.
type farFollower struct {
	watch askWatch
	ref   *core
	uid   uint64
}

func (f *forwarded) follow(ref, to *core) {
	w := &farFollower{ref: ref, uid: ref.sys.nextUID()}
	if !w.watch.begin(to, w) {
		return // the request becomes a dead letter, which ends the ask
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ring) < maxForwarded {
		f.ring = append(f.ring, w)
		return
	}
	f.ring[f.next].watch.end()
	f.ring[f.next] = w
	f.next = (f.next + 1) % maxForwarded
}

func (f *farFollower) number() uint64 { return f.uid }

func (f *farFollower) watchedEnded(target *core, err error) {
	if f.ref.sys.asksOver.Load() {
		return // this system ends, and not the node that has the request
	}
	f.ref.refuse("", endedBefore(target.endOfAsk(err)))
}
