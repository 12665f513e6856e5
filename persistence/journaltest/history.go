package journaltest

import (
	"cmp"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var historyEvents = flag.Int("journaltest.events", 5_000, "how many events the longest history has that package journaltest replays")

const (
	historyBatch = 50
	// historyBytes is the least total size of the payloads of a history. It is several times
	// historyHeap, to detect a journal that reads everything at once.
	historyBytes = 10 << 20
	historyHeap  = 3 << 20
)

var historyLaws = []law{
	{"ALongHistoryIsReplayedWholeInOrderAndInConstantMemory", func(e *env) {
		j := e.journal()
		n := uint64(max(*historyEvents, 10*historyBatch)) / historyBatch * historyBatch
		begin := time.Now()
		h := history{padding: strings.Repeat(".", max(100, historyBytes/int(n)))}
		w := e.writer(j, "x")
		for w.last < n {
			w.append(h.batch(w.last)...)
		}
		e.Logf("%d events of %d bytes, appended in batches of %d in %v", n, len(h.padding), historyBatch, time.Since(begin).Round(time.Millisecond))
		require.Equal(e, n, e.writer(j, "x").last)

		took, heap := e.replayHistory(j, h, n)
		e.Logf("replayed in %v, %.0f/s, with %d KiB at most", took.Round(time.Millisecond), float64(n)/took.Seconds(), heap>>10)
		require.Less(e, heap, int64(cmp.Or(e.features.ReplayHeap, historyHeap)), "a replay must not hold what it has yielded, nor all that is to come")
		require.Len(e, e.read(j, "x", n/2-77, n/2+n/20), int(n/20+78))
	}},
}

// replayHistory reads x, which must have the events up to last. It returns the duration, and by how
// much the heap grew in ten measurements.
func (e *env) replayHistory(j journal.Journal, h history, last uint64) (took time.Duration, heap int64) {
	e.Helper()
	before, begin, next := liveHeap(), time.Now(), uint64(1)
	var looking time.Duration
	for r, err := range j.Read(e.Context(), "x", 1, everything) {
		require.NoError(e, err)
		if r.Seq != next || string(r.Payload) != h.event(next) { // require would take longer than the journal
			require.Equal(e, h.event(next), string(r.Payload), "record %d where %d was to come", r.Seq, next)
		}
		if next%(last/10) == last/20 {
			pause := time.Now()
			heap = max(heap, liveHeap()-before)
			looking += time.Since(pause)
		}
		next++
	}
	require.Equal(e, last+1, next)
	return time.Since(begin) - looking, heap
}

// A history is a sequence of events. The payload of each is its number, padded to a size.
type history struct{ padding string }

func (h history) batch(last uint64) []string {
	payloads := make([]string, historyBatch)
	for i := range payloads {
		payloads[i] = h.event(last + uint64(i) + 1)
	}
	return payloads
}

func (h history) event(seq uint64) string {
	const digits = 20
	return fmt.Sprintf("%0*d", digits, seq) + h.padding[digits:]
}

func liveHeap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
