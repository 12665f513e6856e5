package remote_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
)

// BenchmarkRemoteTell tells as fast as the other side takes it. An outbox is bounded: who
// sends without end has to look now and then how far the others are.
func BenchmarkRemoteTell(b *testing.B) {
	const window, step = 4096, 256
	from, to := startTCP(b), startTCP(b)
	progress := make(chan struct{}, 1)
	var arrived atomic.Int64
	actor.Spawn(to.sys, receive(func([]byte) {
		if n := arrived.Add(1); n%step == 0 || n == int64(b.N) {
			select {
			case progress <- struct{}{}:
			default:
			}
		}
	}), "sink")
	sink := ref[[]byte](from, to, "/user/sink")
	payload := make([]byte, 100)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range int64(b.N) {
		for i-arrived.Load() >= window {
			<-progress
		}
		sink.Tell(payload)
	}
	for arrived.Load() < int64(b.N) {
		<-progress
	}
	b.StopTimer()
	require.Empty(b, from.lost.got())
}

func BenchmarkRemoteAsk(b *testing.B) {
	from, to := startTCP(b), startTCP(b)
	spawnAdder(to.sys)
	adder := ref[question](from, to, "/user/adder")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if got := ask(b, adder, i); got != i+1 {
			b.Fatal(got)
		}
	}
}

func BenchmarkRemoteAskBy64(b *testing.B) {
	from, to := startTCP(b), startTCP(b)
	spawnAdder(to.sys)
	adder := ref[question](from, to, "/user/adder")
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			ask(b, adder, 1)
		}
	})
}
