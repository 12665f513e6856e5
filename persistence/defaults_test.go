package persistence

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	c, err := newConfig(nil)
	require.NoError(t, err)
	require.Empty(t, godoc.Check(".",
		godoc.Is("OnPersistFailure", "The default is 100 ms, doubled up to 4 s.", [2]time.Duration{100 * time.Millisecond, 4 * time.Second}, [2]time.Duration{c.backoff.Min, c.backoff.Max}),
		godoc.Is("PersistTimeout", "The default is 30 seconds.", 30*time.Second, c.persistTimeout),
		godoc.Is("RecoveryTimeout", "The default is 30 seconds.", 30*time.Second, c.recoveryTimeout),
		godoc.Is("StashCapacity", "The default is 4096.", 4096, c.stashCapacity),
	))
}
