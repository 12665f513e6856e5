package persistence_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"iter"
	"maps"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// formerTotal and latterTotal have the same form: the first stands for the second in a process that
// has ended.
type (
	formerTotal struct{ N int }
	latterTotal struct{ N int }
)

func init() {
	actor.RegisterType[formerTotal]("persistence-test.total-of-former")
	actor.RegisterType[latterTotal]("persistence-test.total-of-latter")
}

// ofAnotherProcess has replies as another process has stored them.
type ofAnotherProcess struct{ *journal.Memory }

func (j ofAnotherProcess) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range j.Memory.Read(ctx, id, from, to) {
			meta := maps.Clone(r.Meta)
			for key, text := range meta {
				if keys, bad := base64.StdEncoding.DecodeString(text); bad == nil {
					meta[key] = base64.StdEncoding.EncodeToString(bytes.ReplaceAll(keys, []byte("total-of-former"), []byte("total-of-latter")))
				}
			}
			if r.Meta = meta; !yield(r, err) {
				return
			}
		}
	}
}

type addition[T any] struct {
	N       int
	ReplyTo actor.ActorRef[actor.Result[T]]
}

func adding[T any](j persistence.Journal, of func(int) T) actor.Behavior[addition[T]] {
	return behaviors.EventSourced("sum", j, 0, func(sum int, n int) int { return sum + n }, func(_ *actor.Context[addition[T]], sum int, a addition[T]) persistence.Effect[int] {
		return persistence.Once("one", persistence.ThenReply(persistence.Persist(a.N), a.ReplyTo, actor.Result[T]{Value: of(sum + a.N)}))
	})
}

func add[T any](t *testing.T, s *actor.System, b actor.Behavior[addition[T]]) T {
	t.Helper()
	ref := actor.Spawn(s, b, "") // a later one claims the id
	sum, err := actor.AskResult(t.Context(), ref, func(to actor.ActorRef[actor.Result[T]]) addition[T] { return addition[T]{5, to} })
	require.NoError(t, err)
	return sum
}

// The process has not sent a result of that type before, so it has had no reason to name it.
func TestARepeatedCommandGetsTheResultThatAnotherProcessHasStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		s := testkit.NewSystem(t, testkit.WithoutEncoding()) // which would name the result
		require.Equal(t, formerTotal{5}, add(t, s, adding(j, func(n int) formerTotal { return formerTotal{n} })))
		require.Equal(t, latterTotal{5}, add(t, s, adding(ofAnotherProcess{j}, func(n int) latterTotal { return latterTotal{n} })))
	})
}
