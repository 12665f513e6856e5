package json_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/codec/json"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

type (
	put struct {
		Line    line
		ReplyTo actor.ActorRef[basket]
	}
	putIn  struct{ Line line }
	basket struct{ Lines []line }
)

func init() {
	actor.RegisterType[put]("basket.put")
	actor.RegisterType[putIn]("basket.putin", actor.WithCodec(json.Codec{}))
	actor.RegisterType[basket]("basket", actor.WithCodec(json.Codec{}))
}

func basketIn(store persistence.Journal) actor.Behavior[put] {
	return behaviors.EventSourced("basket-1", store, basket{},
		func(b basket, e putIn) basket { return basket{append(slices.Clip(b.Lines), e.Line)} },
		func(_ *actor.Context[put], b basket, p put) persistence.Effect[putIn] {
			return persistence.Persist(putIn{p.Line}).Then(func() { p.ReplyTo.Tell(basket{append(slices.Clip(b.Lines), p.Line)}) })
		}, persistence.SnapshotEvery(2, 1))
}

func TestEventsAndSnapshotsAreJSONAndOlderOnesAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		var want []line
		for i, item := range []string{"tea", "milk", "jam"} {
			system := testkit.NewSystem(t)
			want = append(want, line{item, int64(i)})
			got, err := actor.Ask(t.Context(), actor.Spawn(system, basketIn(store), ""), func(replyTo actor.ActorRef[basket]) put {
				return put{want[i], replyTo}
			})
			require.NoError(t, err)
			require.Equal(t, basket{want}, got)
			require.NoError(t, system.Shutdown(context.Background()))
		}
		for record, err := range store.Read(t.Context(), "basket-1", 1, 3) {
			require.NoError(t, err)
			require.Contains(t, string(record.Payload), `{"Line":{"item":"`)
			var fields struct{ Line struct{ Item string } }
			stored, err := persistence.Stored(nil, &record)
			require.NoError(t, err)
			require.NoError(t, stored.Decode(&fields), "also into another type")
			require.Equal(t, want[record.Seq-1].Item, fields.Line.Item)
		}
		snapshot, found, _, err := store.LoadSnapshot(t.Context(), "basket-1", 3)
		require.NoError(t, err)
		require.True(t, found)
		require.True(t, strings.HasSuffix(string(snapshot.Payload), `{"Lines":[{"item":"tea","N":0},{"item":"milk","N":1}]}`), "%q", snapshot.Payload)
	})
}

type (
	referring struct{ To actor.ActorRef[int] }
	anything  struct{ V any }
)

func TestATypeThatJSONCannotEncodeIsNotRegistered(t *testing.T) {
	require.PanicsWithValue(t, "actor: type json_test.referring contains an ActorRef, which a codec cannot encode; use a string field, actor.RefText and actor.Resolve", func() {
		actor.RegisterType[referring]("json.referring", actor.WithCodec(json.Codec{}))
	})
	require.Panics(t, func() { actor.RegisterType[anything]("json.anything", actor.WithCodec(json.Codec{})) })
}
