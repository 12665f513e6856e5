package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/testkit"
)

// counter is an event-sourced actor that adds numbers, and deletes what its snapshots have.
func counter(j persistence.Journal, id string) actor.Behavior[int] {
	return behaviors.EventSourced(id, j, 0, func(sum int, e event) int { return sum + e.(added).N },
		func(_ *actor.Context[int], _, n int) persistence.Effect[event] {
			return persistence.Persist[event](added{n})
		},
		persistence.Options[int, event, int]{
			SnapshotEvery: 3, KeepSnapshots: 1, DeleteEvents: true,
			Tags: func(int, event) []string { return []string{id} },
		})
}

// stored returns how many events j has.
func stored(t *testing.T, j journal.EventReader) (n int) {
	t.Helper()
	for _, err := range j.Events(t.Context(), journal.Query{}, "") {
		require.NoError(t, err)
		n++
	}
	return n
}

func TestAProjectionThatIsADayBehindLosesNothingThatActorsDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, slow, unregistered := journal.NewMemory(), newSum(), newSum()
		sys := quiet(t)
		away := errors.New("the database is away")
		for _, s := range []*sum{slow, unregistered} {
			s.failWith(func(projection.Event[event]) error { return away })
		}
		projections := []actor.ActorRef[projection.Command]{
			actor.Spawn(sys, projection.New("slow", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, slow.handle),
				projection.Registered(), projection.Workers(3)).Behavior(), ""),
			actor.Spawn(sys, projection.New("other", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, unregistered.handle)).Behavior(), ""),
		}
		synctest.Wait()
		var actors []actor.ActorRef[int]
		for i := range 5 {
			actors = append(actors, actor.Spawn(sys, counter(j, fmt.Sprint("counter-", i)), ""))
		}
		const rounds = 48
		for range rounds {
			for _, ref := range actors {
				ref.Tell(1)
			}
			time.Sleep(30 * time.Minute) // virtual
		}
		require.Equal(t, 5*rounds, stored(t, j))

		for i, s := range []*sum{slow, unregistered} {
			s.failWith(nil)
			require.Empty(t, catchUp(t, projections[i]).Failing())
			require.Len(t, s.handled(), 5*rounds)
		}
		time.Sleep(time.Minute)
		for _, ref := range actors {
			for range 3 {
				ref.Tell(1)
			}
		}
		time.Sleep(time.Second)
		require.Equal(t, 5*3, stored(t, j), "the journal knew that the others are read")
		time.Sleep(time.Minute)
		require.Len(t, slow.handled(), 5*(rounds+3))
	})
}

func TestADeletionForARegisteredProjectionIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, newSum().handle), projection.Registered())
		catchUpFully(t, p)
		sys := quiet(t)
		signals := testkit.NewProbe[persistence.EventsDeleted](t, sys)
		saying := func(id string, unread bool) actor.Behavior[int] {
			return behaviors.EventSourced(id, j, 0, func(sum int, e event) int { return sum + e.(added).N },
				func(_ *actor.Context[int], _, n int) persistence.Effect[event] {
					return persistence.Persist[event](added{n})
				},
				persistence.Options[int, event, int]{
					SnapshotEvery: 2, KeepSnapshots: 1, DeleteEvents: true, DeleteUnread: unread,
					OnSignal: func(_ *actor.Context[int], _ int, sig persistence.Signal) persistence.Effect[event] {
						if gone, is := sig.(persistence.EventsDeleted); is {
							signals.Ref().Tell(gone)
						}
						return persistence.Unhandled
					},
				})
		}
		ref := actor.Spawn(sys, saying("a", false), "")
		ref.Tell(1)
		ref.Tell(1)
		signals.Expect(persistence.EventsDeleted{Unread: "sum"})
		catchUpFully(t, p)
		ref.Tell(1)
		ref.Tell(1)
		signals.Expect(persistence.EventsDeleted{To: 2, Unread: "sum"})
		require.NoError(t, projection.Unregister(t.Context(), j, "sum"))
		ref.Tell(1)
		ref.Tell(1)
		signals.Expect(persistence.EventsDeleted{To: 6})

		catchUpFully(t, p)
		ref = actor.Spawn(sys, saying("b", true), "")
		ref.Tell(1)
		ref.Tell(1)
		signals.Expect(persistence.EventsDeleted{To: 2})
	})
}

func TestEventsOfAHeldIDAreKept(t *testing.T) {
	j, s, offsets := journal.NewMemory(), newSum(), &projection.MemoryOffsets{}
	run := func() error {
		_, err := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle), projection.Registered()).CatchUp(t.Context())
		return err
	}
	long := fmt.Sprintf("c%0*d", journal.MaxIDLength-1, 0)
	a, b, c := newWriter(t, j, "a"), newWriter(t, j, "b"), newWriter(t, j, long)
	for _, w := range []*writer{a, b, c} {
		w.append(added{1}, added{2})
	}
	a.append(brittle{1}, added{3})
	c.append(brittle{1}, added{3})
	decoderIs(t, refuses)
	require.Error(t, run())
	require.Error(t, run())
	for _, w := range []*writer{a, b, c} {
		err := j.DeleteTo(t.Context(), w.id, w.claim.Epoch, w.claim.LastSeq)
		_, unread := errors.AsType[*journal.UnreadError](err)
		require.Equal(t, w != b, unread, "%v", err)
	}
	require.Equal(t, 4, stored(t, j))

	decoderIs(t, decodes)
	require.NoError(t, run())
	require.Len(t, s.handled(), 10)
	require.Equal(t, []string{"sum"}, readerNames(t, j))
	for _, w := range []*writer{a, c} {
		require.NoError(t, j.DeleteTo(t.Context(), w.id, w.claim.Epoch, w.claim.LastSeq))
	}
}

func TestAProjectionOfATagKeepsNothingThatItDoesNotWant(t *testing.T) {
	j := journal.NewMemory()
	p := projection.New("sum", j, journal.Query{Tag: "red"}, projection.AtLeastOnce(&projection.MemoryOffsets{}, newSum().handle), projection.Registered())
	w := newWriter(t, j, "x", "blue")
	w.append(added{1}, added{2})
	catchUpFully(t, p)
	require.NoError(t, j.DeleteTo(t.Context(), "x", w.claim.Epoch, 2))
}

func TestUnregisterRemovesAllWorkers(t *testing.T) {
	j := journal.NewMemory()
	for _, name := range []string{"sum", "summer"} {
		catchUpFully(t, projection.New(name, j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, newSum().handle), projection.Registered(), projection.Workers(3)))
	}
	catchUpFully(t, projection.New("sum/mary", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, newSum().handle), projection.Registered()))
	require.Len(t, readerNames(t, j), 7)
	require.NoError(t, projection.Unregister(t.Context(), j, "sum"))
	require.Equal(t, []string{"sum/mary", "summer/0", "summer/1", "summer/2"}, readerNames(t, j))
	require.NoError(t, projection.Unregister(t.Context(), j, "sum"))
	require.ErrorContains(t, projection.Unregister(t.Context(), struct{ journal.Journal }{j}, "sum"), "keeps no events for readers")
}

func TestOnlyAJournalThatRetainsEventsTakesARegisteredProjection(t *testing.T) {
	handler := projection.AtLeastOnce(&projection.MemoryOffsets{}, newSum().handle)
	for _, reader := range []journal.EventReader{
		struct{ journal.EventReader }{journal.NewMemory()},
		struct {
			journal.Journal
			journal.EventReader
		}{journal.NewMemory(), journal.NewMemory()},
	} {
		require.PanicsWithValue(t, fmt.Sprintf("projection \"sum\": Registered needs a journal.Retainer, which keeps events for readers, and not a %T", reader),
			func() { projection.New("sum", reader, journal.Query{}, handler, projection.Registered()) })
	}
}

// telling counts what a registered projection asks of its journal.
type telling struct {
	*journal.Memory
	saves, ends atomic.Int64
}

func (c *telling) SaveReader(ctx context.Context, r journal.Reader) error {
	c.saves.Add(1)
	return c.Memory.SaveReader(ctx, r)
}

func (c *telling) End(ctx context.Context) (journal.Offset, error) {
	c.ends.Add(1)
	return c.Memory.End(ctx)
}

func TestTheJournalIsToldSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &telling{Memory: journal.NewMemory()}
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, newSum().handle), projection.Registered())
		actor.Spawn(quiet(t), p.Behavior(), "", extension.WithContext(t.Context()))
		w := newWriter(t, j, "x")
		for range 600 {
			w.append(added{1})
			time.Sleep(100 * time.Millisecond)
		}
		require.LessOrEqual(t, j.saves.Load(), int64(8))
		time.Sleep(time.Hour)
		require.LessOrEqual(t, j.saves.Load(), int64(8), "nothing has changed")
		require.LessOrEqual(t, j.ends.Load(), int64(370))
	})
}

func readerNames(t *testing.T, j journal.Retainer) (names []string) {
	t.Helper()
	all, err := j.Readers(t.Context())
	require.NoError(t, err)
	for _, r := range all {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}
