package storebench

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

const (
	timedIDs    = 10_000
	timedAtOnce = 256 // requests in flight, each with one timer
	wakesPage   = 1000
)

// Timers reports how many of n timers of 10,000 ids are set and removed per second, each by a
// request of its own, and how many wakes a reader of a third of the slices gets per second in
// between.
func Timers(b *testing.B, n int, open func() journal.TimerStore) {
	for b.Loop() {
		t := &timed{b: b, store: open(), n: n, epochs: make([]uint64, timedIDs)}
		t.claim()
		t.report("set/s", n, func() { t.each(t.set) })
		wakes := 0
		t.report("pages/s", n/3/wakesPage, func() { wakes = t.wakes() })
		require.InEpsilon(b, n/3, wakes, 0.2)
		t.report("removed/s", n, func() { t.each(t.remove) })
	}
}

// A timed is a store with the epoch of each id. Timer k belongs to id k modulo [timedIDs], and is
// due at second k.
type timed struct {
	b      *testing.B
	store  journal.TimerStore
	n      int
	epochs []uint64
}

func (t *timed) report(unit string, n int, f func()) {
	begin := time.Now()
	f()
	t.b.ReportMetric(float64(n)/time.Since(begin).Seconds(), unit)
}

func (t *timed) claim() {
	for i := range t.epochs {
		claim, err := t.store.Claim(t.b.Context(), ID(i), journal.WriterID{}, journal.Bounds{})
		require.NoError(t.b, err)
		t.epochs[i] = claim.Epoch
	}
}

func (t *timed) each(change func(k int) journal.TimerChange) {
	var all sync.WaitGroup
	for first := range timedAtOnce {
		all.Go(func() {
			for k := first; k < t.n; k += timedAtOnce {
				id := k % timedIDs
				req := journal.AppendRequest{ID: ID(id), Epoch: t.epochs[id], Timers: []journal.TimerChange{change(k)}}
				if err := t.store.Append(t.b.Context(), []journal.AppendRequest{req})[0]; err != nil {
					t.b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func (t *timed) set(k int) journal.TimerChange {
	return journal.TimerChange{Timer: journal.Timer{Key: ID(k), Due: due(k), Type: "timer", Payload: Payload}}
}

func (t *timed) remove(k int) journal.TimerChange {
	return journal.TimerChange{Timer: journal.Timer{Key: ID(k)}, Remove: true}
}

func (t *timed) wakes() (n int) {
	var after journal.Wake
	for {
		page, err := t.store.Wakes(t.b.Context(), journal.Split(3)[1], after, due(t.n), wakesPage)
		require.NoError(t.b, err)
		if len(page) == 0 {
			return n
		}
		n += len(page)
		after = page[len(page)-1]
	}
}

func due(k int) time.Time { return time.Unix(int64(1_900_000_000+k), 0).UTC() }
