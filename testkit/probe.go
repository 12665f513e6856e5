package testkit

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

const probeLimit = 3 * time.Second

// A Probe is an actor whose messages the test receives one by one, in order. Its methods wait up
// to three seconds, or as long as Within allows, and fail the test after that. Use it only in the
// test's own goroutine.
type Probe[M any] struct {
	t        testing.TB
	system   *actor.System
	ref      actor.ActorRef[M]
	stop     chan actor.ActorRef[struct{}] // of one: tell it to stop the probe
	inbox    *inbox[M]
	deadline time.Time // of the innermost Within; zero without one
}

// NewProbe spawns a probe in s.
func NewProbe[M any](t testing.TB, s *actor.System) *Probe[M] {
	t.Helper()
	p := &Probe[M]{t: t, system: s, inbox: &inbox[M]{more: make(chan struct{}, 1)}, stop: make(chan actor.ActorRef[struct{}], 1)}
	p.ref = actor.Spawn(s, p.run, "")
	return p
}

func (p *Probe[M]) run(ctx *actor.Context[M], next *actor.Next[M]) {
	p.stop <- extension.Handle(ctx, func(struct{}) actor.Behavior[M] { return stopped })
	next.OnMessage = func(_ *actor.Context[M], msg M) actor.Behavior[M] {
		p.inbox.put(msg)
		return nil
	}
}

func stopped[M any](_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }

// Ref returns the probe's ref.
func (p *Probe[M]) Ref() actor.ActorRef[M] { return p.ref }

// Stop ends the probe's actor. Earlier messages can still be received; later messages become dead
// letters.
func (p *Probe[M]) Stop() {
	p.t.Helper()
	select {
	case stop := <-p.stop:
		p.stop <- stop
		stop.Tell(struct{}{})
		p.ExpectTerminated(p.ref)
	case <-p.system.Terminated():
	}
}

// Receive returns the next message.
func (p *Probe[M]) Receive() M {
	p.t.Helper()
	return p.receive(func() string { return "" })
}

// expected describes the message in a failure.
func (p *Probe[M]) receive(expected func() string) M {
	p.t.Helper()
	limit := p.limit()
	msg, ok := p.inbox.take(limit)
	if !ok {
		p.t.Fatalf("probe: no message within %v%s", limit, expected())
	}
	return msg
}

// Expect fails the test unless the next message equals want, compared in depth.
func (p *Probe[M]) Expect(want M) {
	p.t.Helper()
	got := p.receive(func() string { return fmt.Sprintf(", expected %#v", want) })
	if !reflect.DeepEqual(got, want) {
		p.t.Fatalf("probe: expected %#v, got %#v", want, got)
	}
}

// ExpectNone fails the test if a message arrives within d. In a bubble, waiting an hour takes no
// time.
func (p *Probe[M]) ExpectNone(d time.Duration) {
	p.t.Helper()
	if msg, ok := p.inbox.take(d); ok {
		p.t.Fatalf("probe: expected no message for %v, got %#v", d, msg)
	}
}

// ExpectTerminated fails the test unless the actor of ref ends or has ended.
func (p *Probe[M]) ExpectTerminated(ref actor.AnyRef) {
	p.t.Helper()
	limit := p.limit()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-watch(p.system, ref):
	case <-p.system.Terminated(): // with all its actors
	case <-timer.C:
		p.t.Fatalf("probe: %s has not terminated within %v", ref.Path(), limit)
	}
}

// ExpectType returns the next message, and fails the test unless it is a T.
func ExpectType[T, M any](p *Probe[M]) T {
	p.t.Helper()
	msg := p.receive(func() string { return fmt.Sprintf(", expected one of type %v", reflect.TypeFor[T]()) })
	got, ok := any(msg).(T)
	if !ok {
		p.t.Fatalf("probe: expected a message of type %v, got %#v", reflect.TypeFor[T](), msg)
	}
	return got
}

// A Fishing is the verdict of a fisher on a message.
type Fishing int

// The verdicts of a fisher.
const (
	Keep     Fishing = iota // keep it and go on
	Ignore                  // drop it and go on
	Complete                // keep it and be done
	Fail                    // fail the test
)

// Fish passes each message to fisher until it returns Complete, and returns the messages that it
// kept. It fails the test if fisher returns Fail, or if no message arrives in time.
func (p *Probe[M]) Fish(fisher func(M) Fishing) []M {
	p.t.Helper()
	var kept []M
	for {
		limit := p.limit()
		msg, ok := p.inbox.take(limit)
		if !ok {
			p.t.Fatalf("probe: fished in vain for %v; kept so far: %s", limit, list(kept))
		}
		switch fisher(msg) {
		case Keep:
			kept = append(kept, msg)
		case Complete:
			return append(kept, msg)
		case Fail:
			p.t.Fatalf("probe: fished %#v, which must not come; kept so far: %s", msg, list(kept))
		case Ignore:
		}
	}
}

// Within runs f, whose waits together must end within d. It fails the test if f takes longer.
// Nested calls obey the earlier deadline.
func (p *Probe[M]) Within(d time.Duration, f func()) {
	p.t.Helper()
	outer := p.deadline
	defer func() { p.deadline = outer }()
	deadline := time.Now().Add(d)
	if !outer.IsZero() && outer.Before(deadline) {
		deadline = outer
	}
	p.deadline = deadline
	f()
	if late := time.Since(deadline); late > 0 {
		p.t.Fatalf("probe: took %v longer than the %v allowed", late, d)
	}
}

func (p *Probe[M]) limit() time.Duration {
	if p.deadline.IsZero() {
		return probeLimit
	}
	return time.Until(p.deadline)
}

func list[M any](msgs []M) string { return fmt.Sprintf("%#v", msgs) }

func watch(s *actor.System, ref actor.AnyRef) <-chan struct{} {
	ended := make(chan struct{})
	actor.Spawn(s, func(ctx *actor.Context[struct{}], next *actor.Next[struct{}]) {
		ctx.WatchWith(ref, struct{}{})
		next.OnMessage = func(*actor.Context[struct{}], struct{}) actor.Behavior[struct{}] {
			close(ended)
			return stopped
		}
	}, "")
	return ended
}

// An inbox has one reader.
type inbox[M any] struct {
	mu    sync.Mutex // guards queue
	queue []M
	more  chan struct{} // capacity 1: the queue may have become non-empty
}

func (b *inbox[M]) put(msg M) {
	b.mu.Lock()
	b.queue = append(b.queue, msg)
	b.mu.Unlock()
	select {
	case b.more <- struct{}{}:
	default:
	}
}

func (b *inbox[M]) take(limit time.Duration) (msg M, ok bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		if msg, ok = b.poll(); ok {
			return msg, true
		}
		select {
		case <-b.more:
		case <-timer.C:
			return b.poll()
		}
	}
}

func (b *inbox[M]) poll() (msg M, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return msg, false
	}
	msg = b.queue[0]
	b.queue = b.queue[1:]
	return msg, true
}
