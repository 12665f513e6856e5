// Package eventsourced tests event-sourced behaviors. A [Kit] runs a behavior on a journal in
// memory, command by command, and returns the stored events, the state and the failure of each. It
// can restart the actor and make the journal fail. It notices handlers that change the state that
// they are given, replies that leave before the events are stored, second replies, and states that
// are others after a restart.
//
// It cannot notice what is outside of one actor and its state. Examples are two actors with one
// persistence id, a command handler that decides by a variable, and an event handler that sends
// messages, which go out again at each recovery. Two states that append to the
// spare room of one slice are another example.
//
// The behavior may be wrapped in behaviors.Setup, behaviors.Supervise or behaviors.Intercept. The
// kit works inside and outside testing/synctest bubbles; inside, retries take no time.
package eventsourced

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/testkit"
)

// A Behavior has the arguments of behaviors.EventSourced, without the journal. The zero Options
// are the defaults.
type Behavior[M, E, S any] struct {
	ID        string
	Initial   S
	OnEvent   func(state S, event E) S
	OnCommand func(ctx *actor.Context[M], state S, cmd M) persistence.Effect[E]
	Options   persistence.Options[M, E, S]
}

func (b Behavior[M, E, S]) on(j persistence.Journal) actor.Behavior[M] {
	return persistence.New(b.ID, j, b.Initial, b.OnEvent, b.OnCommand, b.Options)
}

// An Outcome is the result of one command.
type Outcome[E, S any] struct {
	Events []E   // that it has stored
	State  S     // after it
	Err    error // wraps why the actor has failed at it; or nil
}

// A Kit runs one behavior. Use it from the goroutine of the test.
type Kit[M, E, S any] struct {
	t        testing.TB
	system   *actor.System
	journal  *faultyJournal
	behavior func(persistence.Journal) actor.Behavior[M]
	probe    *testkit.Probe[struct{}]
	ref      actor.ActorRef[M]
	stop     context.CancelFunc
	tree     string // of refs that reply to asks

	mu     sync.Mutex // guards all below
	id     string     // the persistence id, once the actor has recovered
	state  any
	faults []string     // of the handlers
	decide any          // the command handler, once it has been called
	apply  any          // the event handler, likewise
	asks   actor.AnyRef // gets the reply to the last ask
}

// New starts b in s, on a journal of its own. The test fails if the actor ends before it has
// recovered.
func New[M, E, S any](t testing.TB, s *actor.System, b Behavior[M, E, S]) *Kit[M, E, S] {
	t.Helper()
	return Of[E, S](t, s, b.on)
}

// Of starts the behavior that b returns for a journal, in s. The behavior may be wrapped, for
// example in behaviors.Setup and behaviors.Supervise, but the actor itself must be the
// event-sourced one, not an actor that it spawns. E is the type of its events and S the type of its
// state:
//
//	k := eventsourced.Of[AccountEvent, Account](t, system, func(j persistence.Journal) actor.Behavior[Command] {
//		return bank.NewAccount("account-7", j)
//	})
//
// Each [Kit.Restart] calls b again, with the same journal. The test fails if the actor ends before
// it has recovered, or if recovery takes more than a minute.
func Of[E, S, M any](t testing.TB, s *actor.System, b func(j persistence.Journal) actor.Behavior[M]) *Kit[M, E, S] {
	t.Helper()
	k := &Kit[M, E, S]{
		t: t, system: s, journal: newJournal(), behavior: b, probe: testkit.NewProbe[struct{}](t, s),
		tree: fmt.Sprint("eventsourced-kit-", actors.Add(1)),
	}
	extension.AddTree(s, k.tree, func(string) (actor.AnyRef, error) { return k.expected(), nil })
	k.start()
	return k
}

// Ref returns the ref of the actor. It changes with each [Kit.Restart].
func (k *Kit[M, E, S]) Ref() actor.ActorRef[M] { return k.ref }

var actors atomic.Uint64

// recoveryLimit includes restarts.
const recoveryLimit = time.Minute

// start waits until the actor has recovered.
func (k *Kit[M, E, S]) start() {
	k.t.Helper()
	name := fmt.Sprint("eventsourced-kit-", actors.Add(1))
	recovered := make(chan struct{})
	ctx := tenure.WithObserver(context.Background(), &tenure.Observer{
		Path: "/user/" + name, Changed: k.see, Handles: k.watch, Ready: sync.OnceFunc(func() { close(recovered) }),
	})
	ctx, k.stop = context.WithCancel(ctx)
	k.ref = actor.Spawn(k.system, k.behavior(k.journal), name, extension.WithContext(ctx))
	ended := make(chan struct{})
	defer extension.AfterEnd(k.system, k.ref, sync.OnceFunc(func() { close(ended) }))()
	late := time.NewTimer(recoveryLimit)
	defer late.Stop()
	select {
	case <-recovered:
	case <-ended:
		k.t.Fatalf("eventsourced: the actor has ended before it had recovered; the log has the reason")
	case <-late.C:
		k.t.Fatalf("eventsourced: the actor has not recovered within %v; the log may have the reason. "+
			"The actor itself must be the event-sourced one, not a child of it", recoveryLimit)
	}
	if _, ok := k.seen().(S); !ok && k.seen() != nil {
		k.t.Fatalf("eventsourced: the state of %q is a %T, and the kit was made for a %v", k.id, k.seen(), reflect.TypeFor[S]())
	}
}

func (k *Kit[M, E, S]) see(id string, state any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.id, k.state = id, state
}

func (k *Kit[M, E, S]) seen() any {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

// State returns the current state.
func (k *Kit[M, E, S]) State() S {
	state, _ := k.seen().(S) // a nil of an interface type stays nil
	return state
}

// Run sends cmd to the actor, waits until it has been handled, and returns the outcome. It fails
// the test if a handler has changed the state that it was given: other entities may share parts of
// it, such as the initial state, and commands would see an event before it is stored. It compares
// the first 10,000 values of the state, including those in unexported fields.
func (k *Kit[M, E, S]) Run(cmd M) Outcome[E, S] {
	k.t.Helper()
	before := k.journal.last(k.id)
	done := make(chan error, 1)
	extension.Deliver(k.ref, cmd, func(err error) { done <- err })
	err := <-done
	k.report()
	return Outcome[E, S]{Events: k.since(before), State: k.State(), Err: err}
}

// Ask runs the command that request returns for a ref to reply to, see [Kit.Run], and returns the
// reply and the outcome. It fails the test if there is no reply, or a second one, and if the reply
// has left before the events of the command were stored.
func Ask[R, M, E, S any](k *Kit[M, E, S], request func(replyTo actor.ActorRef[R]) M) (R, Outcome[E, S]) {
	k.t.Helper()
	p := testkit.NewProbe[R](k.t, k.system)
	defer p.Stop()
	w := &replyWatch[R]{to: p.Ref(), journal: k.journal, told: make(chan struct{})}
	ref := extension.NewRoutedRefs[R](k.system, "/"+k.tree+"/", w)("reply")
	k.expect(ref)
	w.before = k.journal.appends()
	cmd := request(ref)
	outcome := k.Run(cmd)
	if !w.comes() {
		k.t.Fatalf("eventsourced: %s: the command handler has not replied to %T within %v, and its error is %v. "+
			"Return persistence.Reply, or chain persistence.ThenReply to the effect", k.handler(), cmd, replyLimit, outcome.Err)
	}
	reply := p.Receive()
	for _, fault := range []string{w.early(), w.twice()} {
		if fault != "" {
			k.t.Error(fault)
		}
	}
	return reply, outcome
}

// Restart stops the actor if it still runs, starts another one on the same journal, and returns the
// recovered state. It fails the test if that is another state than before. Then the initial state
// is not always the same, or the event handler does not make the state of events alone: it uses a
// clock, random numbers, a variable, or a field that an event does not keep. Fields with the tag
// `cbor:"-"`, functions, and times in unexported fields are not compared. To try another build on
// what is stored, use [Replay].
func (k *Kit[M, E, S]) Restart() S {
	k.t.Helper()
	k.stop()
	k.probe.ExpectTerminated(k.ref)
	before := storedPictureOf(k.seen())
	<-time.After(time.Microsecond) // so that a clock in a bubble has moved
	k.start()
	k.compare(before)
	return k.State()
}

// Events returns all events that have been stored.
func (k *Kit[M, E, S]) Events() []E {
	k.t.Helper()
	return k.since(0)
}

func (k *Kit[M, E, S]) since(seq uint64) (events []E) {
	k.t.Helper()
	for r, err := range k.journal.Read(k.t.Context(), k.id, seq+1, k.journal.last(k.id)) {
		if err != nil {
			k.t.Fatalf("eventsourced: read the events of %s: %v", k.id, err)
		}
		v, err := extension.Unpack(k.system, extension.Payload{Type: r.Type, Data: r.Payload})
		if err != nil {
			k.t.Fatalf("eventsourced: read the events of %s: %v", k.id, err)
		}
		event, ok := v.(E)
		if !ok {
			k.t.Fatalf("eventsourced: %s has stored a %T, which is no event of its own", k.id, v)
		}
		events = append(events, event)
	}
	return events
}

// FailNext makes the next appends fail with errs, in this order, without storing anything. The
// actor repeats a request after [persistence.ErrUnavailable]; [persistence.ErrFenced] ends it.
func (k *Kit[M, E, S]) FailNext(errs ...error) { k.journal.failNext(errs) }

// RejectNext makes the journal reject the next n appends. Each fails the actor with a
// [*persistence.RejectedError], and supervision decides; nothing is stored.
func (k *Kit[M, E, S]) RejectNext(n int) {
	for range n {
		k.FailNext(errRejected)
	}
}

var errRejected = fmt.Errorf("%w: the test has called RejectNext", persistence.ErrInvalid)
