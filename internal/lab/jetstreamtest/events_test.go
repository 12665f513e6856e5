package jetstreamtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func entries(t testing.TB, j journal.EventReader, q journal.Query, after journal.Offset) []journal.Entry {
	t.Helper()
	var found []journal.Entry
	for e, err := range j.Events(t.Context(), q, after) {
		require.NoError(t, err)
		found = append(found, e)
	}
	return found
}

func TestEventsGoOnAfterAnyOffset(t *testing.T) {
	r := &rig{cluster: start(t, 1)}
	j := r.open(t, r.name())
	require.Empty(t, entries(t, j, journal.Query{}, ""))
	for i := range 10 {
		w := claim(t, j, fmt.Sprint("id-", i%3))
		w.append(t, "a", "b", "c")
		w.append(t, "d")
	}
	all := entries(t, j, journal.Query{}, "")
	require.Len(t, all, 40)
	require.Equal(t, journal.Offset("js:"+j.stream+":2:1"), all[0].Offset)
	for i, e := range all {
		require.Equal(t, all[i+1:], append([]journal.Entry{}, entries(t, j, journal.Query{}, e.Offset)...), "after %s", e.Offset)
	}
	for _, bad := range []journal.Offset{"x", "js:other:1:1", "js:" + journal.Offset(j.stream) + ":0:1", "js:" + journal.Offset(j.stream) + ":01:1", all[0].Offset + ":"} {
		for _, err := range j.Events(t.Context(), journal.Query{}, bad) {
			require.ErrorIs(t, err, journal.ErrInvalid, "%q", bad)
		}
	}
}

func TestEventsAreThoseOfTheSlicesAndTheTag(t *testing.T) {
	r := &rig{cluster: start(t, 1)}
	j := r.open(t, r.name())
	for i := range 200 {
		w := claim(t, j, fmt.Sprint("id-", i))
		req := w.request("a", "b")
		req.Records[1].Tags = []string{"red", "redder"}
		require.NoError(t, w.try(t.Context(), req))
	}
	for _, n := range []int{1, 2, 3, 7, 64} {
		var seen []string
		for _, part := range journal.Split(n) {
			for _, e := range entries(t, j, journal.Query{Slices: part}, "") {
				require.True(t, part.Contains(journal.SliceOf(e.ID)))
				seen = append(seen, fmt.Sprint(e.ID, e.Record.Seq))
			}
		}
		require.Len(t, seen, 400, "in %d parts", n)
		slices.Sort(seen)
		require.Len(t, slices.Compact(seen), 400, "in %d parts", n)
	}
	require.Len(t, entries(t, j, journal.Query{Tag: "red"}, ""), 200)
	require.Empty(t, entries(t, j, journal.Query{Tag: "re"}, ""))
	require.Len(t, entries(t, j, journal.Query{Tag: "redder", Slices: journal.SliceRange{From: 0, To: 512}}, ""),
		len(entries(t, j, journal.Query{Slices: journal.SliceRange{From: 0, To: 512}}, ""))/2)
}

func TestDeletedEventsAreNotRead(t *testing.T) {
	r := &rig{cluster: start(t, 1)}
	j := r.open(t, r.name())
	w := claim(t, j, "x")
	w.append(t, "1", "2", "3")
	w.append(t, "4")
	claim(t, j, "y").append(t, "other", "other")
	require.NoError(t, j.DeleteTo(t.Context(), "x", w.epoch, 2))
	found := entries(t, r.open(t, j.stream), journal.Query{}, "")
	require.Len(t, found, 4)
	require.Equal(t, uint64(3), found[0].Record.Seq)
	require.NoError(t, j.DeleteTo(t.Context(), "x", w.epoch, everything))
	require.Len(t, entries(t, j, journal.Query{}, ""), 2)
}

func TestNothingTurnsUpBehindAReader(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := &rig{cluster: start(t, n)}
			j, reader := r.open(t, r.name()), (*located)(nil)
			reader = r.open(t, j.stream)
			const writers, events = 8, 100
			errs := make([]error, writers)
			var all sync.WaitGroup
			ctx, done := context.WithCancel(t.Context())
			for i := range writers {
				w := claim(t, j, fmt.Sprint("w", i))
				all.Go(func() {
					for n := 0; n < events && errs[i] == nil; n++ {
						errs[i] = w.persist(t.Context(), fmt.Sprint(n))
					}
				})
			}
			go func() { all.Wait(); done() }()
			seen, last := map[string]uint64{}, journal.Offset("")
			for last1 := false; !last1; {
				last1 = ctx.Err() != nil // then this round is the last
				for _, e := range entries(t, reader, journal.Query{}, last) {
					require.Equal(t, seen[e.ID]+1, e.Record.Seq)
					seen[e.ID], last = e.Record.Seq, e.Offset
				}
			}
			require.Len(t, seen, writers)
			for id, seq := range seen {
				require.Equal(t, uint64(events), seq, id)
			}
			for _, err := range errs {
				require.NoError(t, err)
			}
		})
	}
}

// JetStream drops a message that its files have damaged. What a journal of another program has
// spoiled, it does not notice.
func TestADamagedMessageIsNamedAndTheNextFollow(t *testing.T) {
	for part, at := range map[string]func(data []byte) int{
		"head":   func([]byte) int { return 5 },
		"record": func(data []byte) int { return len(data) - 1 },
	} {
		t.Run(part, func(t *testing.T) {
			r := &rig{cluster: start(t, 1)}
			j := r.open(t, r.name())
			claim(t, j, "x").append(t, "first")
			y := claim(t, j, "y")
			y.append(t, "before")
			m, err := j.at(t, j.stream).GetMsg(t.Context(), 2)
			require.NoError(t, err)
			m.Data[at(m.Data)] ^= 1
			_, err = j.nc.Request(m.Subject, m.Data, time.Minute)
			require.NoError(t, err)
			y.append(t, "after")

			var damaged journal.Offset
			var ids []string
			for e, err := range j.Events(t.Context(), journal.Query{}, "") {
				ids = append(ids, e.ID)
				if errors.Is(err, journal.ErrCorrupt) {
					damaged = e.Offset
					continue
				}
				require.NoError(t, err)
			}
			require.Equal(t, []string{"x", "y", "x", "y"}, ids)
			rest := entries(t, j, journal.Query{}, damaged)
			require.Len(t, rest, 1)
			require.Equal(t, "after", string(rest[0].Record.Payload))
		})
	}
}
