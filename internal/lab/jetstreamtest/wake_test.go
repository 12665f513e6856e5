package jetstreamtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestAReaderWakesForWhatAnotherJournalAppends(t *testing.T) {
	r := &rig{cluster: start(t, 1)}
	here := r.open(t, r.name())
	there := r.open(t, here.stream)
	w := claim(t, there, "x")
	here.Appended()
	require.NoError(t, here.nc.Flush()) // the server knows that it listens
	for i := range 5 {
		appended := here.Appended()
		w.append(t, "a")
		select {
		case <-appended:
		case <-time.After(20 * time.Second):
			require.Fail(t, "nobody has told")
		}
		// It may be an earlier hint; one for this append comes before long.
		for len(entries(t, here, journal.Query{}, "")) < i+1 {
			<-here.Appended()
		}
	}
}
