package workflow

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a run has slept costs nothing later, however often it was.
func TestTheStateHasTheLastSleepOfEachBranch(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var s state
	for i := range 100 {
		for _, branch := range []string{"", "all/0/"} {
			s = apply(s, event{What: waiting, Name: fmt.Sprintf("%ssleep#%d", branch, i+1), Until: at})
		}
		s = apply(s, event{What: waiting, Name: fmt.Sprintf("mail#%d", i+1), Signal: "mail"})
	}
	require.Len(t, s.Waits, 2+100)
	require.Contains(t, s.Waits, wait{Name: "sleep#100", Until: at})
	require.Contains(t, s.Waits, wait{Name: "all/0/sleep#100", Until: at})
	require.True(t, wait{Name: "sleep#10"}.isAfter("sleep#9"))
	require.False(t, wait{Name: "sleep#9"}.isAfter("sleep#9"))
	require.False(t, wait{Name: "sleep#9"}.isAfter("sleep#10"))
}

// A run with ten times as many steps has snapshots of ten times the size, and not a hundred.
func TestTheSnapshotsOfALongRunAreAMultipleOfTheLast(t *testing.T) {
	var sum, last uint64
	for seq := range uint64(1_000_000) {
		if snapshotDue(state{}, event{}, seq+1) {
			sum, last = sum+seq+1, seq+1
		}
		if seq+1 > 200 {
			require.LessOrEqual(t, (seq+1-last)*8, max(seq+1, 8*200), "few events must be replayed after it")
		}
	}
	require.Less(t, sum, 17*last)
}
