package postgres_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/postgres"
)

// holding is set in the process that TestTheLeaseOfAKilledProcessIsFreeAfterTheTTL kills.
const holding = "UNDERSTUDY_TEST_HOLD"

func TestTheLeaseOfAKilledProcessIsFreeAfterTheTTL(t *testing.T) {
	settings := lease.Settings{TTL: 2 * time.Second}
	if url := os.Getenv(holding); url != "" {
		l, err := lease.New(openAt(t, url, ownTable(t)), "job", "a", settings)
		require.NoError(t, err)
		held, err := l.Acquire(t.Context())
		require.NoError(t, err)
		require.True(t, held)
		time.Sleep(settings.TTL * 3 / 2) // it is renewed meanwhile
		require.True(t, l.Valid())
		fmt.Println("held")
		select {}
	}
	s := shared(t)
	holder := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	holder.Env = append(os.Environ(), holding+"="+s.url())
	holder.Stderr = os.Stderr
	out, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "held\n", line)

	l, err := lease.New(s.open(t, ownTable(t)), "job", "b", settings)
	require.NoError(t, err)
	held, err := l.Acquire(t.Context())
	require.NoError(t, err)
	require.False(t, held)

	require.NoError(t, holder.Process.Kill())
	killed := time.Now()
	_ = holder.Wait()
	require.Eventually(t, func() bool {
		held, err := l.Acquire(t.Context())
		require.NoError(t, err)
		return held
	}, time.Minute, 5*time.Millisecond)
	took := time.Since(killed)
	t.Logf("taken over %v after the death of the holder, TTL %v", took.Round(time.Millisecond), settings.TTL)
	require.Greater(t, took, settings.TTL/2, "it was renewed a quarter of its TTL before, at most")
	require.Less(t, took, settings.TTL+5*time.Second)
	require.EqualValues(t, 2, l.Token())
	require.NoError(t, l.Release(t.Context()))
}

func BenchmarkStore(b *testing.B) {
	store, err := postgres.Open(shared(b).url(), ownTable(b))
	require.NoError(b, err)
	b.Cleanup(store.Close)
	require.NoError(b, store.Migrate(b.Context()))

	b.Run("renew", func(b *testing.B) {
		grant, err := store.Take(b.Context(), claim("renew", "a"))
		require.NoError(b, err)
		for b.Loop() {
			_, err = store.Renew(b.Context(), grant)
			require.NoError(b, err)
		}
	})
	b.Run("take and release", func(b *testing.B) {
		for b.Loop() {
			grant, err := store.Take(b.Context(), claim("take", "a"))
			require.NoError(b, err)
			require.NoError(b, store.Release(b.Context(), grant))
		}
	})
	b.Run("refused", func(b *testing.B) {
		_, err := store.Take(b.Context(), claim("refused", "a"))
		require.NoError(b, err)
		for b.Loop() {
			_, err = store.Take(b.Context(), claim("refused", "b"))
			require.ErrorIs(b, err, lease.ErrHeld)
		}
	})
	b.Run("next term", func(b *testing.B) {
		for b.Loop() {
			_, err := store.NextTerm(b.Context(), "term", 0)
			require.NoError(b, err)
		}
	})
}
