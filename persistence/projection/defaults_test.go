package projection

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
		godoc.Is("Workers", "The default is 1.", 1, c.workers),
		godoc.Is("InBatches", "The default is 100 events and one second.", 100, c.batch),
		godoc.Is("InBatches", "100 events and one second.", time.Second, c.within),
		godoc.Is("Polling", "The default is 10 ms, doubled up to a second.", [2]time.Duration{10 * time.Millisecond, time.Second}, [2]time.Duration{c.polling.Min, c.polling.Max}),
		godoc.Is("RestartBackoff", "The default is 100 ms, doubled up to 10 seconds.", [2]time.Duration{100 * time.Millisecond, 10 * time.Second}, [2]time.Duration{c.backoff.Min, c.backoff.Max}),
	))
}

func TestANilOptionIsNamed(t *testing.T) {
	_, err := newConfig([]Option{Workers(2), nil})
	require.EqualError(t, err, "option 2 is nil")
}
