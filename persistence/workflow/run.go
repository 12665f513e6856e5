package workflow

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/workflowhook"
)

// A Run is what the function of a type works with: its steps, waits and branches are known by their
// names within the run. Use it only in the goroutine that has got it. Its methods, and the
// functions of this package that take it, may not return: if the run leaves memory meanwhile, the
// goroutine ends, after its deferred functions.
type Run struct {
	live        *live
	replacement workflowhook.Replacement // nil outside of tests
	path        string                   // of the branch; "" or with a slash at the end
	counts      map[string]int           // waits of the branch, by name
}

// ID returns the id of the run.
func (w *Run) ID() string { return w.live.of.ID }

// Type returns the name of the type of the run.
func (w *Run) Type() string { return w.live.of.Type }

// compensating begins the names of compensations.
const compensating = "compensate/"

// maxName is how many bytes a name may have.
const maxName = 200

// name returns the full name of a step, a wait or a branch, and holds the run if it has been used.
func (w *Run) name(name string) string {
	if err := checkName(name); err != nil {
		w.live.hold(err)
	}
	return w.use(name)
}

// use is name for one that has a valid name in it.
func (w *Run) use(name string) string {
	l, full := w.live, w.path+name
	l.mu.Lock()
	used := l.asked[full]
	l.asked[full] = true
	l.mu.Unlock()
	if used {
		l.hold(fmt.Errorf("%w: %q", ErrNameUsed, full))
	}
	return full
}

func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("%w: a name has 1 to %d bytes, and %q has %d", ErrInvalid, maxName, name, len(name))
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("%w: the name %q is not UTF-8, or has control characters", ErrInvalid, name)
	case strings.HasPrefix(name, compensating):
		return fmt.Errorf("%w: names that begin with %q are those of compensations", ErrInvalid, compensating)
	}
	return nil
}

// numbered returns a name with how often this branch has used it.
func (w *Run) numbered(name string) string {
	w.counts[name]++
	return name + "#" + strconv.Itoa(w.counts[name])
}

// hold stores that the run cannot go on, and unwinds the goroutine. The actor ends when no step is
// executed any more, and tries again later, perhaps with another program.
func (l *live) hold(why error) {
	l.mu.Lock()
	l.leaving = true
	l.ask(request{event: event{What: holding, Err: textOf(why), At: time.Now()}})
	l.mu.Unlock()
	runtime.Goexit()
}

// A function is the function of a type, for encoded values.
type function func(w *Run, input value) (value, error)

// launch runs the function of the run. The actor calls it once.
func (l *live) launch(f function, s state, r workflowhook.Replacement) {
	l.mu.Lock()
	l.launched, l.busy, l.trace = true, 1, s.Trace
	l.mu.Unlock()
	w := &Run{live: l, replacement: r, counts: map[string]int{}}
	go l.whole(w, f, s)
}

// whole is the main goroutine of a run: the function, then its compensations if it has failed.
func (l *live) whole(w *Run, f function, s state) {
	out, err := l.guarded(func() (value, error) { return f(w, s.Input) })
	if err == nil && l.why() == nil && l.store(event{What: ended, State: Done, Value: out, At: time.Now()}) {
		return
	}
	if l.why() == nil { // else it is stored why
		l.store(event{What: turned, State: Failed, Value: failure(err), At: time.Now()})
	}
	if missing := l.missing(); len(missing) > 0 {
		l.hold(fmt.Errorf("%w: %q", ErrCompensationMissing, missing))
	}
	_, _ = l.guarded(func() (value, error) { l.compensate(w); return value{}, nil }) // holds the run if one ends the goroutine
	l.store(event{What: ended, At: time.Now()})                                      // the actor knows how
}

// why returns why the run has turned, or nil.
func (l *live) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turned
}

// guarded calls a function of the user. If it panics or ends the goroutine, the run is held; once
// the run has turned it is as if the function had returned, so that compensations take place.
func (l *live) guarded(f func() (value, error)) (out value, err error) {
	returned := false
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %w", ErrPanicked, guard.Recovered(r))
			if l.why() == nil {
				l.hold(err)
			}
			return
		}
		l.mu.Lock()
		abandoned := !returned && !l.leaving && !l.over()
		l.mu.Unlock()
		if abandoned {
			l.hold(fmt.Errorf("%w: it has called runtime.Goexit", ErrPanicked))
		}
	}()
	out, err = f()
	returned = true
	return out, err
}

// A compensation is what undoes a step.
type compensation struct {
	name string
	f    func(context.Context) error
}

// Compensate says how what has been done is undone: if the run fails or is cancelled, f runs once
// the function has returned, as a step with that name. Compensations run one by one, the last one
// first. Each is tried again until it succeeds, after a second at first and after a minute at most;
// a [Final] error ends its attempts. Call Compensate after the step that f undoes, or before it if
// f can tell whether the step was done.
func (w *Run) Compensate(name string, f func(ctx context.Context) error) {
	full := w.name(name)
	w.live.mu.Lock()
	defer w.live.mu.Unlock()
	w.live.undo = append(w.live.undo, compensation{full, f})
	if !slices.Contains(w.live.noted, full) {
		w.live.unnoted = append(w.live.unnoted, full)
	}
}

// registered returns the names of compensations to be stored with the next event.
func (l *live) registered() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := l.unnoted
	l.unnoted = nil
	return names
}

// missing returns the names of compensations that an incarnation before this one has registered,
// and that were neither registered again nor done.
func (l *live) missing() (names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range l.noted {
		_, done := l.outcomes[compensating+name]
		if !done && !slices.ContainsFunc(l.undo, func(c compensation) bool { return c.name == name }) {
			names = append(names, name)
		}
	}
	return names
}

func (l *live) compensate(w *Run) {
	l.mu.Lock()
	l.compensates = true
	all := l.undo
	l.mu.Unlock()
	main := &Run{live: l, replacement: w.replacement, counts: w.counts}
	forever := stepOptions{retries: -1, backoff: actor.Backoff{Min: time.Second, Max: time.Minute}}
	for _, one := range slices.Backward(all) {
		f, full := one.f, compensating+one.name
		if r := main.replaced(full); r != nil {
			f = func(ctx context.Context) error { _, err := r(ctx); return err }
		}
		// The error after a Final one is stored with the outcome.
		_, _ = main.step(l.life, full, forever, func(ctx context.Context) (value, error) {
			err := f(ctx)
			return failure(err), err
		})
	}
}

// A Part is one of the functions of [Branch].
type Part = func(*Run) error

// Branch runs parts at the same time, and returns when all have returned. Its error joins theirs.
// Each part has names of its own, and a Run that it alone may use; no part may use w. Results are
// passed by variables of the caller, each written by one part.
//
// A part is known by its place, so the parts must be the same, in the same order, each time: sort
// the keys of a map, and add further parts at the end. A part that comes to the place of another
// gets its outcomes, and nothing reports that if both use the same names.
func Branch(w *Run, name string, parts ...Part) error {
	full := w.name(name)
	if len(parts) == 0 {
		return nil
	}
	l := w.live
	errs, left, all := make([]error, len(parts)), len(parts), make(chan struct{})
	l.mu.Lock()
	l.busy += len(parts) - 1 // the caller is not busy until the last part hands over
	l.mu.Unlock()
	for i, part := range parts {
		of := &Run{live: l, replacement: w.replacement, path: full + "/" + strconv.Itoa(i) + "/", counts: map[string]int{}}
		go func() {
			_, errs[i] = l.guarded(func() (value, error) { return value{}, part(of) })
			l.mu.Lock()
			defer l.mu.Unlock()
			if left--; left == 0 {
				close(all)
			} else {
				l.rest()
			}
		}()
	}
	l.await(all)
	return errors.Join(errs...)
}
