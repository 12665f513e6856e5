package jetstreamtest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
)

// setups are the measured setups: the number of servers, and whether they sync each write.
var setups = []struct {
	name    string
	servers int
	sync    bool
}{{"R1-sync", 1, true}, {"R1-deferred", 1, false}, {"R3-sync", 3, true}, {"R3-deferred", 3, false}}

func BenchmarkAppend(b *testing.B) {
	onEach(b, func(b *testing.B, r *rig) {
		journaltest.BenchmarkAppend(b, func(b *testing.B) journal.Journal { return r.open(b, r.name()) })
	})
}

// BenchmarkPublish measures JetStream without a journal. It has the same number of writers; each
// waits for the answer before it publishes the next 100 bytes.
func BenchmarkPublish(b *testing.B) {
	onEach(b, func(b *testing.B, r *rig) {
		for _, writers := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) { publish(b, r, writers) })
		}
	})
}

func publish(b *testing.B, r *rig, writers int) {
	client, err := js.New(r.cluster.connect(b))
	require.NoError(b, err)
	name := r.name()
	_, err = client.CreateStream(b.Context(), js.StreamConfig{Name: name, Subjects: []string{name + ".*"}, Replicas: len(r.cluster.servers)})
	require.NoError(b, err)
	errs := make([]error, writers)
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range writers {
		all.Go(func() {
			for n := i; n < b.N && errs[i] == nil; n += writers {
				_, errs[i] = client.PublishMsg(b.Context(), &nats.Msg{Subject: fmt.Sprint(name, ".", i), Data: make([]byte, 100)})
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	for _, err := range errs {
		require.NoError(b, err)
	}
}

func BenchmarkReplay(b *testing.B) {
	r := &rig{cluster: start(b, 1)}
	journaltest.BenchmarkReplay(b, func(b *testing.B) journal.Journal { return r.open(b, r.name()) })
}

// BenchmarkReplaySingles reads events that were appended one at a time, between those of
// other ids.
func BenchmarkReplaySingles(b *testing.B) {
	r := &rig{cluster: start(b, 1, deferred)}
	j := r.open(b, r.name())
	const ids, events = 100, 1000
	reqs := make([]journal.AppendRequest, ids)
	writers := make([]*writer, ids)
	for i := range writers {
		writers[i] = claim(b, j, fmt.Sprint(i))
	}
	for range events {
		for i, w := range writers {
			reqs[i] = w.request(fmt.Sprintf("%0100d", i))
			w.last++
		}
		for _, err := range j.Append(b.Context(), reqs) {
			require.NoError(b, err)
		}
	}
	n := 0
	for b.Loop() {
		require.Len(b, read(b, j, fmt.Sprint(n%ids)), events)
		n++
	}
	b.ReportMetric(float64(b.N)*events/b.Elapsed().Seconds(), "events/s")
}

func onEach(b *testing.B, f func(*testing.B, *rig)) {
	for _, s := range setups {
		b.Run(s.name, func(b *testing.B) {
			change := func(*server.Options) {}
			if !s.sync {
				change = deferred
			}
			f(b, &rig{cluster: start(b, s.servers, change)})
		})
	}
}

func deferred(o *server.Options) { o.SyncAlways = false }
