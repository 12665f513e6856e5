package actor

// Owns reports whether ref is that of an actor of this system, whether it lives or not.
// It is for extensions that can serve only those.
func (s *System) Owns(ref AnyRef) bool {
	c := ref.target()
	if c == nil || c.sys != s {
		return false
	}
	_, remote := c.impl.(*remoteActor)
	return !remote
}

// AfterEnd calls f once the actor behind ref has ended, or at once when it has ended before,
// unless cancel is called first. It is for extensions that keep something for actors of
// this system, see [System.Owns]; actors use [Context.Watch]. f is called by whatever
// goroutine finds out, also by the one that calls AfterEnd; so it must not block. It may
// still be running when cancel returns.
func (s *System) AfterEnd(ref AnyRef, f func()) (cancel func()) {
	target := ref.target().actor()
	w := &endWatcher{f}
	if target == nil || !target.addWatcher(w) {
		f()
		return func() {}
	}
	return func() { target.removeWatcher(w) }
}
