package protocol_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/protocol"
)

func TestAReleaseSpeaksItsVersionAndTheOneBefore(t *testing.T) {
	require.Equal(t, protocol.Range{Min: 1, Max: 1}, protocol.UpTo(1))
	require.Equal(t, protocol.Range{Min: 1, Max: 2}, protocol.UpTo(2))
	require.Equal(t, protocol.Range{Min: 6, Max: 7}, protocol.UpTo(7))
}

func TestTwoReleasesSpeakTheHighestVersionThatBothKnow(t *testing.T) {
	for _, c := range []struct {
		a, b protocol.Range
		want uint64 // 0 for none
	}{
		{protocol.UpTo(1), protocol.UpTo(1), 1},
		{protocol.UpTo(1), protocol.UpTo(2), 1},
		{protocol.UpTo(2), protocol.UpTo(3), 2},
		{protocol.UpTo(3), protocol.UpTo(3), 3},
		{protocol.UpTo(2), protocol.UpTo(4), 0},
		{protocol.Range{Min: 1, Max: 5}, protocol.Range{Min: 2, Max: 3}, 3},
		{protocol.Range{}, protocol.UpTo(1), 0},
		{protocol.Range{}, protocol.Range{}, 0},
		{protocol.Range{Min: 2, Max: 1}, protocol.UpTo(2), 0},
	} {
		for range 2 {
			got, ok := c.a.Common(c.b)
			require.Equal(t, c.want != 0, ok, "%v and %v", c.a, c.b)
			if ok {
				require.Equal(t, c.want, got, "%v and %v", c.a, c.b)
			}
			c.a, c.b = c.b, c.a
		}
	}
}

func TestEachVersionSharesOneWithTheNext(t *testing.T) {
	for n := uint64(1); n < 100; n++ {
		got, ok := protocol.UpTo(n).Common(protocol.UpTo(n + 1))
		require.True(t, ok)
		require.Equal(t, n, got)
	}
}

// In each cluster, all nodes are of two successive releases.
func TestWhatGoesToAllNodesIsOfAVersionThatAllSpeak(t *testing.T) {
	for n := uint64(1); n < 100; n++ {
		older, newer := protocol.UpTo(n), protocol.UpTo(n+1)
		mixed := slices.Values([]protocol.Range{newer, older, newer})
		require.Equal(t, n, older.ForAll(mixed))
		require.Equal(t, n, newer.ForAll(mixed))
		require.Equal(t, n+1, newer.ForAll(slices.Values([]protocol.Range{newer, newer})), "all are upgraded")
	}
	alone := protocol.UpTo(3)
	require.EqualValues(t, 2, alone.ForAll(slices.Values([]protocol.Range{})))
	require.EqualValues(t, 3, alone.ForAll(slices.Values([]protocol.Range{{}, protocol.UpTo(1), protocol.UpTo(4)})), "others cannot talk to it")
}

func TestAMismatchNamesBothRangesAndWhatToDo(t *testing.T) {
	want := "a:1 speaks version 1 of the remote protocol, b:1 speaks versions 3 to 4, and they have none in common; " +
		"upgrade a:1 to a release that speaks version 3, after all nodes have one that speaks version 2"
	a, b := protocol.Speaker{Name: "a:1", Range: protocol.UpTo(1)}, protocol.Speaker{Name: "b:1", Range: protocol.UpTo(4)}
	require.Equal(t, want, protocol.Mismatch("remote", a, b))
	require.Contains(t, protocol.Mismatch("remote", b, a), "upgrade a:1 to a release that speaks version 3")
	next := protocol.Speaker{Name: "b:1", Range: protocol.UpTo(3)}
	require.NotContains(t, protocol.Mismatch("remote", a, next), "after all nodes", "no release is between the two")
	require.Equal(t, "no version", protocol.Range{}.String())
}

func TestFeaturesThatThisReleaseDoesNotKnowAreKept(t *testing.T) {
	require.True(t, protocol.Own.Has(protocol.Figures))
	set := protocol.Features(1<<63 | 1<<5)
	require.True(t, set.Has(63))
	require.True(t, set.Has(5))
	require.False(t, set.Has(protocol.Figures))
}

func TestSkippedMessagesAreCountedByKindAndReportedOncePerPeer(t *testing.T) {
	var s protocol.Skipped
	require.Empty(t, s.Counts())
	require.True(t, s.Add("a", "n1"))
	require.False(t, s.Add("a", "n1"))
	require.True(t, s.Add("a", "n2"))
	require.True(t, s.Add("b", "n1"))
	require.Equal(t, map[string]uint64{"a": 3, "b": 1}, s.Counts())
}

func TestSkippedKindsAreBounded(t *testing.T) {
	var s protocol.Skipped
	reported := 0
	for i := range 10_000 {
		if s.Add(fmt.Sprint("kind ", i%500), fmt.Sprint("peer ", i)) {
			reported++
		}
	}
	require.LessOrEqual(t, len(s.Counts()), 101)
	require.Equal(t, uint64(8000), s.Counts()[protocol.OtherKinds])
	require.Equal(t, 1000, reported)
}

func TestOfALongKindOnlyTheBeginningIsUsed(t *testing.T) {
	var s protocol.Skipped
	long := strings.Repeat("x", 63)
	require.True(t, s.Add(long+"é and more", "n1"))
	require.False(t, s.Add(long+"é and other", "n1"))
	require.Equal(t, map[string]uint64{long: 2}, s.Counts(), "no half of a character")
}
