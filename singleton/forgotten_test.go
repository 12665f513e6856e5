package singleton_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

func TestASingletonWhoseIDIsForgottenRestsUntilAMessageComes(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		store, starts := journal.NewMemory(), new(atomic.Int64)
		one := diary("one", store)
		refs := onAll(c, func() actor.Behavior[msg] {
			starts.Add(1)
			return one()
		})
		settle()
		require.NoError(t, asked(t, refs["b"]))
		require.NoError(t, persistence.Forget(t.Context(), store, "one"))
		require.ErrorIs(t, asked(t, refs["b"]), persistence.ErrForgotten, "the instance is fenced")
		time.Sleep(time.Hour)
		require.Equal(t, int64(1), starts.Load())
		status, _ := singleton.StatusOf(c.nodes["a"].System, "one")
		require.Contains(t, status.Why, "its persistence id was forgotten; a message starts it again")

		for i, from := range []string{"a", "b", "b", "a"} {
			begun := time.Now()
			require.ErrorIs(t, asked(t, refs[from]), persistence.ErrForgotten, "from %s", from)
			require.Less(t, time.Since(begun), 100*time.Millisecond)
			require.Equal(t, int64(2+i), starts.Load())
		}
		time.Sleep(time.Hour)
		require.Equal(t, int64(5), starts.Load())

		require.NoError(t, persistence.Revive(t.Context(), store, "one"))
		require.NoError(t, asked(t, refs["b"]))
		require.NoError(t, asked(t, refs["a"]))
		require.Equal(t, int64(6), starts.Load())
		require.Equal(t, 2, requireAgreement(t, store, "one"))
	})
}

func TestASingletonThatRestsMovesWithItsHost(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		store := journal.NewMemory()
		refs := onAll(c, diary("one", store))
		settle()
		require.NoError(t, asked(t, refs["b"]))
		require.NoError(t, persistence.Forget(t.Context(), store, "one"))
		require.Error(t, asked(t, refs["b"]))
		c.leave("a")
		settle()
		require.ErrorIs(t, asked(t, refs["b"]), persistence.ErrForgotten)
		require.NoError(t, persistence.Revive(t.Context(), store, "one"))
		require.NoError(t, asked(t, refs["b"]))
	})
}

func TestASingletonThatKeepsItsMessagesHandlesThemWhenItsIDIsRevived(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		store := journal.NewMemory()
		refs := onAll(c, diary("one", store), singleton.AtLeastOnce(10))
		settle()
		require.NoError(t, asked(t, refs["b"]))
		require.NoError(t, persistence.Forget(t.Context(), store, "one"))
		require.Error(t, asked(t, refs["b"]))
		require.Error(t, asked(t, refs["a"]))
		time.Sleep(time.Minute)
		require.NoError(t, persistence.Revive(t.Context(), store, "one"))
		time.Sleep(time.Minute)
		require.NoError(t, asked(t, refs["a"]))
		require.NoError(t, asked(t, refs["b"]))
	})
}
