package remote

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLanesThatOthersOpenAreBounded(t *testing.T) {
	s := sessions{last: map[linkKey]*inbound{}}
	lanes := make([]*inbound, maxLanes+1)
	for i := range lanes {
		lanes[i] = controlLane(strconv.Itoa(i), 7)
	}
	for _, in := range lanes[:maxLanes] {
		_, err := s.begin(in, false)
		require.NoError(t, err)
	}
	last := lanes[maxLanes]
	_, err := s.begin(last, false)
	require.ErrorIs(t, err, errTooManyLanes, "all are connected")
	for i, in := range lanes[10:20] {
		in.ended = time.Now().Add(time.Duration(-i) * time.Second)
		close(in.done)
	}
	_, err = s.begin(last, false)
	require.NoError(t, err)
	require.Len(t, s.last, maxLanes)
	require.NotContains(t, s.last, lanes[19].key, "the one that ended first has to go")
}
