package telemetry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/telemetrytest"
	"github.com/understudy-go/understudy/testkit"
)

// numbered is a type of messages for each T.
type numbered[T any] struct{}

// crowd spawns n actors for messages of type numbered[T], and returns what tells all a message.
func crowd[T any](s *actor.System, n int) (tell func(i int)) {
	refs := make([]actor.ActorRef[numbered[T]], n)
	for i := range refs {
		refs[i] = actor.Spawn(s, func(_ *actor.Context[numbered[T]], next *actor.Next[numbered[T]]) {
			next.OnMessage = func(*actor.Context[numbered[T]], numbered[T]) actor.Behavior[numbered[T]] { return behaviors.Same }
		}, "")
	}
	return func(i int) { refs[i%n].Tell(numbered[T]{}) }
}

// crowds spawns n actors of ten types. The function that it returns tells one of each type a
// message.
func crowds(s *actor.System, n int) (tell func(i int)) {
	all := []func(int){
		crowd[[0]int](s, n/10), crowd[[1]int](s, n/10), crowd[[2]int](s, n/10), crowd[[3]int](s, n/10), crowd[[4]int](s, n/10),
		crowd[[5]int](s, n/10), crowd[[6]int](s, n/10), crowd[[7]int](s, n/10), crowd[[8]int](s, n/10), crowd[[9]int](s, n/10),
	}
	return func(i int) {
		for _, one := range all {
			one(i)
		}
	}
}

// mostSeries is how many series the actors of ten types may have, however many they are.
const mostSeries = 200

func TestAHundredThousandActorsHaveFewSeries(t *testing.T) {
	actors := effort.Of(10_000, 100_000, 100_000)
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	tell := crowds(s, actors)
	for i := range actors / 10 {
		tell(i)
	}
	shortest := time.Hour
	for range 5 { // another process may have had the processor meanwhile
		begun := time.Now()
		telemetry.Gather(s)
		shortest = min(shortest, time.Since(begun))
	}
	series, lines := 0, 0
	for _, f := range telemetry.Gather(s) {
		series += len(f.Series)
		for _, one := range f.Series {
			lines += max(1, len(one.Durations.Buckets)+3) // the buckets, the one that takes all, sum and count
		}
	}
	t.Logf("%d actors: %d series, %d lines for Prometheus, gathered within %v", actors, series, lines, shortest)
	require.LessOrEqual(t, series, mostSeries)
	telemetrytest.Check(t, s)
}

// BenchmarkGather gathers while a million messages a second are told to 100 000 actors.
func BenchmarkGather(b *testing.B) {
	s := actor.NewSystem("gather")
	defer func() { require.NoError(b, s.Shutdown(b.Context())) }()
	tell := crowds(s, 100_000)
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		told := 0
		defer func() { stopped <- told }()
		begun := time.Now()
		for {
			select {
			case <-stop:
				return
			default:
			}
			for due := int(time.Since(begun) / time.Microsecond); told < due; told += 10 {
				tell(told / 10)
			}
			time.Sleep(100 * time.Microsecond)
		}
	}()
	var took []time.Duration
	begun := time.Now()
	for b.Loop() {
		at := time.Now()
		telemetry.Gather(s)
		took = append(took, time.Since(at))
	}
	close(stop)
	b.ReportMetric(float64(<-stopped)/time.Since(begun).Seconds(), "tells/s")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "ns-p99")
}
