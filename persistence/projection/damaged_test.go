package projection_test

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/testkit"
)

// A scratched journal has a damaged record.
type scratched struct {
	*journal.Memory
	id       string
	seq      uint64
	orphaned bool // the record does not say whose it is
	repaired atomic.Bool
}

func (s *scratched) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range s.Memory.Events(ctx, q, after) {
			if e.ID == s.id && e.Record.Seq == s.seq && !s.repaired.Load() {
				e.Record, err = journal.Record{Seq: s.seq}, fmt.Errorf("%w: it fails its checksum", journal.ErrCorrupt)
				if s.orphaned {
					e.ID = ""
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestADamagedRecordHoldsBackItsOwnIDOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &scratched{Memory: journal.NewMemory(), id: "a", seq: 2}
		s, offsets := newSum(), &projection.MemoryOffsets{}
		a, b := newWriter(t, j, "a"), newWriter(t, j, "b")
		a.append(added{1}, added{2})
		b.append(added{1})
		a.append(added{3})
		core, log := observer.New(zap.WarnLevel)
		sys := testkit.NewSystem(t, actor.WithLogger(zap.New(core)))
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle))
		ctx, stop := context.WithCancel(t.Context())
		ref := actor.Spawn(sys, p.Behavior(), "sum", extension.WithContext(ctx))
		catchUp(t, ref)
		b.append(added{2})
		got := catchUp(t, ref)
		require.Equal(t, []string{"a/1", "b/1", "b/2"}, s.handled())
		require.Zero(t, got.Workers[0].Failures)
		require.Len(t, got.Workers[0].Held, 1)
		held := got.Workers[0].Held[0]
		require.Contains(t, held.Failure, `event 2 of "a"`)
		require.Contains(t, held.Failure, "checksum")
		require.Contains(t, held.Failure, "backup", "what helps")
		held.Failure = ""
		require.Equal(t, projection.HeldID{ID: "a", From: 2, Last: 3}, held)
		require.Equal(t, 1, log.Len())
		require.Equal(t, "a", log.All()[0].ContextMap()["id"])
		require.EqualValues(t, 2, log.All()[0].ContextMap()["seq"])

		stop()
		testkit.NewProbe[int](t, sys).ExpectTerminated(ref)
		ref = actor.Spawn(sys, p.Behavior(), "sum")
		require.Len(t, catchUp(t, ref).Workers[0].Held, 1, "it is still damaged")
		require.NoError(t, sys.Shutdown(t.Context()))

		j.repaired.Store(true)
		_, err := p.CatchUp(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a/1", "b/1", "b/2", "a/2", "a/3"}, s.handled())
	})
}

// Nobody knows whose events would come too early if the projection went on.
func TestADamagedRecordOfNoIDStopsTheProjectionUntilItIsRepairedOrSkipped(t *testing.T) {
	for _, skips := range []bool{false, true} {
		j := &scratched{Memory: journal.NewMemory(), id: "a", seq: 2, orphaned: true}
		s, offsets := newSum(), &projection.MemoryOffsets{}
		newWriter(t, j, "a").append(added{1}, added{2}, added{3})
		newWriter(t, j, "b").append(added{1})
		sum := func(opts ...projection.Option) error {
			_, err := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle), opts...).CatchUp(t.Context())
			return err
		}
		require.ErrorIs(t, sum(), journal.ErrCorrupt)
		require.ErrorIs(t, sum(), journal.ErrCorrupt)
		require.Equal(t, []string{"a/1"}, s.handled())
		if skips {
			require.NoError(t, sum(projection.SkipAfter(2)))
			require.Equal(t, []string{"a/1", "a/3", "b/1"}, s.handled())
		} else {
			j.repaired.Store(true)
			require.NoError(t, sum())
			require.Equal(t, []string{"a/1", "a/2", "a/3", "b/1"}, s.handled())
		}
	}
}

func TestADamagedRecordMayBeSkipped(t *testing.T) {
	for name, before := range map[string]bool{"before it is met": false, "when it has held back its id": true} {
		t.Run(name, func(t *testing.T) {
			j := &scratched{Memory: journal.NewMemory(), id: "a", seq: 2}
			s, offsets := newSum(), &projection.MemoryOffsets{}
			newWriter(t, j, "a").append(added{1}, added{2}, added{3})
			newWriter(t, j, "b").append(added{1})
			sum := func(opts ...projection.Option) (projection.Status, error) {
				return projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle), opts...).CatchUp(t.Context())
			}
			if before {
				_, err := sum()
				require.ErrorIs(t, err, journal.ErrCorrupt)
			}
			got, err := sum(projection.SkipAfter(2))
			require.NoError(t, err)
			require.Equal(t, uint64(1), got.Workers[0].Skipped)
			require.ElementsMatch(t, []string{"a/1", "a/3", "b/1"}, s.handled())
		})
	}
}
