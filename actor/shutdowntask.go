package actor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"
)

type shutdownTask struct {
	name string
	run  func(context.Context) error
}

type shutdown struct {
	once          sync.Once
	begins        chan struct{}           // closed when it begins
	acting        chan struct{}           // closed when actors are about to stop
	sendLimitOver chan struct{}           // closed sendLimit later: no sender waits for another node
	done          chan struct{}           // closed when it is over
	patient       context.Context         // ends when the context of a caller has ended
	giveUp        context.CancelCauseFunc // ends it

	mu       sync.Mutex
	begun    Phase // how many phases have begun
	tasks    [phases][]*shutdownTask
	timeouts [phases]time.Duration
	failures []error
	cut      []error // failures only because a context of a caller ended
}

func (d *shutdown) init(s *System) {
	d.begins, d.acting, d.sendLimitOver, d.done = make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	d.timeouts = phaseTimeouts
	d.patient, d.giveUp = context.WithCancelCause(context.WithValue(context.Background(), withinShutdown{}, s))
}

// False means that the phase has begun.
func (d *shutdown) add(p Phase, t *shutdownTask) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p < d.begun {
		return false
	}
	d.tasks[p] = append(d.tasks[p], t)
	return true
}

func (d *shutdown) remove(p Phase, t *shutdownTask) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p >= d.begun {
		d.tasks[p] = slices.DeleteFunc(d.tasks[p], func(o *shutdownTask) bool { return o == t })
	}
}

func (d *shutdown) begin(p Phase) ([]*shutdownTask, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = p + 1
	return d.tasks[p], d.timeouts[p]
}

// cut says that it occurred only because the context of a caller ended.
func (d *shutdown) fail(err error, cut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cut {
		d.cut = append(d.cut, err)
	} else {
		d.failures = append(d.failures, err)
	}
}

// With impatient, it includes what was cut short.
func (d *shutdown) result(impatient bool, more ...error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(d.failures)
	if impatient {
		all = append(append(all, d.cut...), more...)
	}
	return errors.Join(all...)
}

func phaseContext(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done after %v: %w", limit, context.DeadlineExceeded))
}

type taskResult struct {
	task *shutdownTask
	err  error
}

// The end of the phase ends the wait for them.
func (s *System) runTasks(p Phase, tasks []*shutdownTask, limit time.Duration) {
	if len(tasks) == 0 {
		return
	}
	ctx, cancel := phaseContext(s.shutdown.patient, limit)
	defer cancel()
	results := make(chan taskResult, len(tasks))
	waiting := slices.Clone(tasks)
	for _, t := range tasks {
		go func() { results <- taskResult{t, t.call(ctx)} }()
	}
	for len(waiting) > 0 {
		select {
		case r := <-results:
			waiting = slices.DeleteFunc(waiting, func(t *shutdownTask) bool { return t == r.task })
			s.noteTask(p, r)
		case <-ctx.Done():
			s.noteOverrun(p, waiting, results, context.Cause(ctx))
			return
		}
	}
}

// Some of waiting may have returned by now.
func (s *System) noteOverrun(p Phase, waiting []*shutdownTask, results <-chan taskResult, cause error) {
	for len(results) > 0 {
		r := <-results
		waiting = slices.DeleteFunc(waiting, func(t *shutdownTask) bool { return t == r.task })
		s.noteTask(p, r)
	}
	for _, t := range waiting {
		s.noteTask(p, taskResult{t, cause})
	}
}

func (t *shutdownTask) call(ctx context.Context) (err error) {
	if failed := guard.Apart(func() { err = t.run(ctx) }); failed != nil {
		return failed
	}
	return err
}

func (s *System) noteTask(p Phase, r taskResult) {
	if r.err == nil {
		return
	}
	s.log.Warn("task of the shutdown failed", zap.Stringer("phase", p), zap.String("task", r.task.name), zap.Error(r.err))
	hurried := context.Cause(s.shutdown.patient)
	cut := hurried != nil && (guard.Is(r.err, hurried) || guard.Is(r.err, context.Canceled))
	s.shutdown.fail(s.shutdownError("phase %v: task %s: %w", p, r.task.name, r.err), cut)
}

func (s *System) shutdownError(format string, args ...any) error {
	return fmt.Errorf("actor: shutdown of system "+s.name+": "+format, args...)
}

const livingNamed = 20

func stillRunning(s *System, living []string, cause error) error {
	names := strings.Join(living[:min(len(living), livingNamed)], ", ")
	if more := len(living) - livingNamed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return s.shutdownError("phase %v: still running: %s: %w", ActorsStop, names, cause)
}
