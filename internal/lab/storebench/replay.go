package storebench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Fill appends n events to each of ids, as fast as possible.
func Fill(b *testing.B, j journal.Journal, ids, n int) {
	const size = 1000 // of a request
	for i := range ids {
		claim, err := j.Claim(b.Context(), ID(i), journal.WriterID{}, journal.Bounds{})
		require.NoError(b, err)
		for prev := 0; prev < n; prev += size {
			req := journal.AppendRequest{ID: ID(i), Epoch: claim.Epoch, Prev: uint64(prev)}
			for seq := prev + 1; seq <= min(prev+size, n); seq++ {
				req.Records = append(req.Records, record(claim.Epoch, uint64(seq)))
			}
			require.NoError(b, j.Append(b.Context(), []journal.AppendRequest{req})[0])
		}
	}
}

// Replay compares replays of one id, with up to 10^6 events, with a scan by the driver, which calls
// row for each row. It reports the peak memory of the replay and of the driver.
func Replay(b *testing.B, j journal.Journal, scan func(ctx context.Context, id string, to int, row func()) error) {
	const most = 1_000_000
	Fill(b, j, 1, most)
	for _, events := range []int{most / 10, most} {
		b.Run(fmt.Sprintf("events=%d", events), func(b *testing.B) {
			var replaying, scanning heap
			t := TakeTurns(b, events,
				func() error {
					return replaying.watch(events, func(row func()) error { return read(b.Context(), j, ID(0), uint64(events), row) })
				},
				func() error {
					return scanning.watch(events, func(row func()) error { return scan(b.Context(), ID(0), events, row) })
				})
			t.Beside(b, "events/s")
			b.ReportMetric(replaying.peak, "peak-MB")
			b.ReportMetric(scanning.peak, "raw-peak-MB")
		})
	}
}

// ReplayMany compares replays of 10,000 ids, of 100 events each, with scans by the driver.
func ReplayMany(b *testing.B, j journal.Journal, scan func(ctx context.Context, id string, to int, row func()) error) {
	const ids, events = 10_000, 100
	Fill(b, j, ids, events)
	each := func(one func(id string, row func()) error) func() error {
		return func() error {
			return counted(ids*events, func(row func()) error {
				for i := range ids {
					if err := one(ID(i), row); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	t := TakeTurns(b, ids*events,
		each(func(id string, row func()) error { return read(b.Context(), j, id, math.MaxInt64, row) }),
		each(func(id string, row func()) error { return scan(b.Context(), id, events, row) }))
	t.Beside(b, "events/s")
	b.ReportMetric(t.Rate(0)/events, "ids/s")
}

func read(ctx context.Context, j journal.Journal, id string, to uint64, row func()) error {
	for _, err := range j.Read(ctx, id, 1, to) {
		if err != nil {
			return err
		}
		row()
	}
	return nil
}

func counted(want int, f func(row func()) error) error {
	n := 0
	err := f(func() { n++ })
	if err == nil && n != want {
		err = fmt.Errorf("%d of %d events came", n, want)
	}
	return err
}

// A heap is the peak memory of an operation in MB, including garbage that has not been collected
// yet.
type heap struct{ peak float64 }

// watch is like counted, but also measures the heap from time to time.
func (h *heap) watch(want int, f func(row func()) error) error {
	const often = 5000
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	now := func() float64 {
		metrics.Read(sample)
		return float64(sample[0].Value.Uint64()) / 1e6
	}
	runtime.GC()
	before, n := now(), 0
	return counted(want, func(row func()) error {
		return f(func() {
			if n++; n%often == 0 {
				h.peak = max(h.peak, now()-before)
			}
			row()
		})
	})
}
