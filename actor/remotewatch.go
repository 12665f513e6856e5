package actor

import (
	"fmt"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"
)

type remoteWatcher interface {
	Watch(s *System, target actorhook.Target, ended func()) (stop func())
}

func (r *remoteActor) watch(ended func()) (stop func()) {
	t, can := r.sys.transport.(remoteWatcher)
	if !can {
		panic("actor: cannot watch " + r.sendTo.Full + ": the system has no transport that watches actors of other nodes")
	}
	return t.Watch(r.sys, r.sendTo, ended)
}

func (s internals) OnEnd(path string, uid uint64, ended func()) (stop func()) {
	found := s.lookup(path, uid)
	if !found.is(uid) {
		ended()
		return func() {}
	}
	return found.onEnd(ended)
}

// ended may be called at once.
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

func gone(address string) error {
	return fmt.Errorf("%w: %s was removed from the cluster", ErrUnreachable, address)
}

func (c *core) unreachable() error {
	r, remote := c.impl.(*remoteActor)
	switch {
	case !remote:
		return nil
	case c.sys.asksOver.Load():
		return errShutDown
	case c.sys.remotes.isGone(r.sendTo):
		return gone(r.sendTo.Address)
	}
	return nil
}

var errShutDown = fmt.Errorf("%w: this system has been shut down", ErrUnreachable)

// This system has no actors any more, so future asks end as well.
func (s *System) endRemoteAsks() {
	s.asksOver.Store(true)
	s.endAsks("", func(_, _ uint64) bool { return true }, errShutDown)
}

// Any address matches "". The cores remain in use: another incarnation of a node may have actors
// with the same paths.
func (s *System) endAsks(address string, which func(uid, ask uint64) bool, reason error) {
	for _, r := range s.remotes.at(address) {
		uid, c := r.sendTo.UID, &r.core
		for _, ask := range c.takeAsks(func(ask uint64) bool { return which(uid, ask) }) {
			ask.watchedEnded(c, reason)
		}
	}
}

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
