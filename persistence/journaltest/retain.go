package journaltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var retainLaws = []law{
	{"ADeletionStopsBeforeWhatAReaderHasNotRead", func(e *env) {
		r := e.retainer()
		w := e.writer(r.store, "x")
		for i := range 10 {
			w.append(fmt.Sprint("e-", i))
		}
		all := e.await(r.events, "", 10)
		r.save("sales", journal.SliceRange{}, all[3].Offset)
		r.requireStops(w, 10, "sales", 4)
		require.Equal(e, numbered("e", 10)[4:], e.payloads(r.store, "x"))
		require.Equal(e, all[4:], e.events(r.events, journal.Query{}, all[3].Offset))
		r.requireStops(w, everything, "sales", 4)
		require.NoError(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 4), "it has read them")

		r.save("sales", journal.SliceRange{}, all[6].Offset)
		r.requireStops(w, 9, "sales", 7)
		r.save("sales", journal.SliceRange{}, all[9].Offset)
		require.NoError(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 9))
		require.Equal(e, []string{"e-9"}, e.payloads(r.store, "x"))
		w.append("unread")
		r.requireStops(w, everything, "sales", 10)
		require.Equal(e, uint64(10), e.writer(r.store, "x").claim.DeletedTo)
	}},
	{"AReaderThatHasReadNothingKeepsAll", func(e *env) {
		r := e.retainer()
		r.save("new", journal.SliceRange{}, "")
		w := e.writer(r.store, "x")
		require.NoError(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 5), "there is nothing")
		w.append(numbered("e", 5)...)
		require.NoError(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 0))
		r.requireStops(w, 5, "new", 0)
		require.Len(e, e.payloads(r.store, "x"), 5)
	}},
	{"TheSlowestReaderCounts", func(e *env) {
		r := e.retainer()
		w, y := e.writer(r.store, "x"), e.writer(r.store, "y")
		for i := range 6 {
			w.append(fmt.Sprint("e-", i))
			y.append("other")
		}
		all := e.await(r.events, "", 12)
		r.save("fast", journal.SliceRange{}, all[11].Offset)
		r.save("slow", sliceAround("x"), all[4].Offset)
		r.save("late", sliceAround("y"), "")
		r.requireStops(w, 6, "slow", 3)
		require.NoError(e, r.store.RemoveReader(e.Context(), "slow"))
		require.NoError(e, r.store.RemoveReader(e.Context(), "unknown"))
		require.NoError(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 6))
		r.requireStops(y, 6, "late", 0)
	}},
	{"AReaderMayStandInsideAnAppend", func(e *env) {
		r := e.retainer()
		w := e.writer(r.store, "x")
		for range 3 {
			w.append(numbered("e", 7)...)
		}
		all := e.await(r.events, "", 21)
		for _, read := range []int{1, 3, 7, 8, 13, 20, 21} {
			r.save("reader", journal.SliceRange{}, all[read-1].Offset)
			if read < 21 {
				r.requireStops(w, 21, "reader", uint64(read))
			} else {
				require.NoError(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 21))
			}
			require.Equal(e, all[read:], append([]journal.Entry{}, e.events(r.events, journal.Query{}, all[read-1].Offset)...))
		}
	}},
	{"DeleteUnreadDeletesAll", func(e *env) {
		r := e.retainer()
		w := e.writer(r.store, "x")
		w.append(numbered("e", 5)...)
		r.save("reader", journal.SliceRange{}, "")
		require.NoError(e, r.store.DeleteUnread(e.Context(), "x", w.claim.Epoch, 3))
		require.Len(e, e.payloads(r.store, "x"), 2)
		r.requireStops(w, 5, "reader", 3)
		require.NoError(e, journal.DeleteUnread(e.Context(), r.store, "x", w.claim.Epoch, everything))
		require.Empty(e, e.payloads(r.store, "x"))
		e.writer(r.store, "x")
		require.ErrorIs(e, r.store.DeleteUnread(e.Context(), "x", w.claim.Epoch, 1), journal.ErrFenced)
	}},
	{"ReadersAreListed", func(e *env) {
		r := e.retainer()
		require.Empty(e, r.readers())
		e.writer(r.store, "x").append("a")
		at := e.await(r.events, "", 1)[0].Offset
		want := []journal.Reader{
			{Name: "ä/held/x=1", Slices: sliceAround("x"), Offset: at, Time: time.Unix(1_800_000_000, 1).UTC()},
			{Name: "a", Offset: "", Time: time.Unix(1_800_000_001, 999_999_999).UTC()},
			{Name: "a/1", Slices: journal.SliceRange{From: 512, To: journal.Slices}, Offset: at, Time: time.Unix(5, 0).UTC()},
		}
		for _, reader := range slices.Concat(want, want) {
			require.NoError(e, r.store.SaveReader(e.Context(), reader))
		}
		slices.SortFunc(want, func(a, b journal.Reader) int { return strings.Compare(a.Name, b.Name) })
		require.Equal(e, want, r.readers())
		require.NoError(e, r.store.RemoveReader(e.Context(), "a"))
		require.Equal(e, want[1:], r.readers())
	}},
	{"AReaderThatCannotBeIsInvalid", func(e *env) {
		r := e.retainer()
		e.writer(r.store, "x").append("a")
		at := e.await(r.events, "", 1)[0].Offset
		for _, bad := range []journal.Reader{
			{},
			{Name: "\xff"},
			{Name: "a\x00"},
			{Name: "a", Slices: journal.SliceRange{From: 3, To: 3}},
			{Name: "a", Slices: journal.SliceRange{From: 3, To: journal.Slices + 1}},
			{Name: "a", Offset: "another:1"},
			{Name: "a", Offset: at + "x"},
		} {
			require.ErrorIs(e, r.store.SaveReader(e.Context(), bad), journal.ErrInvalid, "%+v", bad)
		}
		require.ErrorIs(e, r.store.RemoveReader(e.Context(), ""), journal.ErrInvalid)
		require.Empty(e, r.readers())
	}},
	{"TheEndIsBehindAllThatIsStored", func(e *env) {
		r := e.retainer()
		at, err := r.store.End(e.Context())
		require.NoError(e, err)
		r.save("reader", journal.SliceRange{}, at)
		w := e.writer(r.store, "x")
		w.append(numbered("e", 3)...)
		r.requireStops(w, 3, "reader", 0)

		all := e.await(r.events, "", 3)
		r.save("reader", journal.SliceRange{}, r.endAfter(all[2].Offset))
		w.append("d")
		e.await(r.events, all[2].Offset, 1)
		r.requireStops(w, 4, "reader", 3)
	}},
	{"TheHeadIsTheNewestClaim", func(e *env) {
		r := e.retainer()
		head, err := r.store.Head(e.Context(), "x")
		require.NoError(e, err)
		require.Zero(e, head)
		w := e.writer(r.store, "x")
		w.append(numbered("e", 5)...)
		require.NoError(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 2))
		head, err = r.store.Head(e.Context(), "x")
		require.NoError(e, err)
		require.Equal(e, []uint64{w.claim.Epoch, 5, 2}, []uint64{head.Epoch, head.LastSeq, head.DeletedTo})
		w.append("it has claimed nothing")
		_, err = r.store.Head(e.Context(), "")
		require.ErrorIs(e, err, journal.ErrInvalid)

		forgetter, ok := journal.As[journal.Forgetter](r.store)
		if !ok {
			return
		}
		r.save("reader", journal.SliceRange{}, "")
		require.NoError(e, forgetter.Forget(e.Context(), "x"), "whatever has been read")
		require.Empty(e, e.read(r.store, "x", 0, everything))
		_, err = r.store.Head(e.Context(), "x")
		require.ErrorIs(e, err, journal.ErrForgotten)
		require.ErrorIs(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 1), journal.ErrForgotten)
	}},
	{"AReaderIsRegisteredAfterReopening", func(e *env) {
		e.need(e.features.Reopen != nil, "Reopen")
		r := e.retainer()
		e.writer(r.store, "x").append("a", "b")
		r.save("reader", sliceAround("x"), e.await(r.events, "", 2)[0].Offset)
		before := r.readers()
		again := e.retainerIn(e.features.Reopen(e.T, r.store))
		require.Equal(e, before, again.readers())
		again.requireStops(e.writer(again.store, "x"), 2, "reader", 1)
	}},
	{"AReaderIsRegisteredWithAllHandles", func(e *env) {
		e.need(e.features.SecondHandle != nil, "SecondHandle")
		r := e.retainer()
		second := e.retainerIn(e.features.SecondHandle(e.T, r.store))
		w := e.writer(r.store, "x")
		w.append("a", "b")
		require.NoError(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 1))
		second.save("reader", journal.SliceRange{}, "")
		r.requireStops(w, 2, "reader", 1)
		require.NoError(e, second.store.RemoveReader(e.Context(), "reader"))
		require.NoError(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 2))
	}},
	{"ADamagedReaderKeepsAll", func(e *env) {
		e.need(e.features.DamageReader != nil, "DamageReader")
		r := e.retainer()
		w := e.writer(r.store, "x")
		for i := range 5 {
			w.append(fmt.Sprint("e-", i))
		}
		at := e.await(r.events, "", 5)[1].Offset
		r.save("sales", journal.SliceRange{}, at)
		e.features.DamageReader(e.T, r.store, "sales")
		for range 2 {
			err := r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 5)
			require.ErrorIs(e, err, journal.ErrCorrupt)
			require.ErrorContains(e, err, `"sales"`)
		}
		require.Len(e, e.payloads(r.store, "x"), 5)
		require.Equal(e, []journal.Reader{{Name: "sales"}}, r.readers())

		r.save("sales", journal.SliceRange{}, at)
		r.requireStops(w, 5, "sales", 2)
		e.features.DamageReader(e.T, r.store, "sales")
		require.NoError(e, r.store.DeleteUnread(e.Context(), "x", w.claim.Epoch, 3))
		require.NoError(e, r.store.RemoveReader(e.Context(), "sales"))
		require.NoError(e, r.store.DeleteTo(e.Context(), "x", w.claim.Epoch, 5))
	}},
	{"RetainingIsCalledOff", func(e *env) {
		r := e.retainer()
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		calls := func(ctx context.Context) []error {
			_, readers := r.store.Readers(ctx)
			_, end := r.store.End(ctx)
			_, head := r.store.Head(ctx, "x")
			return []error{
				r.store.SaveReader(ctx, journal.Reader{Name: "a"}), r.store.RemoveReader(ctx, "a"), readers, end, head,
				r.store.DeleteUnread(ctx, "x", 1, 1),
			}
		}
		for i, err := range calls(ctx) {
			require.Error(e, err, "call %d", i)
			requireCalledOff(e, err, context.Canceled)
		}
		require.Empty(e, r.readers())
		require.NoError(e, r.store.Close())
		for i, err := range calls(e.Context()) {
			require.ErrorIs(e, err, journal.ErrClosed, "call %d", i)
		}
	}},
	{"ReadersBesideDeletionsMissNothing", func(e *env) {
		r := e.retainer()
		random := e.rand()
		writers := map[string]*writer{}
		for i := range 8 {
			id := fmt.Sprint("id-", i)
			writers[id] = e.writer(r.store, id)
		}
		ids := slices.Sorted(maps.Keys(writers))
		type progress struct {
			slices journal.SliceRange
			at     journal.Offset
			read   []string
		}
		readers := map[string]*progress{"all": {}, "low": {slices: journal.Split(2)[0]}, "high": {slices: journal.Split(2)[1]}}
		for name, p := range readers {
			r.save(name, p.slices, "")
		}
		var want []string
		catchUp := func(name string, most int) {
			p := readers[name]
			for entry, err := range r.events.Events(e.Context(), journal.Query{Slices: p.slices}, p.at) {
				require.NoError(e, err)
				p.at, p.read = entry.Offset, append(p.read, fmt.Sprint(entry.ID, "/", entry.Record.Seq))
				if most--; most == 0 {
					break
				}
			}
			r.save(name, p.slices, p.at)
		}
		for range 300 {
			w := writers[ids[random.IntN(len(ids))]]
			switch random.IntN(4) {
			case 0, 1:
				n := 1 + random.IntN(4)
				for k := range n {
					want = append(want, fmt.Sprint(w.id, "/", w.last+uint64(k)+1))
				}
				w.append(numbered("e", n)...)
			case 2:
				err := r.store.DeleteTo(e.Context(), w.id, w.claim.Epoch, random.Uint64N(w.last+2))
				if _, unread := errors.AsType[*journal.UnreadError](err); !unread {
					require.NoError(e, err)
				}
			case 3:
				catchUp([]string{"all", "low", "high"}[random.IntN(3)], 1+random.IntN(10))
			}
		}
		for name, p := range readers {
			missing := func() []string {
				return slices.DeleteFunc(slices.Clone(want), func(event string) bool {
					id, _, _ := strings.Cut(event, "/")
					return !p.slices.Contains(journal.SliceOf(id)) || slices.Contains(p.read, event)
				})
			}
			for begun := time.Now(); len(missing()) > 0 && time.Since(begun) < showPatience; {
				catchUp(name, 0)
			}
			require.Empty(e, missing(), "the reader %s", name)
		}
	}},
}

type retained struct {
	e      *env
	store  journal.Retainer
	events journal.EventReader
}

func (e *env) retainer() *retained {
	e.Helper()
	return e.retainerIn(e.journal())
}

func (e *env) retainerIn(j journal.Journal) *retained {
	e.Helper()
	store, ok := journal.As[journal.Retainer](j)
	events, reads := journal.As[journal.EventReader](j)
	if !ok || !reads {
		e.skip(fmt.Sprintf("%T retains nothing for readers", j))
	}
	return &retained{e, store, events}
}

func (r *retained) save(name string, in journal.SliceRange, at journal.Offset) {
	r.e.Helper()
	reader := journal.Reader{Name: name, Slices: in, Offset: at, Time: time.Unix(1_800_000_000, 0)}
	require.NoError(r.e, r.store.SaveReader(r.e.Context(), reader))
}

func (r *retained) readers() []journal.Reader {
	r.e.Helper()
	all, err := r.store.Readers(r.e.Context())
	require.NoError(r.e, err)
	return all
}

// endAfter waits until the end is not before an offset, as a reader sees it.
func (r *retained) endAfter(last journal.Offset) journal.Offset {
	r.e.Helper()
	for begun := time.Now(); ; {
		end, err := r.store.End(r.e.Context())
		require.NoError(r.e, err)
		if len(r.e.events(r.events, journal.Query{}, end)) == 0 {
			return end
		}
		require.Less(r.e, time.Since(begun), showPatience, "the end is %q, and %q has been read", end, last)
	}
}

// requireStops requires that a deletion up to seq ends before what the reader has not read.
func (r *retained) requireStops(w *writer, seq uint64, reader string, to uint64) {
	r.e.Helper()
	err := r.store.DeleteTo(r.e.Context(), w.id, w.claim.Epoch, seq)
	unread, ok := errors.AsType[*journal.UnreadError](err)
	require.True(r.e, ok, "the error is %v", err)
	require.Equal(r.e, journal.UnreadError{Reader: reader, To: to}, *unread)
	require.ErrorContains(r.e, err, fmt.Sprintf("%q has not read", reader))
}
