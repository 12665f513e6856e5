package actor

import (
	"fmt"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"
)

// A remoteWatcher is a transport that can also watch actors on other nodes, see
// extension.Transport.
type remoteWatcher interface {
	Watch(s *System, target actorhook.Target, ended func()) (stop func())
}

// watch lets the transport watch r. It panics if the transport cannot.
func (r *remoteActor) watch(ended func()) (stop func()) {
	t, can := r.sys.transport.(remoteWatcher)
	if !can {
		panic("actor: cannot watch " + r.sendTo.Full + ": the system has no transport that watches actors of other nodes")
	}
	return t.Watch(r.sys, r.sendTo, ended)
}

// OnEnd implements extension.OnEnd.
func (s internals) OnEnd(path string, uid uint64, ended func()) (stop func()) {
	found := s.lookup(path, uid)
	if !found.is(uid) {
		ended()
		return func() {}
	}
	return found.onEnd(ended)
}

// onEnd calls ended once the actor behind c has ended, or at once if it has.
func (c *core) onEnd(ended func()) (cancel func()) {
	target, w := c.actor(), &endWatcher{ended}
	if target == nil || !target.addWatcher(w) {
		ended()
		return func() {}
	}
	return func() { target.removeWatcher(w) }
}

type endWatcher struct{ ended func() }

func (w *endWatcher) watchedEnded(c *core, _ error) {
	if err := guard.Do(w.ended); err != nil {
		c.sys.log.Error("function of AfterEnd or OnEnd has panicked", zap.String("actor", c.fullPath()), zap.Error(err))
	}
}

// gone ends asks of actors on a former member.
func gone(address string) error {
	return fmt.Errorf("%w: %s has left the cluster", ErrUnreachable, address)
}

// unreachable returns why a remote actor will not reply to further requests, if that is known.
func (c *core) unreachable() error {
	r, remote := c.impl.(*remoteActor)
	switch {
	case !remote:
		return nil
	case c.sys.deaf.Load():
		return errDeaf
	case c.sys.remotes.isGone(r.sendTo):
		return gone(r.sendTo.Address)
	}
	return nil
}

// errDeaf ends asks of remote actors after the actors of this system have ended.
var errDeaf = fmt.Errorf("%w: this system has been shut down", ErrUnreachable)

// deafen ends all asks of remote actors, present and future, because this system has no actors any
// more.
func (s *System) deafen() {
	s.deaf.Store(true)
	s.endAsks("", func(_, _ uint64) bool { return true }, errDeaf)
}

// endAsks ends the asks of actors at an address that match, or at any address if it is "". Their
// cores remain in use: another incarnation of a node may have actors with the same paths.
func (s *System) endAsks(address string, which func(uid, ask uint64) bool, reason error) {
	for _, r := range s.remotes.at(address) {
		uid, c := r.sendTo.UID, &r.core
		for _, ask := range c.takeAsks(func(ask uint64) bool { return which(uid, ask) }) {
			ask.watchedEnded(c, reason)
		}
	}
}

// at returns the actors at an address, or all if it is "".
func (r *remotes) at(address string) []*remoteActor {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*remoteActor
	for l, a := range r.cores {
		if a := a.Value(); a != nil && (l.address == address || address == "") {
			found = append(found, a)
		}
	}
	return found
}
