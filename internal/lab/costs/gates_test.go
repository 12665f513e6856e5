//go:build !race && !understudy_debug

package costs_test

import (
	"context"
	"flag"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
)

// A tellGate measures what a message costs in one system, beside another.
type tellGate struct {
	system *actor.System
	tell   func(to actor.ActorRef[sample], n int)
	least  time.Duration // for gateMessages
}

// A sample is a small message.
type sample [2]int64

const gateMessages = 50_000

var gates = flag.Bool("gates", false, "compare costs with their limits, which needs a machine that does nothing else")

func needsQuiet(t *testing.T) {
	t.Helper()
	if !*gates {
		t.Skip("limits of costs need a quiet machine: run it with -gates")
	}
}

func newTellGate(t *testing.T, tell func(to actor.ActorRef[sample], n int), opts ...actor.Option) *tellGate {
	s := actor.NewSystem("gate", opts...)
	t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
	return &tellGate{system: s, tell: tell, least: math.MaxInt64}
}

func plainTell(to actor.ActorRef[sample], _ int) { to.Tell(sample{}) }

// run sends messages to a new actor, and keeps the time if that is the least.
func (g *tellGate) run() {
	done := make(chan struct{})
	got := 0
	ref := actor.Spawn(g.system, behaviors.Receive(func(*actor.Context[sample], sample) actor.Behavior[sample] {
		if got++; got < gateMessages {
			return nil
		}
		close(done)
		return behaviors.Stopped[sample]
	}), "")
	began := time.Now()
	for n := range gateMessages {
		g.tell(ref, n)
	}
	<-done
	g.least = min(g.least, time.Since(began))
}

// requireCheap fails the test if a message of with costs more than limit beyond one of without. The
// two take turns; what else the machine does makes some runs slower and none faster, so the fastest
// of each are compared, and a difference that is too large is measured again.
func requireCheap(t *testing.T, without, with *tellGate, limit time.Duration) {
	t.Helper()
	var more time.Duration
	for range 10 {
		for range 20 {
			without.run()
			with.run()
		}
		if more = (with.least - without.least) / gateMessages; more <= limit {
			t.Logf("%v a message, and %v more", without.least/gateMessages, more)
			return
		}
	}
	require.LessOrEqual(t, more, limit, "a message takes %v without", without.least/gateMessages)
}

func TestTimingMessagesCostsATellNothingMeasurable(t *testing.T) {
	needsQuiet(t)
	requireCheap(t, newTellGate(t, plainTell, actor.WithTimeSampling(0)), newTellGate(t, plainTell), 5*time.Nanosecond)
}

// Its messages come in turns of many. BenchmarkTwoKinds has what labels cost otherwise.
func TestProfileLabelsCostATellNothingMeasurable(t *testing.T) {
	needsQuiet(t)
	requireCheap(t, newTellGate(t, plainTell), newTellGate(t, plainTell, actor.WithProfileLabels()), 5*time.Nanosecond)
}

// A gateTracer finds its span in a context.
type gateTracer struct{}

type gateSpan struct{}

func (gateTracer) Inject(ctx context.Context) []byte {
	carried, _ := ctx.Value(gateSpan{}).([]byte)
	return carried
}

func (gateTracer) Start(ctx context.Context, carried []byte, _ extension.Span) (within context.Context, end func(error)) {
	return context.WithValue(ctx, gateSpan{}, carried), func(error) {}
}

// The design allows 10 ns, which is what it takes on the machine where it was measured; the rest is
// for slower ones.
func TestATracerCostsATellWithoutASpanLittle(t *testing.T) {
	needsQuiet(t)
	other := context.Background()
	untraced := func(to actor.ActorRef[sample], _ int) { to.TellContext(other, sample{}) }
	requireCheap(t, newTellGate(t, plainTell), newTellGate(t, untraced, extension.WithTracer(gateTracer{})), 15*time.Nanosecond)
}

// One message in a hundred is in a sampled trace, and has a span that the tracer makes for nothing.
func TestOnePercentOfMessagesTracedCostsATellLittle(t *testing.T) {
	needsQuiet(t)
	plain := context.Background()
	sampled := context.WithValue(plain, gateSpan{}, []byte("a trace"))
	some := func(to actor.ActorRef[sample], n int) {
		if n%100 == 0 {
			to.TellContext(sampled, sample{})
		} else {
			to.TellContext(plain, sample{})
		}
	}
	requireCheap(t, newTellGate(t, plainTell), newTellGate(t, some, extension.WithTracer(gateTracer{})), 20*time.Nanosecond)
}

func TestACountOfActorsTakesLessThanTenMilliseconds(t *testing.T) {
	needsQuiet(t)
	s := actor.NewSystem("gate")
	t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
	for range 100_000 {
		actor.Spawn(s, behaviors.Ignore[sample], "")
	}
	least := time.Duration(math.MaxInt64)
	for range 50 {
		began := time.Now()
		actorhook.Internals(s).(actorhook.Counted).Backlogs() // actor implements it
		if least = min(least, time.Since(began)); least < 10*time.Millisecond {
			t.Log(least)
			return
		}
	}
	require.Less(t, least, 10*time.Millisecond)
}
