package actor

import "sync/atomic"

// A followed is the watch of an ask on the actor to which its request has been passed on. The zero
// value watches nothing.
type followed struct{ watch atomic.Pointer[askWatch] }

// follow lets by end with the actor behind to, or with none if to is nil, instead of the one before
// it. over reports whether by has an outcome. Once it has, end is called.
func (f *followed) follow(to *core, by askWatcher, over func() bool) {
	if to == nil {
		f.end()
		return
	}
	w := new(askWatch)
	if !w.begin(to, by) {
		return // the request becomes a dead letter, which ends the ask
	}
	if before := f.watch.Swap(w); before != nil {
		before.end()
	}
	if over() {
		w.end() // end may have come before the watch was there
	}
}

func (f *followed) end() {
	if w := f.watch.Load(); w != nil {
		w.end()
	}
}

// PassOn does what extension.Described.PassOn does before it tells. It returns false if msg is a
// dead letter.
func (r refInternals) PassOn(msg any) (goesOn bool) {
	if r.c == nil || r.c.sys == nil {
		return true
	}
	letFollow(r.c, r.c.sys.refsOf(msg))
	if why := r.c.unreachable(); why != nil {
		r.c.sys.reportDeadLetter(r.c.fullPath(), msg, why)
		return false
	}
	return true
}

// Follow implements extension.Follow.
func (r refInternals) Follow(msg any) { letFollow(r.c, r.c.sys.refsOf(msg)) }

// FollowNobody implements extension.FollowNobody.
func (s internals) FollowNobody(msg any) { letFollow(nil, s.refsOf(msg)) }

// Unfollow implements extension.Unfollow.
func (r refInternals) Unfollow() { r.c.takeAsks(func(uint64) bool { return true }) }

// letFollow lets the asks among refs end with the actor behind to.
func letFollow(to *core, refs []*core) {
	for _, ref := range refs {
		if a := askerOf(ref); a != nil {
			a.follow(to)
		}
	}
}
