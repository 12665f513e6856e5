package singleton

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	s := newSettings(nil)
	require.Empty(t, godoc.Check(".",
		godoc.Is("Buffer", "the default is [DefaultBuffer]", 1000, s.buffer),
		godoc.Is("Attempts", "the default is [DefaultAttempts]", 3, s.attempts),
		godoc.Is("StopTimeout", "the default is ten seconds", 10*time.Second, s.stopTimeout),
		godoc.Is("RestartBackoff", "the default is 100 ms, doubling up to 4 s", [2]time.Duration{100 * time.Millisecond, 4 * time.Second}, [2]time.Duration{s.restart.Min, s.restart.Max}),
		godoc.Is("RemovalMargin", "The default is what the cluster recommends", time.Duration(0), s.margin),
		godoc.Is("LeaseRetry", "the default is [DefaultLeaseRetry]", 5*time.Second, s.leaseRetry),
	))
	require.Equal(t, actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second, Jitter: s.restart.Jitter}, defaultRestart)
}
