package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

func Example() {
	main()
	// Output:
	// the books are closed: close-books, attempt 1
	// the next time is at 23:30
}

// Two weeks of the schedule take no time in a bubble.
func TestTheBooksAreClosedOnTenNightsInTwoWeeks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var nights []time.Weekday
		_, err := start(testkit.NewSystem(t, persistence.WithJournal(journal.NewMemory())), func(_ context.Context, run cron.Run) error {
			nights = append(nights, run.Due.Weekday())
			return nil
		})
		require.NoError(t, err)
		time.Sleep(14 * 24 * time.Hour)
		synctest.Wait()
		require.Len(t, nights, 10)
		require.NotContains(t, nights, time.Saturday)
		require.NotContains(t, nights, time.Sunday)
	})
}
