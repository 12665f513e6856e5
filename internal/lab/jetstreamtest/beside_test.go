package jetstreamtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

// BenchmarkAppendBesideRaw compares the appends of a journal with nats.go alone, in turns. With
// nats.go, the same number of writers publish messages of the same size under the same conditions.
// A third contender publishes bare messages of 100 bytes without fencing.
func BenchmarkAppendBesideRaw(b *testing.B) {
	onEach(b, func(b *testing.B, r *rig) {
		for _, writers := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
				journal, size := journalContender(b, r, writers)
				inTurns(b, []contender{journal, rawContender(b, r, writers, size), bareContender(b, r, writers)})
			})
		}
	})
}

// inTurns has contenders append events, each for some milliseconds at a time.
func inTurns(b *testing.B, contenders []contender) {
	const events = 50 // of each writer in a turn
	times := make([]time.Duration, len(contenders))
	for b.Loop() {
		for i, c := range contenders {
			begin := time.Now()
			c.run(b, events)
			times[i] += time.Since(begin)
		}
	}
	total := float64(b.N * len(contenders[0]) * events)
	for i, unit := range []string{"events/s", "raw/s", "bare/s"} {
		b.ReportMetric(total/times[i].Seconds(), unit)
	}
	b.ReportMetric(100*times[1].Seconds()/times[0].Seconds(), "%raw")
}

// A contender has a function for each writer that appends its next event.
type contender []func(ctx context.Context) error

func (c contender) run(tb testing.TB, events int) {
	errs := make([]error, len(c))
	var all sync.WaitGroup
	for i, next := range c {
		all.Go(func() {
			for n := 0; n < events && errs[i] == nil; n++ {
				errs[i] = next(tb.Context())
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(tb, err)
	}
}

const payload100 = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"

// journalContender also returns how large its messages are, on average.
func journalContender(b *testing.B, r *rig, writers int) (c contender, size int) {
	j := r.open(b, r.name())
	for i := range writers {
		w := claim(b, j, fmt.Sprint("writer-", i))
		c = append(c, func(ctx context.Context) error { return w.try(ctx, w.request(payload100)) })
	}
	const round = 66 // twice the pointers of a message
	c.run(b, round)
	state := j.at(b, j.stream).CachedInfo().State
	stored := 0
	for at := state.LastSeq - round + 1; at <= state.LastSeq; at++ {
		m, err := j.at(b, j.stream).GetMsg(b.Context(), at)
		require.NoError(b, err)
		stored += len(m.Data)
	}
	return c, stored / round
}

func rawContender(b *testing.B, r *rig, writers, size int) contender {
	return publishers(b, r, writers, func(client js.JetStream, stream, subject string) func(context.Context) error {
		last := uint64(0)
		return func(ctx context.Context) error {
			ack, err := client.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: make([]byte, size)},
				js.WithExpectStream(stream), js.WithExpectLastSequencePerSubject(last))
			if err == nil {
				last = ack.Sequence
			}
			return err
		}
	})
}

func bareContender(b *testing.B, r *rig, writers int) contender {
	return publishers(b, r, writers, func(client js.JetStream, _, subject string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := client.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: []byte(payload100)})
			return err
		}
	})
}

func publishers(b *testing.B, r *rig, writers int, publisher func(client js.JetStream, stream, subject string) func(context.Context) error) (c contender) {
	client, err := js.New(r.cluster.connect(b))
	require.NoError(b, err)
	name := r.name()
	_, err = client.CreateStream(b.Context(), js.StreamConfig{
		Name: name, Subjects: []string{name + ".e.*.*.*"}, Replicas: len(r.cluster.servers), AllowDirect: true,
	})
	require.NoError(b, err)
	for i := range writers {
		c = append(c, publisher(client, name, fmt.Sprintf("%s.e.%d.%d.writer-%d", name, i%32, i/32, i)))
	}
	return c
}

// BenchmarkReplayBesideRaw compares the replay of ids with nats.go alone, in turns. The events were
// appended one at a time. For an id among others, nats.go fetches the same messages by number, with
// the same prefetch. For an id with its own stream, it uses an ordered consumer. The fetched
// messages are not decoded.
func BenchmarkReplayBesideRaw(b *testing.B) {
	r := &rig{cluster: start(b, 1, deferred)}
	for _, c := range []struct {
		name        string
		ids, events int
		raw         func(b *testing.B, j *located, ids, events int)
	}{{"ids=1", 1, 20_000, scanned}, {"ids=100", 100, 1000, fetched}, {"ids=1000", 1000, 100, fetched}} {
		b.Run(c.name, func(b *testing.B) {
			j := r.open(b, r.name())
			appendSingles(b, j, c.ids, c.events)
			const most = 20 // ids in a turn
			var replaying, raw time.Duration
			for b.Loop() {
				begin := time.Now()
				for i := range min(c.ids, most) {
					require.Equal(b, c.events, replay(b, j, fmt.Sprint(i)))
				}
				replaying += time.Since(begin)
				begin = time.Now()
				c.raw(b, j, min(c.ids, most), c.events)
				raw += time.Since(begin)
			}
			total := float64(b.N * min(c.ids, most) * c.events)
			b.ReportMetric(total/replaying.Seconds(), "events/s")
			b.ReportMetric(total/raw.Seconds(), "raw/s")
			b.ReportMetric(100*raw.Seconds()/replaying.Seconds(), "%raw")
		})
	}
}

// appendSingles appends events of 100 bytes to ids in turns, each in a separate message.
func appendSingles(b *testing.B, j *located, ids, events int) {
	writers := make([]*writer, ids)
	reqs := make([]journal.AppendRequest, ids)
	for i := range writers {
		writers[i] = claim(b, j, fmt.Sprint(i))
	}
	for range events {
		for i, w := range writers {
			reqs[i] = w.request(payload100)
			w.last++
		}
		for _, err := range j.Append(b.Context(), reqs) {
			require.NoError(b, err)
		}
	}
}

func replay(b *testing.B, j journal.Journal, id string) (n int) {
	for _, err := range j.Read(b.Context(), id, 1, everything) {
		require.NoError(b, err)
		n++
	}
	return n
}

// scanned reads the whole stream by a consumer.
func scanned(b *testing.B, j *located, _, events int) {
	consumer, err := j.at(b, j.stream).OrderedConsumer(b.Context(), js.OrderedConsumerConfig{})
	require.NoError(b, err)
	messages, err := consumer.Messages(js.PullMaxMessages(5000))
	require.NoError(b, err)
	defer messages.Stop()
	for range events + 1 { // and the claim
		_, err := messages.Next()
		require.NoError(b, err)
	}
}

// fetched gets one message per event by number, 64 at once.
func fetched(b *testing.B, j *located, ids, events int) {
	stream := j.at(b, j.stream)
	state := stream.CachedInfo().State
	total := ids * events
	step := max(1, int(state.LastSeq)/total)
	errs := make([]error, 64)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for n := i; n < total && errs[i] == nil; n += len(errs) {
				_, errs[i] = stream.GetMsg(b.Context(), uint64(1+n*step))
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(b, err)
	}
}
