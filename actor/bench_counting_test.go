package actor_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// BenchmarkMailboxes measures a survey of 100 000 actors, divided by their number.
func BenchmarkMailboxes(b *testing.B) {
	s := actor.NewSystem("quiet")
	b.Cleanup(func() { require.NoError(b, s.Shutdown(context.Background())) })
	for range b.N {
		actor.Spawn(s, behaviors.Ignore[sample], "")
	}
	began := time.Now()
	require.NotNil(b, numbersOf(s).Backlogs().Kinds)
	b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms/survey")
}
