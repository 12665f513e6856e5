package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func TestSchedulesAreListedByName(t *testing.T) {
	d := status.Details{Schedules: []status.Schedule{{Name: "billing"}, {Name: "cron"}}}
	all, err := SchedulesOf(d, "")
	require.NoError(t, err)
	require.Len(t, all.Schedules, 2)
	require.NotNil(t, all.Schedules[0].Entries)
	all, err = SchedulesOf(d, "cron")
	require.NoError(t, err)
	require.Equal(t, "cron", all.Schedules[0].Name)
	_, err = SchedulesOf(d, "other")
	require.ErrorContains(t, err, `no schedule "other"`)
}
