package workflow

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A Host is where a type is started: a *cluster.Node, or, without a cluster, an *actor.System with
// [persistence.WithJournal]. [Of] takes a *cluster.Client as well.
type Host = sharding.Host

// A Type is a type of runs, whose function takes an I and returns an O. Any goroutine may call its
// methods, also functions of steps.
type Type[I, O any] struct{ client }

// client sends commands to the runs of a type.
type client struct {
	host Host
	name string
}

// Start makes the runs of a type available on this node, and lets the node host them. Call it on
// every node with the same name and types; names are those of package sharding, and are shared with
// its types. f is the function of the runs. It is called again from its beginning each time that a
// run comes back to memory, so whatever it does outside of steps is repeated.
//
// The runs are kept in the journal of [persistence.JournalOf]. Without one, Start returns
// [persistence.ErrNoJournal]. If the journal keeps no timers, runs that have not ended stay in
// memory; see [journal.TimerStore].
//
// Start returns [ErrNotStorable] if values of type I or O would lose something when they are
// stored, [ErrInvalid] if this node has started the type before, and the errors of
// [sharding.Start], to which opts are passed. It panics when that does.
func Start[I, O any](host Host, name string, f func(w *Run, input I) (O, error), opts ...sharding.Option) (*Type[I, O], error) {
	_, err := seal(*new(I), nil)
	if err == nil {
		_, err = seal(*new(O), nil)
	}
	if err != nil && errors.Is(err, ErrNotStorable) {
		return nil, fmt.Errorf("type %q: %w", name, err)
	}
	return &Type[I, O]{client{host, name}}, start(host, name, func(w *Run, input value) (value, error) {
		in, _, bad := open[I](input)
		switch why := w.live.why(); {
		case bad != nil && why != nil: // the function would do no more than its compensations
			return value{}, why
		case bad != nil:
			w.live.hold(fmt.Errorf("the input: %w", bad))
		}
		out, err := f(w, in)
		if err != nil {
			return value{}, err
		}
		return sealed(w.live, out, nil), nil
	}, opts)
}

func start(host Host, name string, f function, opts []sharding.Option) error {
	s, err := systemOf(host)
	if err != nil {
		return err
	}
	j := persistence.JournalOf(s)
	if j == nil {
		return fmt.Errorf("workflow: type %q: %w", name, persistence.ErrNoJournal)
	}
	if err := registryOf(s).free(name); err != nil {
		return err
	}
	_, timers := journal.As[journal.TimerStore](j)
	k := &kind{name: name, host: host, f: f, journal: j, timers: timers, all: registryOf(s)}
	if _, keeps := journal.As[journal.SnapshotStore](j); keeps {
		k.snapshots = snapshotDue
	}
	all := []sharding.Option{sharding.StopMessage(leave{}), sharding.EventSourced()}
	if timers { // runs leave memory by themselves
		all = append(all, sharding.WithTimers(j), sharding.PassivateAfter(0))
	} else {
		all = append(all, sharding.Remember())
	}
	_, err = sharding.Start(host, name, func(e sharding.Entity) actor.Behavior[message] { return k.behavior(e) }, append(all, opts...)...)
	if err == nil {
		k.all.started(k)
	}
	return err
}

// started returns why runs of the type cannot be reached from a run of this node: it is started
// later, or never.
func (c client) started() error {
	if s, err := systemOf(c.host); err == nil { // else it is a client, which reaches all types
		_, err = registryOf(s).client(c.name)
		return err
	}
	return nil
}

// systemOf is no part of a generic function, so that these do not compile all of a node.
func systemOf(host Host) (*actor.System, error) {
	switch host := host.(type) {
	case *cluster.Node:
		return host.System, nil
	case *actor.System:
		return host, nil
	}
	return nil, fmt.Errorf("%w: this takes a *cluster.Node or an *actor.System, not a %T", ErrInvalid, host)
}

// Of returns a type that was started elsewhere: host is a *cluster.Client, or a node that has
// started the type. The types I and O are those of Start. Methods of the type panic on a node that
// has not started it.
func Of[I, O any](host Host, name string) *Type[I, O] { return &Type[I, O]{client{host, name}} }

// Name returns the name of the type.
func (c client) Name() string { return c.name }

// A Handle is one run, whose function returns an O.
type Handle[O any] struct {
	client client
	id     string
}

// ID returns the id of the run.
func (h Handle[O]) ID() string { return h.id }

// A RunOption is an option of one run.
type RunOption func(*command)

// Tag gives the run a tag, which lists show and select. It has at most 200 bytes, without control
// characters.
func Tag(tag string) RunOption { return func(c *command) { c.Tag = tag } }

// Run begins the run with that id, and returns when that is stored. If there is a run with that id,
// whatever its input and also after its end, Run begins nothing and returns it. So Run may be
// repeated. Ids are those of entities, see [sharding.ValidateID]. If the run was erased, methods
// return [persistence.ErrForgotten].
//
// While the run cannot be reached, Run asks again until ctx ends, and then returns its cause and
// the last error; the run may have begun. So do the other methods and functions that take a ctx. If
// the journal keeps the run from going on, that error wraps [persistence.ErrFull],
// [persistence.ErrUnavailable] or [persistence.ErrUnknown].
func (t *Type[I, O]) Run(ctx context.Context, id string, input I, opts ...RunOption) (Handle[O], error) {
	h := Handle[O]{t.client, id}
	in, err := seal(input, nil)
	if err != nil {
		return h, err
	}
	c := command{Op: opRun, Value: in}
	for _, option := range opts {
		option(&c)
	}
	if c.Tag != "" {
		if err := checkName(c.Tag); err != nil {
			return h, err
		}
	}
	_, err = t.ask(ctx, id, c)
	return h, err
}

// Handle returns the run with that id, whether or not it has begun.
func (t *Type[I, O]) Handle(id string) Handle[O] { return Handle[O]{t.client, id} }

// Result waits until the run has ended, and returns what its function has returned. The error is
// [ErrNotFound] if the run has not begun, and wraps [ErrCancelled] or [ErrFailed] if it was ended
// from outside. While somebody waits, the run stays in memory.
func (h Handle[O]) Result(ctx context.Context) (O, error) {
	a, err := h.client.ask(ctx, h.id, command{Op: opResult})
	if err != nil {
		return *new(O), err
	}
	v, err, bad := open[O](a.Out)
	return v, cmp.Or(err, bad)
}

// Signal sends a signal to a run, and returns when it is stored. [Await] with that name returns v,
// now or later. v must have the type that Await asks for. Signal returns [ErrNotFound] before the
// run has begun, and [ErrEnded] after its end. A second call sends a second signal, also after an
// error that leaves open whether the first one was stored, unless both have one [SignalKey].
func Signal[T any](ctx context.Context, to Target, id, name string, v T, opts ...SignalOption) error {
	out, err := seal(v, nil)
	if err != nil {
		return err
	}
	return to.target().signal(ctx, id, command{Op: opSignal, Name: name, Value: out}, opts)
}

// A SignalOption is an option of one signal.
type SignalOption func(*command)

// SignalKey makes signals of one name and key, to one run, count once. A run knows the last 1000
// keys, for a week. A key has 1 to 200 bytes, without control characters.
func SignalKey(key string) SignalOption { return func(c *command) { c.Key = key } }

func (c client) signal(ctx context.Context, id string, cmd command, opts []SignalOption) error {
	for _, option := range opts {
		option(&cmd)
	}
	err := checkName(cmd.Name)
	if len(opts) == 0 {
		cmd.Key = rand.Text()
	} else if err == nil {
		err = checkName(cmd.Key)
		cmd.Key = "signal " + cmd.Name + " " + cmd.Key
	}
	if err != nil {
		return err
	}
	_, err = c.ask(ctx, id, cmd)
	return err
}

// A Target is a [Type], whatever its parameters.
type Target interface{ target() client }

func (c client) target() client { return c }

// By names the operator that steers a run, and the reason. Both are stored.
type By struct{ Who, Why string }

// Cancel ends a run: contexts of steps end, no further step begins, the function gets
// [ErrCancelled], and then compensations run. Cancel returns when that is stored, not when the run
// has ended. It does nothing for a run that was cancelled or failed before, and returns [ErrEnded]
// after the end.
func (c client) Cancel(ctx context.Context, id string, by By) error {
	return c.steer(ctx, id, command{Op: opTurn, State: Cancelled, By: by.Who, Why: by.Why})
}

// Fail is Cancel for a run that shall count as failed. Its function gets [ErrFailed].
func (c client) Fail(ctx context.Context, id string, by By) error {
	return c.steer(ctx, id, command{Op: opTurn, State: Failed, By: by.Who, Why: by.Why})
}

// Retry makes the next attempts of steps due now, and lets a run go on that is held.
func (c client) Retry(ctx context.Context, id string, by By) error {
	return c.steer(ctx, id, command{Op: opResume, By: by.Who, Why: by.Why})
}

// Resume lets a run go on from a step, also after its end: the outcomes of the step and of all that
// ended after it are forgotten, so is a cancel, and the function runs again. What compensations
// have undone stays undone, so choose a step that does it anew. Steps that had succeeded get
// another [Key], so that receivers do them anew, and so do compensations that have begun. A step
// that had failed keeps its key, since its effect may be there.
//
// Signals that forgotten awaits had taken wait again. If step is the name of an [Await], as a
// [Status] shows it, its signal is dropped, and may be sent again. Children do not run anew: the
// run hears again how they have ended.
func (c client) Resume(ctx context.Context, id, step string, by By) error {
	if err := checkName(step); err != nil {
		return err
	}
	return c.steer(ctx, id, command{Op: opResume, Name: step, By: by.Who, Why: by.Why})
}

func (c client) steer(ctx context.Context, id string, cmd command) error {
	cmd.Key = rand.Text()
	_, err := c.ask(ctx, id, cmd)
	return err
}

// Look returns what the run does now. It brings a run that sleeps back to memory for a moment.
func (c client) Look(ctx context.Context, id string) (Status, error) {
	a, err := c.ask(ctx, id, command{Op: opLook})
	return a.Status, err
}

// ask sends a command until it is answered. Commands may be repeated.
func (c client) ask(ctx context.Context, id string, cmd command) (answer, error) {
	if err := sharding.ValidateID(id); err != nil {
		return answer{}, err
	}
	ref := sharding.RefOf[message](c.host, c.name, id)
	for attempt := 0; ; attempt++ {
		a, err := actor.AskResultTimeout(ctx, ref, patience, func(to actor.ActorRef[actor.Result[answer]]) message {
			cmd.ReplyTo = to
			return cmd
		})
		switch {
		case err == nil || !passes(err):
			return a, err
		case ctx.Err() != nil:
			return a, fmt.Errorf("workflow: %s of type %s: %w, after %w", id, c.name, context.Cause(ctx), err)
		case errors.Is(err, context.DeadlineExceeded): // that took long enough
			continue
		}
		timer := time.NewTimer(askAgain.Delay(min(attempt, 30)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return a, fmt.Errorf("workflow: %s of type %s: %w, after %w", id, c.name, context.Cause(ctx), err)
		}
	}
}

var askAgain = actor.Backoff{Min: 50 * time.Millisecond, Max: 2 * time.Second, Jitter: 0.2}

// passes reports whether the reason for which a command was not answered may pass.
func passes(err error) bool {
	if errors.Is(err, persistence.ErrForgotten) {
		return false
	}
	for _, reason := range []error{
		context.DeadlineExceeded, context.Canceled, errMoves, persistence.ErrFenced, sharding.ErrUnavailable, sharding.ErrBufferFull, sharding.ErrEntityFailed,
		actor.ErrUnreachable, actor.ErrTerminated, actor.ErrOverloaded, actor.ErrHandlerFailed, actor.ErrMailboxFull, actor.ErrWithdrawn,
	} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}
