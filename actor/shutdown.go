package actor

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/zap"
)

// A Phase is a part of the shutdown of a system. Phases run in the order in which they are
// declared; the tasks that [System.OnShutdown] added to one phase run concurrently. Each phase has
// a timeout, which [System.SetPhaseTimeout] changes:
//
//	ServiceUnbind          5 s
//	ServiceRequestsDone    5 s
//	ClusterLeave          60 s, as the next instance of a singleton waits for the end of this one
//	ActorsStop            10 s for its tasks, and 10 s for the actors
//	AfterActors           10 s
type Phase int

const (
	// ServiceUnbind stops accepting new work: close listeners, leave load balancers.
	ServiceUnbind Phase = iota
	// ServiceRequestsDone finishes accepted work.
	ServiceRequestsDone
	// ClusterLeave is when a cluster node hands its singletons over to others.
	ClusterLeave
	// ActorsStop runs its tasks, and then stops all actors.
	ActorsStop
	// AfterActors closes resources that actors use until their end, such as databases. A cluster
	// node is removed from the cluster now, and closes its ports.
	AfterActors

	phases = iota
)

var phaseTimeouts = [phases]time.Duration{5 * time.Second, 5 * time.Second, time.Minute, 10 * time.Second, 10 * time.Second}

// String returns the name of the phase in errors, such as "service-unbind".
func (p Phase) String() string {
	names := [phases]string{"service-unbind", "service-requests-done", "cluster-leave", "actors-stop", "after-actors"}
	if p < 0 || p >= phases {
		return fmt.Sprintf("phase(%d)", int(p))
	}
	return names[p]
}

// OnShutdown adds a task to a phase of the shutdown; the tasks of one phase run concurrently. The
// context of the task ends with the timeout of the phase, see [System.SetPhaseTimeout], or with the
// context given to Shutdown. The next phase then begins, whether the task has returned or not. An
// error, a panic, or a task that did not return is part of the error of [System.Shutdown], under
// the name of the task, and prevents no other task from running.
//
// cancel removes the task if its phase has not begun. A task that is added after its phase has
// begun does not run, which is logged. OnShutdown panics if name is empty or task is nil.
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

// SetPhaseTimeout sets the timeout of a phase, after which the next one begins. Zero or less means
// none. See [Phase] for the defaults. It has no effect on a phase that has begun.
func (s *System) SetPhaseTimeout(p Phase, d time.Duration) {
	p.check()
	s.shutdown.mu.Lock()
	defer s.shutdown.mu.Unlock()
	s.shutdown.timeouts[p] = d
}

// ShutdownLimit returns the longest time that [System.Shutdown] takes: the sum of the timeouts of
// all phases. ActorsStop counts twice, once for its tasks and once for the actors. It returns 0 if
// a phase has no timeout, because the shutdown may then take any time. Whatever kills the process
// has to wait longer, such as terminationGracePeriodSeconds of Kubernetes.
func (s *System) ShutdownLimit() time.Duration {
	s.shutdown.mu.Lock()
	defer s.shutdown.mu.Unlock()
	limit := s.shutdown.timeouts[ActorsStop]
	for _, timeout := range s.shutdown.timeouts {
		if timeout <= 0 {
			return 0
		}
		limit += timeout
	}
	return limit
}

func (p Phase) check() {
	if p < 0 || p >= phases {
		panic(fmt.Sprintf("actor: the shutdown has no %v", p))
	}
}

// Shutdown ends the system in phases, see [Phase]. Children stop before their parents, and actors
// of the user before those of the framework. Shutdown waits for the end of all actors, of functions
// given to [PipeToSelf], and of the tasks of [System.OnShutdown]. A failure is part of the error,
// with the phase and the name of the task or the paths of the actors, and does not prevent later
// phases. All calls, concurrent or later, return the same error.
//
// If ctx ends first, Shutdown stops waiting: the contexts of all tasks end, and actors are told to
// stop. The error then wraps the cause and names what had not ended. Shutdown may be called again,
// also concurrently, to wait for the rest; that call does not report what was cut short only
// because the context of another call ended.
//
// Called with the context of an actor of the system, or of a function given to [PipeToSelf],
// Shutdown starts the shutdown and immediately returns [ErrShutdownGoesOn]. With the context of a
// task of [System.OnShutdown] it returns nil. With another context, a task that calls it waits for
// itself until its phase times out.
//
// A cluster node leaves the cluster during the shutdown.
func (s *System) Shutdown(ctx context.Context) error {
	if ctx.Value(withinShutdown{}) == s {
		return nil
	}
	d := &s.shutdown
	d.once.Do(func() { go s.runPhases() }) //nolint:contextcheck // it serves all callers, and outlives their contexts
	if c, ok := ctx.Value(ownerKey{}).(*core); ok && c.sys == s {
		return fmt.Errorf("actor: shutdown of system %s: %w", s.name, ErrShutdownGoesOn)
	}
	if wait(ctx, d.done) {
		return d.result(false)
	}
	d.giveUp(context.Cause(ctx))
	<-d.acting // soon, because tasks are no longer waited for
	if living := s.living(); len(living) > 0 {
		return d.result(true, stillRunning(s, living, context.Cause(ctx)))
	}
	<-d.done // soon
	return d.result(true)
}

type withinShutdown struct{}

// If both have happened, done counts.
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
			s.endRemoteAsks()
		}
	}
}

// How long actors that are being stopped may still wait for room in the queue for another node.
// Without this limit a handler that tells a slow node many messages outlasts the phase.
const sendLimit = time.Second

func (s *System) stopActors(limit time.Duration) {
	ctx, cancel := phaseContext(context.Background(), limit)
	defer cancel()
	if s.halt.begun.Load() {
		s.halt.end(&s.scheduler)
	}
	go s.endActors()
	close(s.shutdown.acting)
	defer time.AfterFunc(sendLimit, func() { close(s.shutdown.sendLimitOver) }).Stop()
	if wait(ctx, s.terminated) {
		return
	}
	if living := s.living(); len(living) > 0 {
		s.shutdown.fail(stillRunning(s, living, context.Cause(ctx)), false)
	}
}

func (s *System) endActors() {
	for _, g := range []*guardian{s.user, s.system} {
		g.signal(systemMsg{kind: sysStop})
		<-g.gone
	}
	<-s.background.idle()
	systems.Delete(s)
	close(s.terminated)
}

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

// ShutdownOnSignal waits for SIGINT, SIGTERM, the end of ctx, or another call of Shutdown. It then
// shuts the system down, with the timeouts of the phases, and returns the error of
// [System.Shutdown]. After the first signal, a second one ends the process immediately, as signals
// do by default. On a node of a cluster, other members take over the singletons first.
//
// It is usually the last call of main. Signals are handled only while it runs.
func (s *System) ShutdownOnSignal(ctx context.Context) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	select {
	case sig := <-signals:
		signal.Stop(signals)
		s.log.Info("shutting down", zap.Stringer("signal", sig))
	case <-ctx.Done():
	case <-s.shutdown.begins:
	}
	return s.Shutdown(context.WithoutCancel(ctx))
}
