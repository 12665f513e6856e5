// Package volatile notices that actors keep their state in the memory of a process while their
// cluster has other processes: after a failover there is nothing of it. Package persistence says
// that such actors run, and package cluster that there are other processes.
package volatile

import (
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// A Watch belongs to one system. Any goroutine may call its methods.
type Watch struct {
	log *zap.Logger

	mu         sync.Mutex // guards all below
	id, member string     // the first ones; "" for none
	warned     bool
	strict     bool
}

// Of returns the watch of a system.
func Of(s *actor.System) *Watch {
	return extension.Ensure(s, func() *Watch { return &Watch{log: s.Log()} })
}

// Used says that an actor keeps its events in memory.
func (w *Watch) Used(id string) { w.note(&w.id, id) }

// Spread says that a member of the cluster runs in another process.
func (w *Watch) Spread(member string) { w.note(&w.member, member) }

// Forbid makes Refusal fail, in place of one warning.
func (w *Watch) Forbid() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.strict, w.warned = true, true
}

// Forbids reports whether [Watch.Forbid] was called.
func (w *Watch) Forbids() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.strict
}

// Refusal names the member that runs in another process, if actors must not keep their events in
// memory because of it. Otherwise ok is false.
func (w *Watch) Refusal() (member string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.member, w.strict && w.member != ""
}

func (w *Watch) note(first *string, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if *first == "" {
		*first = name
	}
	if w.warned || w.id == "" || w.member == "" {
		return
	}
	w.warned = true
	w.log.Warn("a journal in memory in a cluster of several processes: another node finds nothing of it, and a failover loses it; "+
		"open one that all nodes share, such as persistence/postgres, or persistence/sqlite on one machine",
		zap.String("id", w.id), zap.String("member", w.member))
}
