package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// A prunable is a journal with ten ids, whose actors have stored an event in each of ten hours.
type prunable struct {
	*testing.T
	j      *journal.Memory
	system *actor.System
	actors []actor.ActorRef[command]
	noon   time.Time // after half of the hours
}

func newPrunable(t *testing.T, opts options) *prunable {
	p := &prunable{T: t, j: journal.NewMemory(), system: testkit.NewSystem(t, testkit.WithoutEncoding())}
	for i := range 10 {
		p.actors = append(p.actors, actor.Spawn(p.system, behaviors.EventSourced(fmt.Sprint("words-", i), p.j, "", hear, obey, opts), ""))
	}
	for hour := range 10 {
		if hour == 5 {
			p.noon = time.Now()
		}
		for _, ref := range p.actors {
			ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] {
				return persistence.Persist(said{fmt.Sprint(hour)})
			})
		}
		time.Sleep(time.Hour)
	}
	return p
}

func (p *prunable) claim(i int) journal.Claim {
	p.Helper()
	head, err := p.j.Head(p.Context(), fmt.Sprint("words-", i))
	require.NoError(p, err)
	return head
}

func TestPruneDeletesOldEventsBehindSnapshotsBesideTheirActors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrunable(t, options{SnapshotEvery: 4, KeepSnapshots: 1})
		var told []persistence.Pruned
		done, err := persistence.Prune(t.Context(), p.j, p.noon, persistence.Pruning{Progress: func(d persistence.Pruned) { told = append(told, d) }})
		require.NoError(t, err)
		require.Equal(t, uint64(50), done.Events)
		require.Equal(t, []persistence.Pruned{done}, told)
		for i := range p.actors {
			require.Equal(t, journal.Claim{Epoch: 1, LastSeq: 10, DeletedTo: 5, TimersKnown: true}, p.claim(i))
		}
		replies := testkit.NewProbe[string](t, p.system)
		p.actors[3].Tell(say(replies.Ref(), "+"))
		replies.Expect("+")
		require.Equal(t, uint64(1), p.claim(3).Epoch, "it was not fenced")

		again, err := persistence.Prune(t.Context(), p.j, time.Now().Add(time.Hour), persistence.Pruning{After: done.Offset})
		require.NoError(t, err)
		require.Equal(t, uint64(30), again.Events, "up to the snapshots at 8")
		actor.Spawn(p.system, behaviors.EventSourced("words-7", p.j, "", hear, obey), "").Tell(recall(replies.Ref()))
		replies.Expect("[0123456789]")
	})
}

func TestPruneLeavesWhatRecoveryNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrunable(t, options{})
		done, err := persistence.Prune(t.Context(), p.j, p.noon, persistence.Pruning{})
		require.NoError(t, err)
		require.Zero(t, done.Events)
		require.Equal(t, uint64(10), done.NoSnapshot)

		strange := journal.Snapshot{Seq: 3, Epoch: 1, Type: "persistence_test.nobody", Payload: []byte{1}}
		require.NoError(t, p.j.SaveSnapshot(t.Context(), "words-1", strange))
		require.NoError(t, p.j.Forget(t.Context(), "words-2"))
		done, err = persistence.Prune(t.Context(), p.j, p.noon, persistence.Pruning{})
		require.NoError(t, err)
		require.Zero(t, done.Events)
		require.Equal(t, []uint64{8, 1}, []uint64{done.NoSnapshot, done.BadState})
	})
}

func TestPruneStopsBeforeWhatAReaderHasNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrunable(t, options{SnapshotEvery: 10, KeepSnapshots: 1})
		n := 0
		for entry, err := range p.j.Events(t.Context(), journal.Query{}, "") {
			require.NoError(t, err)
			if n++; n == 33 {
				require.NoError(t, p.j.SaveReader(t.Context(), journal.Reader{Name: "sales", Offset: entry.Offset}))
			}
		}
		done, err := persistence.Prune(t.Context(), p.j, p.noon, persistence.Pruning{})
		require.NoError(t, err)
		require.Equal(t, uint64(33), done.Events)
		require.Equal(t, uint64(10), done.Unread)
		require.Equal(t, "sales", done.Reader)
		done, err = persistence.Prune(t.Context(), p.j, p.noon, persistence.Pruning{DeleteUnread: true})
		require.NoError(t, err)
		require.Equal(t, uint64(17), done.Events)
	})
}

func TestPruneIsCalledOffAndContinues(t *testing.T) {
	j, ids := journal.NewMemory(), 10_500
	for i := range ids {
		id := fmt.Sprint("id-", i)
		_, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		r := journal.Record{Seq: 1, Epoch: 1, Type: "persistence_test.said", Time: time.Unix(1_800_000_000, 0)}
		require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{{ID: id, Epoch: 1, Records: []journal.Record{r}}})[0])
		state := journal.Snapshot{Seq: 1, Epoch: 1, Type: "string", Payload: []byte{0x61, 'a'}}
		require.NoError(t, j.SaveSnapshot(t.Context(), id, state))
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	p := persistence.Pruning{Progress: func(persistence.Pruned) { calls++; cancel() }}
	done, err := persistence.Prune(ctx, j, time.Unix(1_900_000_000, 0), p)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, uint64(10_000), done.Events)
	p.After = done.Offset
	done, err = persistence.Prune(t.Context(), j, time.Unix(1_900_000_000, 0), p)
	require.NoError(t, err)
	require.Equal(t, uint64(500), done.Events)
	require.Equal(t, 2, calls)
}

func TestOnlyAJournalThatRetainsEventsIsPruned(t *testing.T) {
	for _, j := range []persistence.Journal{struct{ journal.Journal }{journal.NewMemory()}, nil} {
		_, err := persistence.Prune(t.Context(), j, time.Now(), persistence.Pruning{})
		require.Error(t, err)
		require.Equal(t, j != nil, errors.Is(err, errors.ErrUnsupported))
	}
}
