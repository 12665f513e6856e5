package actor_test

import (
	"testing"
	"testing/synctest"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// inBubble runs f with a system in a bubble, in which time is virtual and a goroutine
// that is left over fails the test.
func inBubble(t *testing.T, f func(t *testing.T, s *actor.System)) {
	t.Helper()
	inBubbleWith(t, f)
}

// inBubbleWith is inBubble with options for the system.
func inBubbleWith(t *testing.T, f func(t *testing.T, s *actor.System), opts ...actor.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		f(t, testkit.NewSystem(t, append([]actor.Option{testkit.WithoutEncoding()}, opts...)...))
	})
}

// An order is a message that contains its own handler, which returns the next behavior.
type order func(ctx *actor.Context[order]) actor.Behavior[order]

// obedient runs the orders that it receives.
func obedient() actor.Behavior[order] {
	return behaviors.Receive(func(ctx *actor.Context[order], o order) actor.Behavior[order] { return o(ctx) })
}

// do is an order after which the behavior is the same.
func do(f func(ctx *actor.Context[order])) order {
	return func(ctx *actor.Context[order]) actor.Behavior[order] {
		f(ctx)
		return behaviors.Same
	}
}

// say returns an order to send what to the probe.
func say(p *testkit.Probe[string], what string) order {
	return do(func(*actor.Context[order]) { p.Ref().Tell(what) })
}

// fail is an order to fail with err.
func fail(err error) order {
	return func(ctx *actor.Context[order]) actor.Behavior[order] { return ctx.Fail(err) }
}

// stop is an order to stop.
func stop(*actor.Context[order]) actor.Behavior[order] { return behaviors.Stopped }

// telling tells the probe the name of each signal, which it takes as handled.
func telling(p *testkit.Probe[string], who string) actor.SignalHandler[order] {
	return func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
		switch sig.(type) {
		case actor.PostStop:
			p.Ref().Tell(who + " PostStop")
		case actor.PreRestart:
			p.Ref().Tell(who + " PreRestart")
		case actor.Terminated:
			p.Ref().Tell(who + " Terminated")
		case actor.ChildFailed:
			p.Ref().Tell(who + " ChildFailed")
		case actor.AdaptFailed:
			p.Ref().Tell(who + " AdaptFailed")
		}
		return behaviors.Same
	}
}

// same compares refs as users do. To compare them in depth would be to look into actors
// that run.
func same(a, b actor.AnyRef) bool { return a == b }

// settle waits until every actor is idle.
func settle() { synctest.Wait() }

// deadLetters returns a probe of all dead letters of s from now on.
func deadLetters(t *testing.T, s *actor.System) *testkit.Probe[actor.DeadLetter] {
	t.Helper()
	p := testkit.NewProbe[actor.DeadLetter](t, s)
	actor.Subscribe(s, p.Ref())
	return p
}

// unhandled returns a probe of all unhandled messages of s from now on.
func unhandled(t *testing.T, s *actor.System) *testkit.Probe[actor.UnhandledMessage] {
	t.Helper()
	p := testkit.NewProbe[actor.UnhandledMessage](t, s)
	actor.Subscribe(s, p.Ref())
	return p
}
