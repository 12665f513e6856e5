package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	s, long, short := Settings{}.withDefaults(), Settings{TTL: time.Hour}.withDefaults(), Settings{TTL: 6 * time.Second}.withDefaults()
	require.Empty(t, godoc.Check(".",
		godoc.Is("Settings.TTL", "the default is 15 s", 15*time.Second, s.TTL),
		godoc.Is("Settings.Renewal", "the default is a quarter of TTL", 15*time.Minute, long.Renewal),
		godoc.Is("Settings.Retry", "the default is a fifteenth of TTL, at most 1 s", 400*time.Millisecond, short.Retry),
		godoc.Is("Settings.Retry", "at most 1 s", time.Second, long.Retry),
		godoc.Is("Settings.OperationTimeout", "the default is a third of TTL, at most 5 s", 2*time.Second, short.OperationTimeout),
		godoc.Is("Settings.OperationTimeout", "at most 5 s", 5*time.Second, long.OperationTimeout),
		godoc.Is("Settings.Drift", "the default is 0.05", 0.05, s.Drift),
	))
}
