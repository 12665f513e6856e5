// Package eventsourced tests event-sourced behaviors: a [Kit] runs one on a journal in
// memory, command by command, and says what each has stored, what the state is then and how
// it has failed; it starts the actor again, and lets the journal fail. It works inside a
// bubble of testing/synctest, in which retries cost no time, and outside.
package eventsourced

import (
	"context"
	"sync"
	"testing"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/testkit"
)

// A Behavior is what behaviors.EventSourced is made of. OnSignal may be nil; it takes the
// place of persistence.OnSignal, which is not for Options.
type Behavior[M, E, S any] struct {
	ID        string
	Initial   S
	OnEvent   func(state S, event E) S
	OnCommand func(ctx *actor.Context[M], state S, cmd M) persistence.Effect[E]
	OnSignal  func(ctx *actor.Context[M], state S, sig persistence.Signal) persistence.Effect[E]
	Options   []persistence.Option
}

// An Outcome is what has come of one command.
type Outcome[E, S any] struct {
	Events []E   // that it has stored
	State  S     // after it
	Err    error // why the actor has failed at it, an [*actor.HandlingError]; or nil
}

// A Kit runs one behavior. Use it from the goroutine of the test.
type Kit[M, E, S any] struct {
	t       testing.TB
	system  *actor.System
	journal *journal
	b       Behavior[M, E, S]
	probe   *testkit.Probe[struct{}]
	ref     actor.ActorRef[M]
	stop    context.CancelFunc

	mu      sync.Mutex // guards all below
	state   S          // as commands and signals have seen it
	applied S          // what the last event has made of it
}

// New starts b in s, on a journal of its own.
func New[M, E, S any](t testing.TB, s *actor.System, b Behavior[M, E, S]) *Kit[M, E, S] {
	t.Helper()
	k := &Kit[M, E, S]{t: t, system: s, journal: newJournal(), b: b, probe: testkit.NewProbe[struct{}](t, s)}
	k.start()
	return k
}

// Ref returns the ref of the actor, another one after each [Kit.Restart].
func (k *Kit[M, E, S]) Ref() actor.ActorRef[M] { return k.ref }

// start returns when the actor has recovered.
func (k *Kit[M, E, S]) start() {
	k.t.Helper()
	k.see(k.b.Initial)
	recovered := make(chan struct{})
	opts := append(append([]persistence.Option(nil), k.b.Options...), persistence.OnSignal(k.onSignal(recovered)))
	ctx, cancel := context.WithCancel(context.Background())
	k.stop = cancel
	b := persistence.New(k.b.ID, persistence.Journal(k.journal), k.b.Initial, k.onEvent, k.onCommand, opts...)
	k.ref = actor.Spawn(k.system, b, "", actor.WithContext(ctx))
	ended := make(chan struct{})
	defer k.system.AfterEnd(k.ref, sync.OnceFunc(func() { close(ended) }))()
	select {
	case <-recovered:
	case <-ended:
		k.t.Fatalf("eventsourced: %s has not recovered; the log has the reason", k.b.ID)
	}
}

func (k *Kit[M, E, S]) onSignal(recovered chan<- struct{}) func(*actor.Context[M], S, persistence.Signal) persistence.Effect[E] {
	once := sync.OnceFunc(func() { close(recovered) })
	return func(ctx *actor.Context[M], state S, sig persistence.Signal) (e persistence.Effect[E]) {
		k.see(state)
		if k.b.OnSignal != nil {
			e = k.b.OnSignal(ctx, state, sig)
		}
		if _, done := sig.(persistence.RecoveryCompleted); done {
			once()
		}
		return e
	}
}

func (k *Kit[M, E, S]) onEvent(state S, event E) S {
	state = k.b.OnEvent(state, event)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.applied = state
	return state
}

func (k *Kit[M, E, S]) onCommand(ctx *actor.Context[M], state S, cmd M) persistence.Effect[E] {
	k.see(state)
	return k.b.OnCommand(ctx, state, cmd)
}

func (k *Kit[M, E, S]) see(state S) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = state
}

// State returns the state as it is now.
func (k *Kit[M, E, S]) State() S {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

// Run tells the actor cmd, waits until that has been handled, and returns what has come
// of it.
func (k *Kit[M, E, S]) Run(cmd M) Outcome[E, S] {
	k.t.Helper()
	before := k.journal.last()
	done := make(chan error, 1)
	k.ref.Deliver(cmd, func(err error) { done <- err })
	err := <-done
	events := k.since(before)
	if len(events) > 0 {
		k.mu.Lock()
		k.state = k.applied
		k.mu.Unlock()
	}
	return Outcome[E, S]{Events: events, State: k.State(), Err: err}
}

// Ask is [Kit.Run] of the command that request makes around a ref to reply to; it fails
// the test without a reply.
func Ask[R, M, E, S any](k *Kit[M, E, S], request func(replyTo actor.ActorRef[R]) M) (R, Outcome[E, S]) {
	k.t.Helper()
	p := testkit.NewProbe[R](k.t, k.system)
	defer p.Stop()
	outcome := k.Run(request(p.Ref()))
	return p.Receive(), outcome
}

// Restart stops the actor, if it lives, starts another on the same journal, and returns the
// state that it has recovered.
func (k *Kit[M, E, S]) Restart() S {
	k.t.Helper()
	k.stop()
	k.probe.ExpectTerminated(k.ref)
	k.start()
	return k.State()
}

// Events returns all events that have been stored.
func (k *Kit[M, E, S]) Events() []E {
	k.t.Helper()
	return k.since(0)
}

func (k *Kit[M, E, S]) since(seq uint64) (events []E) {
	k.t.Helper()
	for r, err := range k.journal.Read(k.t.Context(), k.b.ID, seq+1, k.journal.last()) {
		if err != nil {
			k.t.Fatalf("eventsourced: read the events of %s: %v", k.b.ID, err)
		}
		v, err := actor.Payload{Type: r.Type, Data: r.Payload}.Unpack(k.system)
		if err != nil {
			k.t.Fatalf("eventsourced: read the events of %s: %v", k.b.ID, err)
		}
		event, ok := v.(E)
		if !ok {
			k.t.Fatalf("eventsourced: %s has stored a %T, which is no event of its own", k.b.ID, v)
		}
		events = append(events, event)
	}
	return events
}

// FailNext lets the next appends fail with errs, in this order, with nothing stored.
// [persistence.ErrUnavailable] is tried again, [persistence.ErrFenced] ends the actor.
func (k *Kit[M, E, S]) FailNext(errs ...error) { k.journal.failNext(errs) }

// RejectNext lets the journal reject the next n appends: they are failures of the actor,
// about which its supervision decides, and nothing is stored.
func (k *Kit[M, E, S]) RejectNext(n int) {
	for range n {
		k.FailNext(persistence.ErrTooLarge)
	}
}
