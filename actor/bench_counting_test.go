package actor_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// BenchmarkMailboxes measures a survey of 100 000 actors, divided by their number.
func BenchmarkMailboxes(b *testing.B) {
	s := quietSystem(b)
	for range b.N {
		actor.Spawn(s, behaviors.Ignore[sample], "")
	}
	began := time.Now()
	require.NotNil(b, numbersOf(s).Mailboxes())
	b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms/survey")
}

// quietSystem returns a system that ends with the test.
func quietSystem(t testing.TB, opts ...actor.Option) *actor.System {
	s := actor.NewSystem("quiet", opts...)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, s.Shutdown(ctx))
	})
	return s
}

// tells returns how long a message takes from one goroutine to one actor.
func tells(s *actor.System, tell func(to actor.ActorRef[sample])) time.Duration {
	const messages = 100_000
	var done sync.WaitGroup
	done.Add(1)
	got := 0
	ref := actor.Spawn(s, behaviors.Receive(func(*actor.Context[sample], sample) actor.Behavior[sample] {
		if got++; got == messages {
			done.Done()
			return behaviors.Stopped
		}
		return nil
	}), "")
	began := time.Now()
	for range messages {
		tell(ref)
	}
	done.Wait()
	return time.Since(began) / messages
}
