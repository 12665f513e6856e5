//go:build unix

package processes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Storm tests two processes, started by start, that claim id and append to it as fast as they can.
// j must have exactly the events that they have acknowledged.
func Storm(t *testing.T, j persistence.Journal, id string, start func(role string) *Child) {
	t.Helper()
	one, two := start("storm"), start("storm")
	acked := map[string]int{}
	for range 100 {
		acked[one.Line()]++
		acked[two.Line()]++
	}
	for _, line := range append(one.Finish(), two.Finish()...) {
		acked[line]++
	}
	got := payloads(t, j, id)
	for _, payload := range got {
		require.Equal(t, 1, acked[payload], payload)
	}
	require.Len(t, got, len(acked))
	claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	t.Logf("%d events under %d claims", len(got), claim.Epoch)
}

func payloads(t *testing.T, j persistence.Journal, id string) (all []string) {
	t.Helper()
	for r, err := range j.Read(t.Context(), id, 1, 1<<62) {
		require.NoError(t, err)
		all = append(all, string(r.Payload))
	}
	return all
}
