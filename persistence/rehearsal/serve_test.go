package rehearsal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

type (
	add struct {
		n    int
		done actor.ActorRef[bool]
	}
	added struct{ N int }
	sums  struct {
		Sum  int
		Card string `understudy:"secret"`
	}
)

func init() {
	actor.RegisterType[added]("rehearsal.added")
	actor.RegisterType[sums]("rehearsal.sums")
}

func summing(opts ...persistence.Option) func(id string, j persistence.Journal) actor.Behavior[add] {
	return func(id string, j persistence.Journal) actor.Behavior[add] {
		return behaviors.EventSourced(id, j, sums{Card: "1234"}, func(s sums, a added) sums {
			if a.N == 13 {
				panic("unlucky")
			}
			return sums{s.Sum + a.N, s.Card}
		}, func(_ *actor.Context[add], _ sums, a add) persistence.Effect[added] {
			return persistence.ThenReply(persistence.Persist(added{a.n}), a.done, true)
		}, opts...)
	}
}

func wrapped(id string, j persistence.Journal) actor.Behavior[add] {
	return behaviors.Singleton(func() actor.Behavior[add] {
		return behaviors.Supervise(summing()(id, j), actor.Strategy{})
	})
}

// An unclosed journal is of several servers.
type unclosed struct{ *journal.Memory }

func (unclosed) Close() error { return nil }

// storedBy returns a journal in which the actors of ids have stored numbers. It calls settle after
// each, unless that is nil.
func storedBy(t *testing.T, all map[string][]int, b func(id string, j persistence.Journal) actor.Behavior[add], settle func()) persistence.Journal {
	t.Helper()
	j := unclosed{journal.NewMemory()}
	s := actor.NewSystem("shop", actor.WithLogger(zap.NewNop()))
	for id, numbers := range all {
		ref := actor.Spawn(s, b(id, j), "")
		for _, n := range numbers {
			_, err := actor.Ask(t.Context(), ref, func(done actor.ActorRef[bool]) add { return add{n, done} })
			require.NoError(t, err)
			if settle != nil {
				settle()
			}
		}
	}
	require.NoError(t, s.Shutdown(t.Context()))
	return j
}

// asked returns the answers to requests.
func asked(t *testing.T, j persistence.Journal, parts []Part, requests ...request) (all []answer) {
	t.Helper()
	var in, out bytes.Buffer
	for _, r := range append([]request{{Do: "hello", Journal: "here"}}, requests...) {
		line, err := json.Marshal(r)
		require.NoError(t, err)
		in.Write(line)
	}
	open := func(_ context.Context, location string) (persistence.Journal, error) {
		require.Equal(t, "here", location)
		return j, nil
	}
	require.NoError(t, serve("1:00ff", open, parts, &in, &out))
	for line := range strings.Lines(out.String()) {
		text, ours := strings.CutPrefix(line, prefix)
		require.True(t, ours)
		var a answer
		require.NoError(t, json.Unmarshal([]byte(text), &a))
		all = append(all, a)
	}
	return all
}

func read(t *testing.T, j persistence.Journal, parts []Part, id string) report {
	t.Helper()
	all := asked(t, j, parts, request{Do: "read", IDs: []string{id}, Spool: filepath.Join(t.TempDir(), "spool")})
	require.Len(t, all, 4, "%+v", all)
	require.Empty(t, all[3].Error)
	return *all[2].Report
}

func TestABuildSaysWhatItMakesOfAnID(t *testing.T) {
	parts := []Part{Of("sum", summing(persistence.SnapshotEvery(2, 2))), Of("till-*", wrapped)}
	j := storedBy(t, map[string][]int{"sum|1": {1, 2, 3}, "till-7": {5}, "other": {4}}, summing(persistence.SnapshotEvery(2, 2)), nil)

	ids := map[string]uint64{}
	for _, a := range asked(t, j, parts, request{Do: "ids"}) {
		if a.ID != nil {
			ids[a.ID.ID] = a.ID.Events
		}
	}
	require.Equal(t, map[string]uint64{"sum|1": 3, "till-7": 1, "other": 1}, ids)

	one := read(t, j, parts, "sum|1")
	require.Equal(t, []any{"sum", "sum|1", uint64(3), uint64(1), uint64(0)}, []any{one.Part, one.Uses, one.Events, one.Snapshots, one.Wrote})
	require.True(t, one.Recovers && one.Replays && one.Saved != "")
	require.JSONEq(t, string(one.State), string(one.Alone))
	require.Contains(t, string(one.State), `"Sum":6`)
	require.NotContains(t, string(one.State), "1234")

	till := read(t, j, parts, "till-7")
	require.Equal(t, []any{"till-*", "till-7", ""}, []any{till.Part, till.Uses, till.Error})
	require.Contains(t, string(till.State), `"Sum":5`)
	require.Empty(t, till.Saved) // it takes no snapshots

	null := json.RawMessage("null")
	require.Equal(t, report{ID: "other", Seq: 1, Events: 1, State: null, Alone: null}, read(t, j, parts, "other"))
}

func TestAFaultDoesNotHideWhatFollows(t *testing.T) {
	parts := []Part{Of("sum", summing())}
	lucky := func(id string, j persistence.Journal) actor.Behavior[add] {
		return behaviors.EventSourced(id, j, 0, func(n int, a added) int { return n + a.N }, func(_ *actor.Context[add], _ int, a add) persistence.Effect[added] {
			return persistence.ThenReply(persistence.Persist(added{a.n}), a.done, true)
		})
	}
	j := storedBy(t, map[string][]int{"sum|1": {1, 13, 3}}, lucky, nil)
	claim, err := j.Claim(t.Context(), "sum|1", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{{ID: "sum|1", Epoch: claim.Epoch, Prev: 3, Records: []journal.Record{{Seq: 4, Epoch: claim.Epoch, Type: "rehearsal.gone", Payload: []byte{0xa0}}}}})[0])
	rep := read(t, j, parts, "sum|1")
	require.False(t, rep.Recovers || rep.Replays)
	require.EqualValues(t, 4, rep.Events)
	require.Len(t, rep.Faults, 2)
	require.Equal(t, inspect.Fault{Kind: inspect.FaultHandler, Seq: 2, Type: "rehearsal.added", Text: "panic: unlucky"}, rep.Faults[0])
	require.Equal(t, []any{inspect.FaultEvent, uint64(4), "rehearsal.gone"}, []any{rep.Faults[1].Kind, rep.Faults[1].Seq, rep.Faults[1].Type})
	require.Contains(t, rep.Faults[1].Text, `no type is registered as "rehearsal.gone"`)
}

func TestAStoredTimerWhoseMessageCannotBeDecodedIsAFault(t *testing.T) {
	j := storedBy(t, map[string][]int{"sum|1": {1}}, summing(), nil)
	claim, err := j.Claim(t.Context(), "sum|1", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	timer := journal.Timer{Key: "late", Due: time.Now(), Type: "rehearsal.gone", Payload: []byte{0xa0}}
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{{ID: "sum|1", Epoch: claim.Epoch, Prev: 1, Timers: []journal.TimerChange{{Timer: timer}}}})[0])
	rep := read(t, j, []Part{Of("sum", summing())}, "sum|1")
	require.True(t, rep.Recovers)
	require.Len(t, rep.Faults, 1)
	require.Equal(t, []any{inspect.FaultTimer, "rehearsal.gone"}, []any{rep.Faults[0].Kind, rep.Faults[0].Type})
	require.Contains(t, rep.Faults[0].Text, `timer "late": `)
}

func TestTheSettingsOfASingletonAreKnown(t *testing.T) {
	parts := []Part{Of("till-*", wrapped), Of("sum", summing()), Of("cart", summing()).With(map[string]string{"shards": "8"})}
	h := asked(t, journal.NewMemory(), parts)[0].Hello
	require.Equal(t, map[string]string{"shards": "8", "message": "rehearsal.add"}, h.Settings["cart"])
	require.Contains(t, h.Settings["till-*"], "at least once")
	require.NotContains(t, h.Settings, "sum")
}

func TestAPartOfSettingsHasNoIDs(t *testing.T) {
	actor.RegisterError("rehearsal.sold-out", errors.New("sold out"))
	j := storedBy(t, map[string][]int{"nightly": {1}}, summing(), nil)
	parts := []Part{Settings("nightly", map[string]string{"role": "night"}), Of("nightly", summing())}
	h := asked(t, j, parts)[0].Hello
	require.Equal(t, map[string]string{"role": "night"}, h.Settings["nightly"])
	require.Contains(t, h.Errors, "rehearsal.sold-out")
	require.True(t, read(t, j, parts, "nightly").Recovers)
	require.Panics(t, func() { Settings("nightly", nil) })
	require.Panics(t, func() { Settings("", map[string]string{"role": "night"}) })
}

func TestEventsBehindASnapshotMayBeDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { eventsBehindASnapshot(t) })
}

func eventsBehindASnapshot(t *testing.T) {
	t.Helper()
	kept := summing(persistence.SnapshotEvery(2, 2), persistence.Options[add, added, sums]{DeleteEvents: true})
	for numbers, events := range map[int]uint64{3: 3, 5: 3, 8: 2} {
		all := make([]int, numbers)
		for i := range all {
			all[i] = i + 1
		}
		parts := []Part{Of("sum", kept)}
		j := storedBy(t, map[string][]int{"sum|1": all}, kept, func() { time.Sleep(time.Second) })
		rep := read(t, j, parts, "sum|1")
		require.Empty(t, rep.Faults)
		require.Equal(t, events, rep.Events, numbers)
		require.True(t, rep.Recovers && rep.Replays)
		want := fmt.Sprintf(`"Sum":%d}`, numbers*(numbers+1)/2)
		require.Contains(t, string(rep.State), want)
		require.Contains(t, string(rep.Alone), want)
	}
}

func TestABuildReadsWhatAnotherOneWouldStore(t *testing.T) {
	plain, spool := []Part{Of("sum", summing(persistence.SnapshotEvery(2, 2)))}, filepath.Join(t.TempDir(), "spool")
	j := storedBy(t, map[string][]int{"sum|1": {1, 2, 3}}, summing(persistence.SnapshotEvery(2, 2)), nil)
	other := []Part{Of("sum", summing(persistence.Options[add, added, sums]{
		SnapshotEvery: 2,
		FromJournal: func(s persistence.StoredEvent) ([]added, error) { // each event becomes two
			all, err := persistence.Unchanged[added](s)
			return append(all, added{0}), err
		},
		ToJournal: func(a added) (any, int) { return added{10 * a.N}, 1 },
	}))}
	wrote := asked(t, j, other, request{Do: "read", IDs: []string{"sum|1"}, Spool: spool})[2].Report
	require.EqualValues(t, 3, wrote.Wrote)
	back := asked(t, j, plain, request{Do: "reread", IDs: []string{"sum|1"}, Spool: spool})[2].Report
	require.Empty(t, back.Faults)
	require.EqualValues(t, 6, back.Events)
	require.Contains(t, string(back.Alone), `"Sum":60`)
	require.Contains(t, string(back.State), `"Sum":6}`) // from the snapshot of the other build
	require.Empty(t, back.Changes)                      // no event has become one other
}

func TestARequestThatFailsSaysWhy(t *testing.T) {
	parts := []Part{Of("sum", summing())}
	for text, r := range map[string]request{
		"this build does not know the request": {Do: "dance"},
		"no part of rehearsal.Serve has":       {Do: "look", Query: "type=tub&id=1"},
		"no such file":                         {Do: "reread", Spool: filepath.Join(t.TempDir(), "absent")},
		"invalid URL escape":                   {Do: "look", Query: "%"},
		"not the number of an event":           {Do: "look", Query: "type=sum&id=1&diff=0"},
	} {
		all := asked(t, journal.NewMemory(), parts, r)
		require.Contains(t, all[len(all)-1].Error, text)
	}
	err := serve("2:00", nil, parts, strings.NewReader(""), nil)
	require.ErrorContains(t, err, `version 1 of the protocol, and was asked for version "2"`)
	require.Panics(t, func() { Serve(nil, parts...) })
	require.Panics(t, func() { Of[add]("", summing()) })
}

func TestAnActorThatIsTriedWritesNothing(t *testing.T) {
	j := &copied{Journal: journal.NewMemory()}
	_, err := j.Claim(t.Context(), "a", journal.WriterID{}, journal.Bounds{})
	require.ErrorIs(t, err, errReadOnly)
	require.Equal(t, []error{errReadOnly}, j.Append(t.Context(), make([]journal.AppendRequest, 1)))
	require.ErrorIs(t, j.DeleteTo(t.Context(), "a", 1, 1), errReadOnly)
	require.ErrorIs(t, j.SaveSnapshot(t.Context(), "a", journal.Snapshot{}), errReadOnly)
	require.ErrorIs(t, j.DeleteSnapshots(t.Context(), "a", 1, 1, 1), errReadOnly)
	parts := []Part{Of("a", func(string, persistence.Journal) actor.Behavior[add] {
		return behaviors.Receive(func(*actor.Context[add], add) actor.Behavior[add] { return behaviors.Same })
	}), Of("b", func(string, persistence.Journal) actor.Behavior[add] { panic("no cluster") })}
	require.Contains(t, read(t, j.Journal, parts, "a").Error, "neither event-sourced")
	require.Contains(t, read(t, j.Journal, parts, "b").Error, `the behavior of "b" cannot be made: panic: no cluster`)
}
