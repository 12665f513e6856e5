package projection_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/testkit"
)

// quiet is for tests whose actors fail on purpose.
func quiet(t *testing.T) *actor.System {
	return testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.NewNop()))
}

func TestAProjectionFollowsTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		w := newWriter(t, j, "a", "red")
		w.append(added{1}, added{2})
		newWriter(t, j, "b").append(added{100})
		p := projection.New("sum", j, journal.Query{Tag: "red"}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle))
		ref := actor.Spawn(testkit.NewSystem(t, testkit.WithoutEncoding()), p.Behavior(), "sum")
		catchUp(t, ref)
		require.Equal(t, map[string]int{"a": 3}, s.byID)

		begin := time.Now()
		w.append(added{4})
		synctest.Wait()
		require.Equal(t, map[string]int{"a": 7}, s.byID, "the journal has woken it")
		require.Zero(t, time.Since(begin))

		got := status(t, ref)
		require.Equal(t, "sum", got.Name)
		require.Equal(t, uint64(3), got.Workers[0].Handled)
		require.Equal(t, journal.Offset("memory:4"), got.Workers[0].Offset)
		require.Empty(t, got.Failing())
	})
}

// deaf is a journal that notifies nobody.
type deaf struct{ journal.EventReader }

func (deaf) Appended() <-chan struct{} { return nil }

func TestWithoutHintsTheJournalIsPolledLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		w := newWriter(t, j, "a")
		r := &counting{EventReader: j}
		p := projection.New("sum", deaf{r}, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle))
		actor.Spawn(testkit.NewSystem(t, testkit.WithoutEncoding()), p.Behavior(), "sum")
		time.Sleep(time.Minute)
		require.InDelta(t, 60, r.reads.Load(), 10)
		w.append(added{1})
		before := r.reads.Load()
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"a/1"}, s.handled())
		require.Greater(t, r.reads.Load(), before+5, "where there was one there may be more")
	})
}

// counting counts reads.
type counting struct {
	journal.EventReader
	reads atomic.Int64
}

func (c *counting) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	c.reads.Add(1)
	return c.EventReader.Events(ctx, q, after)
}

func TestAProjectionGoesOnWhereItHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, offsets := journal.NewMemory(), newSum(), &projection.MemoryOffsets{}
		w := newWriter(t, j, "a")
		for round := range 3 {
			w.append(added{1}, added{1})
			p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle))
			sys := testkit.NewSystem(t, testkit.WithoutEncoding())
			catchUp(t, actor.Spawn(sys, p.Behavior(), "sum"))
			require.Len(t, s.handled(), 2*(round+1))
			require.NoError(t, sys.Shutdown(t.Context()))
		}
		require.Equal(t, []string{"a/1", "a/2", "a/3", "a/4", "a/5", "a/6"}, s.handled())
	})
}

func TestWithoutAnActorAProjectionCatchesUpAndReturns(t *testing.T) {
	j, s := journal.NewMemory(), newSum()
	p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle), projection.InBatches(7, time.Second))
	w := newWriter(t, j, "a")
	for i := range 4 {
		for range 10 {
			w.append(added{1})
		}
		got, err := p.CatchUp(t.Context())
		require.NoError(t, err)
		require.Equal(t, uint64(10), got.Workers[0].Handled)
		require.Equal(t, 10*(i+1), s.byID["a"])
	}
}

func TestAFailureIsTriedAgainUntilItPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		s.failWith(poison)
		w := newWriter(t, j, "a")
		w.append(added{1}, poisoned{}, added{2})
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle))
		ref := actor.Spawn(quiet(t), p.Behavior(), "sum")
		time.Sleep(time.Hour)
		got := status(t, ref)
		require.Contains(t, got.Failing(), `event 2 of "a", at memory:2: this is poison`)
		require.InDelta(t, 330, got.Workers[0].Failures, 50, "with backoff up to ten seconds")
		require.Equal(t, journal.Offset("memory:1"), got.Workers[0].Offset)
		require.Equal(t, []string{"a/1"}, s.handled())

		s.failWith(nil)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a/1", "a/2", "a/3"}, s.handled())
		require.Empty(t, status(t, ref).Failing())
	})
}

func TestAPanicIsAFailureOfItsEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		s.failWith(func(e projection.Event[event]) error {
			if e.Seq == 2 {
				panic("boom")
			}
			return nil
		})
		newWriter(t, j, "a").append(added{1}, added{2}, added{3})
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle))
		ref := actor.Spawn(quiet(t), p.Behavior(), "sum")
		time.Sleep(time.Hour)
		require.Contains(t, status(t, ref).Failing(), `event 2 of "a"`)
		require.Contains(t, status(t, ref).Failing(), "boom")
	})
}

func TestSkipAfterPassesOverAnEventThatAlwaysFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		s.failWith(poison)
		newWriter(t, j, "a").append(added{1}, poisoned{}, added{2}, nil, poisoned{}, added{3})
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle), projection.SkipAfter(3))
		ref := actor.Spawn(quiet(t), p.Behavior(), "sum")
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a/1", "a/3", "a/6"}, s.handled())
		got := catchUp(t, ref).Workers[0]
		require.Equal(t, uint64(3), got.Skipped)
		require.Equal(t, uint64(3), got.Handled)
		require.Zero(t, got.Failures)
	})
}

func TestEventsOfOthersAreFailuresUnlessTheyAreSkipped(t *testing.T) {
	j, s := journal.NewMemory(), newSum()
	newWriter(t, j, "a").append(added{1}, foreign{}, nil, added{2})
	offsets := &projection.MemoryOffsets{}
	p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle))
	_, err := p.CatchUp(t.Context())
	require.ErrorContains(t, err, "it is a projection_test.foreign, not a projection_test.event; ask for a narrower tag")
	require.Equal(t, []string{"a/1"}, s.handled())

	p = projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle), projection.SkipOthers())
	got, err := p.CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a/1", "a/4"}, s.handled())
	require.Equal(t, uint64(2), got.Workers[0].Skipped)

	newWriter(t, j, "b").append(nil)
	p = projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle))
	_, err = p.CatchUp(t.Context())
	require.ErrorIs(t, err, actor.ErrNotDecodable)
	require.ErrorContains(t, err, "skip such events with SkipOthers")
}

func TestAnUnavailableJournalIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		newWriter(t, j, "a").append(added{1}, added{2}, added{3})
		r := &breaking{EventReader: j}
		r.broken.Store(true)
		p := projection.New("sum", r, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle))
		ref := actor.Spawn(quiet(t), p.Behavior(), "sum")
		time.Sleep(time.Minute)
		require.Contains(t, status(t, ref).Failing(), persistence.ErrUnavailable.Error())
		require.Equal(t, []string{"a/1"}, s.handled(), "what came before the failure is handled, once")
		r.broken.Store(false)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a/1", "a/2", "a/3"}, s.handled())
	})
}

// breaking breaks after the first event of the journal.
type breaking struct {
	journal.EventReader
	broken atomic.Bool
}

func (b *breaking) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range b.EventReader.Events(ctx, q, after) {
			if b.broken.Load() && e.Offset != "memory:1" {
				yield(journal.Entry{}, persistence.ErrUnavailable)
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestWorkersShareTheEventsAndKeepTheOrderOfEachID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, offsets := journal.NewMemory(), newSum(), &projection.MemoryOffsets{}
		want := map[string]int{}
		for i := range 40 {
			w := newWriter(t, j, fmt.Sprint("id-", i))
			for n := range 5 {
				w.append(added{n})
				want[w.id] += n
			}
		}
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle), projection.Workers(4))
		sys := testkit.NewSystem(t, testkit.WithoutEncoding())
		got := catchUp(t, actor.Spawn(sys, p.Behavior(), "sum"))
		require.Equal(t, want, s.byID)
		require.Len(t, got.Workers, 4)
		total := uint64(0)
		for _, w := range got.Workers {
			require.Positive(t, w.Handled)
			total += w.Handled
		}
		require.Equal(t, uint64(200), total)
		last := map[string]int{}
		for _, o := range s.handled() {
			var id, seq int
			_, err := fmt.Sscanf(o, "id-%d/%d", &id, &seq)
			require.NoError(t, err)
			require.Equal(t, last[fmt.Sprint(id)]+1, seq)
			last[fmt.Sprint(id)]++
		}
		require.NoError(t, sys.Shutdown(t.Context()))

		for _, n := range []int{1, 3} {
			p = projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle), projection.Workers(n))
			_, err := p.CatchUp(t.Context())
			require.ErrorContains(t, err, `what is stored under its name is "workers:4": give it as many workers as it had`)
		}
	})
}

func TestTwoOfANameDoNotPassEachOther(t *testing.T) {
	j, s, offsets := journal.NewMemory(), newSum(), &projection.MemoryOffsets{}
	newWriter(t, j, "a").append(added{1}, added{2})
	rival := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, newSum().handle))
	s.failWith(func(e projection.Event[event]) error {
		_, err := rival.CatchUp(context.Background())
		return err
	})
	p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle))
	_, err := p.CatchUp(t.Context())
	require.ErrorIs(t, err, projection.ErrMoved)
	require.ErrorContains(t, err, "as a singleton")
	got, err := p.CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, journal.Offset("memory:2"), got.Workers[0].Offset)
}

func TestAStopEndsTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		newWriter(t, j, "a").append(added{1})
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{},
			func(ctx context.Context, _ projection.Event[event]) error {
				<-ctx.Done()
				return ctx.Err()
			}))
		sys := testkit.NewSystem(t, testkit.WithoutEncoding())
		ref := actor.Spawn(sys, p.Behavior(), "sum")
		synctest.Wait()
		require.Empty(t, status(t, ref).Failing(), "it answers while its worker is busy")
		require.NoError(t, sys.Shutdown(t.Context()))
	})
}

func TestAProjectionMayBeASingleton(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		newWriter(t, j, "a").append(added{1})
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle))
		ref := actor.Spawn(testkit.NewSystem(t, testkit.WithoutEncoding()), behaviors.Singleton(p.Behavior), "sum")
		catchUp(t, ref)
		require.Equal(t, []string{"a/1"}, s.handled())
	})
}

func TestABatchEndsWhenItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		newWriter(t, j, "a").append(added{1}, added{2}, added{3}, added{4}, added{5})
		s.failWith(func(projection.Event[event]) error { time.Sleep(time.Second); return nil })
		offsets := &saves{}
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle), projection.InBatches(100, 2*time.Second))
		_, err := p.CatchUp(t.Context())
		require.NoError(t, err)
		require.Equal(t, []journal.Offset{"memory:2", "memory:4", "memory:5"}, offsets.saved)
	})
}

// saves remembers what was saved.
type saves struct {
	projection.MemoryOffsets
	saved []journal.Offset
}

func (s *saves) Save(ctx context.Context, name string, after, to journal.Offset) error {
	s.saved = append(s.saved, to)
	return s.MemoryOffsets.Save(ctx, name, after, to)
}

func TestABatchOfLargeEventsIsSmall(t *testing.T) {
	j, s, offsets := journal.NewMemory(), newSum(), &saves{}
	large := named{Name: strings.Repeat("x", 400<<10)}
	newWriter(t, j, "a").append(large, large, large, large)
	_, err := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle)).CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, []journal.Offset{"memory:3", "memory:4"}, offsets.saved)
}

// failing fails to save.
type failing struct {
	projection.MemoryOffsets
	err error
}

func (f *failing) Save(ctx context.Context, name string, after, to journal.Offset) error {
	if f.err != nil {
		return f.err
	}
	return f.MemoryOffsets.Save(ctx, name, after, to)
}

func TestWhatWasHandledButNotSavedComesAgain(t *testing.T) {
	j, s, offsets := journal.NewMemory(), newSum(), &failing{err: errors.New("disk is full")}
	newWriter(t, j, "a").append(added{1}, added{2})
	p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle))
	_, err := p.CatchUp(t.Context())
	require.ErrorIs(t, err, offsets.err)
	offsets.err = nil
	_, err = p.CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a/1", "a/2", "a/1", "a/2"}, s.handled())
}

func TestWhoWaitsWhileItFailsIsToldOnceItHasCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		s.failWith(poison)
		newWriter(t, j, "a").append(poisoned{})
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle))
		sys := quiet(t)
		ref := actor.Spawn(sys, p.Behavior(), "sum")
		time.Sleep(time.Minute)
		replies := testkit.NewProbe[projection.Status](t, sys)
		ref.Tell(projection.CatchUp{ReplyTo: replies.Ref()})
		replies.ExpectNone(time.Hour)
		s.failWith(nil)
		time.Sleep(time.Minute)
		require.Equal(t, uint64(1), replies.Receive().Workers[0].Handled)
		replies.ExpectNone(time.Hour)
	})
}

type lazy struct{ projection.MemoryOffsets }

func (*lazy) Handle(_ context.Context, b projection.Batch[event]) (journal.Offset, error) {
	return b.After, nil
}

func TestAHandlerThatDoesNothingIsAFailure(t *testing.T) {
	j := journal.NewMemory()
	newWriter(t, j, "a").append(added{1})
	_, err := projection.New[event]("sum", j, journal.Query{}, &lazy{}).CatchUp(t.Context())
	require.ErrorContains(t, err, "neither moved the offset nor failed")
}

func TestNewPanicsWhenItCannotWork(t *testing.T) {
	j, h := journal.NewMemory(), projection.AtLeastOnce(&projection.MemoryOffsets{}, newSum().handle)
	for says, build := range map[string]func(){
		"the id is empty": func() { projection.New("", j, journal.Query{}, h) },
		"must not be nil": func() { projection.New[event]("p", j, journal.Query{}, nil) },
		"slices from":     func() { projection.New("p", j, journal.Query{Slices: journal.SliceRange{From: 2, To: 1}}, h) },
		"Workers must be": func() { projection.New("p", j, journal.Query{}, h, projection.Workers(0)) },
		"leave out one": func() {
			projection.New("p", j, journal.Query{Slices: journal.SliceRange{To: 1}}, h, projection.Workers(2))
		},
		"InBatches needs":    func() { projection.New("p", j, journal.Query{}, h, projection.InBatches(0, 1)) },
		"Polling and":        func() { projection.New("p", j, journal.Query{}, h, projection.Polling(actor.Backoff{})) },
		"SkipAfter must not": func() { projection.New("p", j, journal.Query{}, h, projection.SkipAfter(-1)) },
		"projection_test.secret": func() {
			projection.New[secret]("p", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, func(context.Context, projection.Event[secret]) error { return nil }))
		},
	} {
		func() {
			defer func() { require.ErrorContains(t, errors.New(fmt.Sprint(recover())), says) }()
			build()
		}()
	}
}

// secret is not registered.
type secret struct{}

func TestOnlyTheEventsOfMatchingIDsAreHandled(t *testing.T) {
	j := journal.NewMemory()
	newWriter(t, j, "a|1").append(added{1}, added{2})
	newWriter(t, j, "b|1").append(added{3}, foreign{})
	newWriter(t, j, "a|2").append(added{4})
	sum := newSum()
	p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, sum.handle),
		projection.OfIDs(func(id string) bool { return strings.HasPrefix(id, "a|") }))
	_, err := p.CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a|1/1", "a|1/2", "a|2/1"}, sum.handled())
}

// A wholly handler handles all events of a batch or none, like InTx.
type wholly struct {
	projection.MemoryOffsets
	check, handle func(context.Context, projection.Event[event]) error
}

func (h *wholly) Handle(ctx context.Context, b projection.Batch[event]) (journal.Offset, error) {
	if _, err := b.Each(ctx, h.check); err != nil {
		return b.After, err
	}
	reached, err := b.Each(ctx, h.handle)
	return reached, errors.Join(err, h.Save(ctx, b.Name, b.After, reached))
}

// A failed batch is handled again event by event, as by the actor of a projection.
func TestCatchUpHandlesAllBeforeTheEventThatFails(t *testing.T) {
	j := journal.NewMemory()
	w := newWriter(t, j, "a")
	for n := range 20 {
		w.append(added{n})
	}
	s := newSum()
	h := &wholly{handle: s.handle, check: func(_ context.Context, e projection.Event[event]) error {
		if e.Seq == 19 {
			return errors.New("it fails")
		}
		return nil
	}}
	for range 3 {
		_, err := projection.New("sum", j, journal.Query{}, h).CatchUp(t.Context())
		require.ErrorContains(t, err, "it fails")
		require.Len(t, s.handled(), 18)
	}
}

func TestNilArgumentsOfHandlersAreNamed(t *testing.T) {
	for name, f := range map[string]func(){
		"AtLeastOnce": func() { projection.AtLeastOnce[event](nil, newSum().handle) },
		"InTx":        func() { projection.InTx[event](nil, nil) },
		"FromJournal": func() { projection.FromJournal[event](nil, nil) },
	} {
		require.PanicsWithValue(t, "projection: "+name+" got nil; it needs all its arguments", f)
	}
}
