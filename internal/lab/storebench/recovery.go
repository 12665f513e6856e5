package storebench

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// Claim compares claims of existing ids with the same statements by the driver alone.
func Claim(b *testing.B, j journal.Journal, raw func(ctx context.Context, id string) error) {
	const each = 20
	Fill(b, j, each, 1)
	all := func(claim func(id string) error) func() error {
		return func() error {
			for i := range each {
				if err := claim(ID(i)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	t := TakeTurns(b, each,
		all(func(id string) error {
			_, err := j.Claim(b.Context(), id, journal.WriterID{}, journal.Bounds{})
			return err
		}),
		all(func(id string) error { return raw(b.Context(), id) }))
	t.Beside(b, "claims/s")
	b.ReportMetric(1e6*t.Median(0)/each, "µs/claim")
}

// counter is the recovered actor. Its command asks for the sum and ends it.
type (
	ask   struct{ to actor.ActorRef[int] }
	added struct{ N int }
	sum   struct{ N int }
)

func init() {
	actor.RegisterType[added]("storebench.added")
	actor.RegisterType[sum]("storebench.sum")
}

func counter(id string, j journal.Journal) actor.Behavior[ask] {
	return persistence.New(id, j, sum{},
		func(s sum, e added) sum { return sum{s.N + e.N} },
		func(_ *actor.Context[ask], s sum, cmd ask) persistence.Effect[added] {
			cmd.to.Tell(s.N)
			return persistence.Stop
		})
}

// Recovery measures how long an actor takes from its start to its first answer. In one case it has
// a snapshot and 50 later events, compared with the journal's part of the work; in the other it has
// 10,000 events and no snapshot.
func Recovery(b *testing.B, j journal.Journal) {
	const events, after = 10_000, 50
	long, short := ID(0), ID(1)
	for _, id := range []string{long, short} {
		fillCounter(b, j, id, events)
	}
	saveSum(b, j, short, events-after)
	system := testkit.NewSystem(b)
	b.Run("snapshot", func(b *testing.B) {
		t := TakeTurns(b, 1,
			func() error { return recoverActor(b.Context(), system, counter(short, j), events) },
			func() error { return recoverJournal(b.Context(), j, short, after) })
		b.ReportMetric(1e3*t.Median(0), "ms/actor")
		b.ReportMetric(1e3*t.Median(1), "ms/journal")
	})
	b.Run("events", func(b *testing.B) {
		t := TakeTurns(b, 1, func() error { return recoverActor(b.Context(), system, counter(long, j), events) })
		b.ReportMetric(1e3*t.Median(0), "ms/actor")
		b.ReportMetric(events/t.Median(0), "events/s")
	})
}

func fillCounter(b *testing.B, j journal.Journal, id string, events int) {
	one, err := extension.Pack(added{1})
	require.NoError(b, err)
	claim, err := j.Claim(b.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(b, err)
	req := journal.AppendRequest{ID: id, Epoch: claim.Epoch}
	for seq := range uint64(events) {
		req.Records = append(req.Records, journal.Record{Seq: seq + 1, Epoch: claim.Epoch, Type: one.Type, Payload: one.Data})
	}
	require.NoError(b, j.Append(b.Context(), []journal.AppendRequest{req})[0])
}

func saveSum(b *testing.B, j journal.Journal, id string, seq uint64) {
	state, err := extension.Pack(sum{int(seq)})
	require.NoError(b, err)
	claim, err := j.Claim(b.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(b, err)
	require.NoError(b, j.(journal.SnapshotStore).SaveSnapshot(b.Context(), id,
		journal.Snapshot{Seq: seq, Epoch: claim.Epoch, Type: state.Type, Payload: state.Data}))
}

func recoverActor(ctx context.Context, system *actor.System, behavior actor.Behavior[ask], want int) error {
	ref := actor.Spawn(system, behavior, "")
	n, err := actor.Ask(ctx, ref, func(to actor.ActorRef[int]) ask { return ask{to} })
	if err == nil && n != want {
		err = fmt.Errorf("the sum is %d, not %d", n, want)
	}
	return err
}

func recoverJournal(ctx context.Context, j journal.Journal, id string, after int) error {
	claim, err := j.Claim(ctx, id, journal.WriterID{}, journal.Bounds{})
	if err != nil {
		return err
	}
	s, _, _, err := j.(journal.SnapshotStore).LoadSnapshot(ctx, id, claim.LastSeq)
	if err != nil {
		return err
	}
	return counted(after, func(row func()) error {
		for _, err := range j.Read(ctx, id, s.Seq+1, claim.LastSeq) {
			if err != nil {
				return err
			}
			row()
		}
		return nil
	})
}
