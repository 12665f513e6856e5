package actor

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// A Phase is a part of the shutdown of a system. Phases run one after the other, in the
// order in which they are declared; what was added to one with [System.OnShutdown] runs
// at the same time. Each may take so long, unless [System.SetPhaseTimeout] says otherwise:
//
//	ServiceUnbind          5 s
//	ServiceRequestsDone    5 s
//	ClusterLeave          60 s, as the next host of a singleton waits for the end of this one's
//	ActorsStop            10 s for its tasks, and 10 s for the actors
//	AfterActors           10 s
type Phase int

const (
	// ServiceUnbind is for taking nothing new: close listeners, leave load balancers.
	ServiceUnbind Phase = iota
	// ServiceRequestsDone is for finishing what has been taken.
	ServiceRequestsDone
	// ClusterLeave is when a node of a cluster hands its singletons over to others.
	ClusterLeave
	// ActorsStop runs its tasks, and then stops all actors.
	ActorsStop
	// AfterActors is for what actors need to the end, such as databases. A node of a
	// cluster is removed from it now, and closes its ports.
	AfterActors

	phases = iota
)

// phaseTimeouts are the defaults.
var phaseTimeouts = [phases]time.Duration{5 * time.Second, 5 * time.Second, time.Minute, 10 * time.Second, 10 * time.Second}

// String returns the name of the phase in errors, such as "service-unbind".
func (p Phase) String() string {
	names := [phases]string{"service-unbind", "service-requests-done", "cluster-leave", "actors-stop", "after-actors"}
	if p < 0 || p >= phases {
		return fmt.Sprintf("phase(%d)", int(p))
	}
	return names[p]
}

// OnShutdown adds a task to a phase of the shutdown, in which the tasks of one phase run
// at the same time. Its context ends with the phase ([System.SetPhaseTimeout]), or with
// the patience of who shuts the system down; the next phase begins then, whether the task
// has returned or not. An error, a panic and a task that did not return are in the error
// of [System.Shutdown] under the name of the task, and keep no other task from running.
//
// Cancel takes the task back, if its phase has not begun. A task that is added after
// that does not run, and is in the log. OnShutdown panics without a name or a task.
func (s *System) OnShutdown(p Phase, name string, task func(ctx context.Context) error) (cancel func()) {
	p.check()
	if name == "" || task == nil {
		panic("actor: a task of the shutdown needs a name and a function")
	}
	t := &shutdownTask{name: name, run: task}
	if !s.shutdown.add(p, t) {
		s.log.Warn("task comes too late for the shutdown, and does not run", zap.Stringer("phase", p), zap.String("task", name))
	}
	return func() { s.shutdown.remove(p, t) }
}

// SetPhaseTimeout says how long a phase may take until the next one begins; zero is no
// limit. [Phase] has the defaults. It has no effect on a phase that has begun.
func (s *System) SetPhaseTimeout(p Phase, d time.Duration) {
	p.check()
	s.shutdown.mu.Lock()
	defer s.shutdown.mu.Unlock()
	s.shutdown.timeouts[p] = d
}

func (p Phase) check() {
	if p < 0 || p >= phases {
		panic(fmt.Sprintf("actor: the shutdown has no %v", p))
	}
}

// Shutdown ends the system in phases: see [Phase]. Actors are stopped children before
// parents, those of the user before those of the framework; Shutdown waits until they
// have ended, until functions given to [PipeToSelf] have returned, and until the tasks of
// [System.OnShutdown] have. A failure is in the error, with its phase and the name of the
// task or the paths of the actors, and the next phase begins all the same. All calls, at
// the same time or later, return the same.
//
// When ctx ends first, the rest is done without patience: the contexts of all tasks end,
// and nobody waits for them; actors are told to stop. The error wraps the cause and names
// what did not end. Shutdown may be called again, also while another call waits, to wait
// for that; who does is not told what only the impatience of others has cut short.
//
// With the context of an actor of the system, or of a function given to [PipeToSelf], it does
// not wait for who calls it: it begins the shutdown, and returns [ErrShutdownGoesOn] at once.
// With the context of a task of [System.OnShutdown] it returns nil. With another context it
// waits for its own caller there, until that phase's time is over.
//
// A node of a cluster leaves it in the course of this.
func (s *System) Shutdown(ctx context.Context) error {
	if ctx.Value(withinShutdown{}) == s {
		return nil
	}
	d := &s.shutdown
	d.once.Do(func() { go s.runPhases() }) //nolint:contextcheck // it is for all who wait, and outlives their patience
	if c, ok := ctx.Value(ownerKey{}).(*core); ok && c.sys == s {
		return fmt.Errorf("actor: shutdown of system %s: %w", s.name, ErrShutdownGoesOn)
	}
	if wait(ctx, d.done) {
		return d.result(false)
	}
	d.hurry(context.Cause(ctx))
	<-d.acting // at once, as nobody waits for tasks any more
	if living := s.living(); len(living) > 0 {
		return d.result(true, s.stillRunning(living, context.Cause(ctx)))
	}
	<-d.done // likewise
	return d.result(true)
}

// withinShutdown is the key of the system in the contexts of the tasks of its shutdown.
type withinShutdown struct{}

// wait prefers what has happened over the end of ctx.
func wait(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// runPhases is the shutdown. It runs once.
func (s *System) runPhases() {
	d := &s.shutdown
	defer close(d.done)
	close(d.begins)
	for p := range Phase(phases) {
		tasks, limit := d.begin(p)
		if !s.halt.begun.Load() {
			s.runTasks(p, tasks, limit)
		}
		if p == ActorsStop {
			s.stopActors(limit)
			s.deafen()
		}
	}
}

// stopActors stops all actors, and waits for their end no longer than the limit.
func (s *System) stopActors(limit time.Duration) {
	ctx, cancel := phaseContext(context.Background(), limit)
	defer cancel()
	if s.halt.begun.Load() {
		s.halt.end(&s.scheduler)
	}
	go s.endActors()
	close(s.shutdown.acting)
	if !wait(ctx, s.terminated) {
		s.shutdown.fail(s.stillRunning(s.living(), context.Cause(ctx)), false)
	}
}

// endActors returns when nothing runs any more.
func (s *System) endActors() {
	for _, g := range []*guardian{s.user, s.system} {
		g.signal(systemMsg{kind: sysStop})
		<-g.gone
	}
	<-s.background.idle()
	systems.Delete(s)
	close(s.terminated)
}

// living names what still runs, of those that are being stopped now; nothing, when all
// has ended or is about to.
func (s *System) living() []string {
	for _, g := range []*guardian{s.user, s.system} {
		if paths := g.living(nil); len(paths) > 0 {
			return paths
		}
	}
	if s.background.busy() {
		return []string{"functions given to PipeToSelf"}
	}
	return nil
}
