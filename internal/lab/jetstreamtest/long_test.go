package jetstreamtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An id that has the stream for itself is read by a search, in several answers.
func TestALongIDIsReadInOrder(t *testing.T) {
	r := &rig{cluster: start(t, 1, deferred)}
	j := r.open(t, r.name())
	w := claim(t, j, "x")
	const events = 1500
	var want []string
	for i := range events {
		payload := fmt.Sprint(i)
		switch i {
		case 300: // does not fit into a message
			payload = strings.Repeat("large", 300_000)
		case 700:
			w = claim(t, j, "x")
		}
		want = append(want, payload)
		w.append(t, payload)
		if i%100 == 0 {
			claim(t, j, "y").append(t, "other")
		}
	}
	require.Equal(t, want, read(t, j, "x"))
	for _, bounds := range [][2]uint64{{1, 1}, {1, 256}, {1, 257}, {1, events - 1}, {300, 302}, {1400, everything}, {events, events}} {
		next := bounds[0]
		for record, err := range j.Read(t.Context(), "x", bounds[0], bounds[1]) {
			require.NoError(t, err)
			require.Equal(t, next, record.Seq)
			require.Equal(t, want[next-1], string(record.Payload))
			next++
		}
		require.Equal(t, min(bounds[1], events)+1, next, "%v", bounds)
	}
	for record, err := range j.Read(t.Context(), "x", 1, everything) {
		require.NoError(t, err)
		if record.Seq == 400 {
			break
		}
	}
	require.NoError(t, j.DeleteTo(t.Context(), "x", w.epoch, 200))
	require.Equal(t, want[200:], read(t, j, "x"))
	require.NoError(t, j.at(t, j.stream).DeleteMsg(t.Context(), j.at(t, j.stream).CachedInfo().State.LastSeq-200))
	n := 0
	for _, err := range j.Read(t.Context(), "x", 1, everything) {
		if err == nil {
			n++
		}
	}
	require.Less(t, n, events-200)
	require.Greater(t, n, events-200-250, "what is before the missing message")
}
