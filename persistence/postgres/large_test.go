package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Large events among small ones cause pages to be cut off, and no event is lost.
func TestLargeEventsAmongSmallOnesAreAllRead(t *testing.T) {
	j := open(t, pgtest.Shared(t))
	o, err := own(j, "x")
	require.NoError(t, err)
	var sizes []int
	for i := range 20 {
		req := some("x", o.claim.Epoch, o.claim.LastSeq, 10)
		for k := range req.Records {
			size := 10
			if i > 15 {
				size = 1 << 20
			}
			req.Records[k].Payload = make([]byte, size)
			sizes = append(sizes, size)
		}
		require.NoError(t, appendOne(t, j, req))
		o.claim.LastSeq += 10
	}
	var got []int
	for r, err := range j.Read(t.Context(), "x", 1, 1<<63) {
		require.NoError(t, err)
		got = append(got, len(r.Payload))
	}
	require.Equal(t, sizes, got)
	got = nil
	for _, e := range collect(t, j, journal.Query{}, "") {
		got = append(got, len(e.Record.Payload))
	}
	require.Equal(t, sizes, got)
}
