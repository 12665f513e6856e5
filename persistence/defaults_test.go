package persistence

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	c, err := completed(settings{})
	require.NoError(t, err)
	require.Empty(t, godoc.Check(".",
		godoc.Is("Options.OnPersistFailure", "The default is 100 ms, doubled up to 4 s.", [2]time.Duration{100 * time.Millisecond, 4 * time.Second}, [2]time.Duration{c.OnPersistFailure.Min, c.OnPersistFailure.Max}),
		godoc.Is("Options.PersistTimeout", "The default is 30 seconds.", 30*time.Second, c.PersistTimeout),
		godoc.Is("Options.RecoveryTimeout", "The default is 30 seconds.", 30*time.Second, c.RecoveryTimeout),
		godoc.Is("Options.KeepSnapshots", "The default is 2.", 2, c.KeepSnapshots),
		godoc.Is("Options.OnceKeys", "The default is 1000.", 1000, c.OnceKeys),
		godoc.Is("Options.OnceFor", "The default is 7 days.", 7*24*time.Hour, c.OnceFor),
		godoc.Is("Options.StashCapacity", "The default is 4096.", 4096, c.StashCapacity),
	))
}
