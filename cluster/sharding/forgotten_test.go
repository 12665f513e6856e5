package sharding_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

func TestARememberedEntityWhoseIDIsForgottenIsNotStartedAgain(t *testing.T) {
	for name, opts := range map[string][]sharding.Option{"remembered": {sharding.Remember()}, "not remembered": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, starts := journal.NewMemory(), new(atomic.Int64)
				core, log := observer.New(zap.WarnLevel)
				s := testkit.NewSystem(t, persistence.WithJournal(store), actor.WithLogger(zap.New(core)))
				r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
					return behaviors.Setup(func(*actor.Context[note]) actor.Behavior[note] {
						starts.Add(1)
						return persistentNotebook(e, store, "n1")
					})
				}, append(opts, sharding.Shards(2))...)
				r.Ref("a").Tell(note{Text: "one"})
				require.Equal(t, "one", read(t, r.Ref("a")))
				require.NoError(t, persistence.Forget(t.Context(), store, "notebook|a"))

				r.Ref("a").Tell(note{Text: "two"})
				time.Sleep(time.Hour)
				require.Equal(t, int64(1), starts.Load(), "it was fenced, and is not started again")
				require.Equal(t, 1, log.FilterMessage("entity ends, as its id was forgotten; only a message starts it again").Len())

				for i := range 3 {
					asked := time.Now()
					_, err := tryRead(t, r.Ref("a"))
					require.ErrorIs(t, err, persistence.ErrForgotten)
					require.ErrorIs(t, err, sharding.ErrEntityFailed)
					require.Less(t, time.Since(asked), 100*time.Millisecond)
					require.Equal(t, int64(2+i), starts.Load())
				}
				require.NoError(t, persistence.Revive(t.Context(), store, "notebook|a"))
				require.Empty(t, read(t, r.Ref("a")))
			})
		})
	}
}

func TestAForgottenEntityIsNotRememberedAfterAFullStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, starts := journal.NewMemory(), new(atomic.Int64)
		begin := func() (*actor.System, *sharding.Region[note]) {
			s := testkit.NewSystem(t, persistence.WithJournal(store), actor.WithLogger(zap.NewNop()))
			return s, start(t, s, func(e sharding.Entity) actor.Behavior[note] {
				starts.Add(1)
				return persistentNotebook(e, store, "n1")
			}, sharding.Remember(), sharding.Shards(2))
		}
		first, r := begin()
		read(t, r.Ref("a"))
		require.NoError(t, first.Shutdown(t.Context()))
		require.NoError(t, persistence.Forget(t.Context(), store, "notebook|a"))
		starts.Store(0)
		second, _ := begin()
		time.Sleep(time.Hour)
		require.Equal(t, int64(1), starts.Load())
		require.NoError(t, second.Shutdown(t.Context()))
		_, _ = begin()
		time.Sleep(time.Hour)
		require.Equal(t, int64(1), starts.Load(), "nobody remembers it")
	})
}
