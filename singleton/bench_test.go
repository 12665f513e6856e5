package singleton_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	realcluster "github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

// turn is how many operations are timed before it is the other's turn.
const turn = 2000

// compare times b.N operations on a plain actor and as many on a singleton, in turns, so
// that both have the same machine, and reports both and what the singleton costs.
func compare(b *testing.B, plain, single func(n int)) {
	b.Helper()
	both := [2]func(int){plain, single}
	var spent [2]time.Duration
	b.ResetTimer()
	for done, round := 0, 0; done < b.N; round++ {
		n := min(turn, b.N-done)
		for i := range both {
			i = (i + round) % 2
			began := time.Now()
			both[i](n)
			spent[i] += time.Since(began)
		}
		done += n
	}
	b.StopTimer()
	b.ReportMetric(0, "ns/op") // it would be the sum of both
	b.ReportMetric(float64(spent[0].Nanoseconds())/float64(b.N), "plain-ns/op")
	b.ReportMetric(float64(spent[1].Nanoseconds())/float64(b.N), "singleton-ns/op")
	b.ReportMetric(100*(float64(spent[1])/float64(spent[0])-1), "%-more")
}

// A load is what the benchmarked actors take: it counts, or answers.
type load struct {
	Value   int64
	ReplyTo actor.ActorRef[int64]
}

func init() { actor.RegisterType[load]("singleton_test.load") }

// A scale is an actor, and how much it has taken.
type scale struct {
	ref     actor.ActorRef[load]
	arrived atomic.Int64
	goal    atomic.Int64
	there   chan struct{}
}

func newScale() *scale { return &scale{there: make(chan struct{}, 1)} }

func (s *scale) behavior() actor.Behavior[load] {
	return behaviors.Receive(func(_ *actor.Context[load], m load) actor.Behavior[load] {
		if m.ReplyTo != (actor.ActorRef[int64]{}) {
			m.ReplyTo.Tell(m.Value)
			return behaviors.Same
		}
		if s.arrived.Add(1) == s.goal.Load() {
			s.there <- struct{}{}
		}
		return behaviors.Same
	})
}

// tell tells n messages, and returns when all have been taken.
func (s *scale) tell(n int) {
	s.goal.Store(s.arrived.Load() + int64(n))
	for i := range n {
		s.ref.Tell(load{Value: int64(i)})
	}
	<-s.there
}

// ask asks n times, one after the other.
func (s *scale) ask(b *testing.B) func(n int) {
	return func(n int) {
		for i := range n {
			if _, err := actor.Ask(b.Context(), s.ref, func(replyTo actor.ActorRef[int64]) load { return load{int64(i), replyTo} }); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// local spawns a plain actor and a singleton in one system.
func local(b *testing.B) (plain, single *scale) {
	b.Helper()
	s := actor.NewSystem("bench")
	b.Cleanup(func() { require.NoError(b, s.Shutdown(context.Background())) })
	plain, single = newScale(), newScale()
	plain.ref = actor.Spawn(s, plain.behavior(), "plain")
	single.ref = actor.Spawn(s, behaviors.Singleton(single.behavior), "single")
	plain.tell(1)
	single.tell(1)
	return plain, single
}

func BenchmarkLocalTell(b *testing.B) {
	plain, single := local(b)
	compare(b, plain.tell, single.tell)
}

func BenchmarkLocalAsk(b *testing.B) {
	plain, single := local(b)
	compare(b, plain.ask(b), single.ask(b))
}

// remotely spawns both on the first of two nodes that talk over loopback, and returns them
// as the second sees them.
func remotely(b *testing.B) (plain, single *scale) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	seed := l.Addr().String()
	require.NoError(b, l.Close())
	start := func(id, bind string) *realcluster.Node {
		n, err := realcluster.Start(b.Context(), realcluster.Config{Name: "bench", NodeID: id, Bind: bind, Seeds: []string{seed}})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, n.Shutdown(context.Background())) })
		return n
	}
	plain, single = newScale(), newScale()
	host := start("n1", seed)
	single.ref = actor.Spawn(host, behaviors.Singleton(single.behavior), "single")
	single.tell(1)
	at := actor.Spawn(host, plain.behavior(), "plain").Path()
	other := start("n2", "127.0.0.1:0")
	plain.ref = actor.Resolve[load](other.System, at)
	single.ref = actor.Spawn(other, behaviors.Singleton(single.behavior), "single")
	plain.tell(1)
	single.tell(1)
	status, ok := singleton.StatusOf(host.System, "single")
	require.True(b, ok && status.Here)
	return plain, single
}

func BenchmarkRemoteTell(b *testing.B) {
	plain, single := remotely(b)
	compare(b, plain.tell, single.tell)
}

func BenchmarkRemoteAsk(b *testing.B) {
	plain, single := remotely(b)
	compare(b, plain.ask(b), single.ask(b))
}
