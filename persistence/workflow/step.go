package workflow

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/guard"
)

// A StepOption is an option of one step.
type StepOption func(*stepOptions)

type stepOptions struct {
	retries int // attempts; -1 for no limit
	backoff actor.Backoff
	timeout time.Duration
	was     []string // types
	names   []string // that the step had before
}

// Retry makes up to n attempts, and waits between them as b says. With n of zero or less, attempts
// have no limit. A [Final] error ends them. The number of attempts, the last error and the time of
// the next attempt are stored. By default a step has one attempt, and its error is its outcome.
func Retry(n int, b actor.Backoff) StepOption {
	if n <= 0 {
		n = -1
	}
	return func(o *stepOptions) { o.retries, o.backoff = n, b }
}

// Timeout ends the context of each attempt after d. Zero or less is no limit.
func Timeout(d time.Duration) StepOption { return func(o *stepOptions) { o.timeout = d } }

// Was names former types of the result, as [actor.RegisterType] or Go named them: what they have
// stored is decoded as the present type, by the names of fields.
func Was(types ...string) StepOption {
	return func(o *stepOptions) { o.was = append(o.was, types...) }
}

// Formerly gives the names that the step had in former programs, within its branch. If an outcome
// or a failed attempt is stored under one of them, the step goes on as that one, with its [Key].
func Formerly(names ...string) StepOption {
	return func(o *stepOptions) { o.names = append(o.names, names...) }
}

func optionsOf(opts []StepOption) stepOptions {
	o := stepOptions{retries: 1}
	for _, option := range opts {
		option(&o)
	}
	return o
}

// Final returns err as an error after which a step is not tried again.
func Final(err error) error {
	if err == nil {
		return nil
	}
	return final{err}
}

type final struct{ error }

func (f final) Unwrap() error { return f.error }

// Step runs f once, and returns its result. The result, or the error after the last attempt, is
// stored before Step returns. When the function of the run is called again, after a crash or a
// sleep, Step returns what is stored. So a step whose process dies after the effect of f and before
// its result is stored runs again; what f calls recognises that by [Key], and a process that was
// replaced by [Token].
//
// A stored error keeps its text; errors.Is and errors.As find in it what [actor.RegisterError] and
// [actor.RegisterType] have named. Types of results should be registered with actor.RegisterType;
// one that is not has its name in Go, and cannot be renamed without [Was]. If values of type T
// would lose something when they are stored, the run is held with [ErrNotStorable], and f is not
// called.
//
// The context of f ends when the run is cancelled, when the node leaves and f has had its time, and
// when another process has taken the run over. f must not use w.
func Step[T any](w *Run, name string, f func(ctx context.Context) (T, error), opts ...StepOption) (T, error) {
	o := optionsOf(opts)
	full := w.nameOf(name, o.names)
	if r := w.replaced(full); r != nil {
		f = func(ctx context.Context) (T, error) {
			v, err := r(ctx)
			is, fits := v.(T)
			if err == nil && !fits {
				err = Final(fmt.Errorf("%w: what replaces the step %q returns a %T, and the step a %v", ErrInvalid, full, v, reflect.TypeFor[T]()))
			}
			return is, err
		}
	}
	out, err := w.step(w.live.steps, full, o, func(ctx context.Context) (value, error) {
		if bad := storable(reflect.TypeFor[T]()); bad != nil { // before f has its effect
			w.live.hold(bad)
		}
		v, err := f(ctx)
		return sealed(w.live, v, err), err
	})
	if err != nil {
		return *new(T), err
	}
	return result[T](w.live, full, out, o.was...)
}

// Do is [Step] for a function without a result.
func Do(w *Run, name string, f func(ctx context.Context) error, opts ...StepOption) error {
	o := optionsOf(opts)
	full := w.nameOf(name, o.names)
	if r := w.replaced(full); r != nil {
		f = func(ctx context.Context) error { _, err := r(ctx); return err }
	}
	out, err := w.step(w.live.steps, full, o, func(ctx context.Context) (value, error) {
		err := f(ctx)
		return failure(err), err
	})
	if err != nil {
		return err
	}
	_, err = result[struct{}](w.live, full, out)
	return err
}

// nameOf is name for a step, which goes on under a former name if something is stored under that.
func (w *Run) nameOf(name string, former []string) string {
	l := w.live
	for _, one := range former {
		l.mu.Lock()
		_, done := l.outcomes[w.path+one]
		_, tried := l.tries[w.path+one]
		l.mu.Unlock()
		if done || tried {
			return w.name(one)
		}
	}
	return w.name(name)
}

// replaced returns what a test runs in place of a step, or nil.
func (w *Run) replaced(full string) func(context.Context) (any, error) {
	if w.replacement == nil {
		return nil
	}
	return w.replacement(w.live.of.Type, w.live.of.ID, full)
}

// sealed is seal for what a step or the function returns. It holds the run if v cannot be stored.
func sealed[T any](l *live, v T, err error) value {
	if err != nil {
		return failure(err)
	}
	out, bad := seal(v, nil)
	if bad != nil {
		l.hold(bad)
	}
	return out
}

// result decodes an outcome. It holds the run if that has another type.
func result[T any](l *live, name string, stored value, was ...string) (T, error) {
	v, err, bad := open[T](stored, was...)
	switch {
	case bad != nil:
		l.hold(fmt.Errorf("%q: %w", name, bad))
	case err != nil:
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v, err
}

// step returns the outcome of a step, which is stored. Its error is why no step begins any more.
func (w *Run) step(within context.Context, full string, o stepOptions, f func(context.Context) (value, error)) (value, error) {
	l := w.live
	l.mu.Lock()
	done, stored := l.outcomes[full]
	before := l.tries[full]
	l.mu.Unlock()
	if stored {
		return done.Value, nil
	}
	err := l.gate()
	if e, ok := l.kept.of(full, l.key(full)); ok { // also if the run has turned, as for a step that was executed then
		l.store(e)
		return e.Value, nil
	}
	if err != nil {
		return value{}, err
	}
	for attempt := before.Attempt + 1; ; attempt++ {
		if l.pause(full, before.Next) {
			if err := l.gate(); err != nil {
				return value{}, err
			}
		}
		out, err := l.attempt(within, full, attempt, o.timeout, f)
		var last final
		var open unsettled
		ends := err == nil || within.Err() != nil || !errors.As(err, &open) && (o.retries > 0 && attempt >= o.retries || errors.As(err, &last))
		if ends {
			l.store(event{What: finished, Name: full, Value: out, Attempt: attempt, At: time.Now()})
			return out, nil
		}
		before.Next = time.Now().Add(o.backoff.Delay(attempt - 1))
		l.store(event{What: failed, Name: full, Attempt: attempt, Err: textOf(err), Until: before.Next, At: time.Now()})
	}
}

// pause waits until the next attempt of a step is due, and reports whether it had to.
func (l *live) pause(full string, next time.Time) (paused bool) {
	for l.why() == nil || l.compensates {
		if !next.After(time.Now()) {
			return paused
		}
		paused = true
		if l.park(wait{Name: full, Until: next}, nil) {
			return true // by the clock of the journal
		}
	}
	return true
}

// attempt calls the function of a step once.
func (l *live) attempt(within context.Context, full string, number int, timeout time.Duration, f func(context.Context) (value, error)) (out value, err error) {
	ctx := context.WithValue(within, stepKey{}, stepOf{
		key: l.key(full), scope: sharding.Entity{Type: l.of.Type, ID: l.of.ID}.PersistenceID(), token: l.epoch,
	})
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	l.mu.Lock()
	l.executing[full] = execution{number, time.Now()}
	l.mu.Unlock()
	ctx, traced := l.span(ctx, l.trace, full)
	returned := false
	defer func() {
		defer func() { traced(err) }()
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %w", ErrPanicked, guard.Recovered(r))
			out, returned = failure(err), true
		}
		switch {
		case !returned: // the goroutine ends
			l.mu.Lock()
			l.executed(full)
			l.mu.Unlock()
		case l.over():
			runtime.Goexit() // nobody may store it any more
		}
	}()
	out, err = f(ctx)
	returned = true
	return out, err
}

// escaped keeps the parts of a key apart, and the suffixes of a key from them.
var escaped, inName = strings.NewReplacer("%", "%25", "~", "%7E", "#", "%23", "/", "%2F"), strings.NewReplacer("%", "%25", "~", "%7E", "#", "%23")

// key returns the idempotency key of a step. Within a run, full is used once.
func (l *live) key(full string) string {
	key := escaped.Replace(l.of.Type) + "/" + escaped.Replace(l.of.ID) + "/" + inName.Replace(full)
	for _, r := range l.redone {
		if r.Name == full {
			return key + "~" + strconv.Itoa(r.Times+1)
		}
	}
	return key
}
