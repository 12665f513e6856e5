package transport_test

import (
	"sync/atomic"
	"testing"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
)

// BenchmarkRemoteTell sends as fast as the other side receives. An outbox is bounded, so the sender
// checks now and then how far the receiver is.
func BenchmarkRemoteTell(b *testing.B) { benchmarkTell(b, 100) }

func BenchmarkRemoteTellSecure(b *testing.B) { benchmarkTell(b, 100, ring(keyring(b, secret(1)))) }

func BenchmarkRemoteTell4K(b *testing.B) { benchmarkTell(b, 4096) }

func BenchmarkRemoteTell4KSecure(b *testing.B) { benchmarkTell(b, 4096, ring(keyring(b, secret(1)))) }

func benchmarkTell(b *testing.B, size int, change ...func(*transport.Config)) {
	b.Helper()
	const window, step = 4096, 256
	from, to := startTCP(b, change...), startTCP(b, change...)
	progress := make(chan struct{}, 1)
	var checkIdentity atomic.Int64
	actor.Spawn(to.sys, receive(func([]byte) {
		if n := checkIdentity.Add(1); n%step == 0 || n == int64(b.N) {
			select {
			case progress <- struct{}{}:
			default:
			}
		}
	}), "sink")
	sink := ref[[]byte](from, to, "/user/sink")
	payload := make([]byte, size)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	b.ResetTimer()
	for i := range int64(b.N) {
		for i-checkIdentity.Load() >= window {
			<-progress
		}
		sink.Tell(payload)
	}
	for checkIdentity.Load() < int64(b.N) {
		<-progress
	}
	b.StopTimer()
	require.Empty(b, from.lost.got())
}

func BenchmarkRemoteAsk(b *testing.B) { benchmarkAsk(b) }

func BenchmarkRemoteAskSecure(b *testing.B) { benchmarkAsk(b, ring(keyring(b, secret(1)))) }

func benchmarkAsk(b *testing.B, change ...func(*transport.Config)) {
	b.Helper()
	from, to := startTCP(b, change...), startTCP(b, change...)
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
