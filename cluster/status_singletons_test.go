package cluster

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton"
)

func TestTheStatusTellsWhatProtectsASingletonAndWhatKeepsItAway(t *testing.T) {
	shown := shownSingleton(View{}, singleton.Status{
		Name: "ledger", Phase: singleton.Acquiring, Placement: "the oldest",
		Lease: "ledger by anna", Obstacle: errors.New("the lease is held by another"),
		Held: 3, Unacknowledged: 4, Dropped: 5,
	})
	require.Equal(t, "acquiring", shown.Phase)
	require.Equal(t, "the oldest", shown.Placement)
	require.Equal(t, "ledger by anna", shown.Lease)
	require.False(t, shown.LeaseHeld)
	require.Equal(t, "the lease is held by another", shown.Obstacle)
	require.Equal(t, []uint64{3, 4, 5}, []uint64{uint64(shown.Held), uint64(shown.Unacknowledged), shown.Dropped})
	shown = shownSingleton(View{}, singleton.Status{Lease: "ledger by anna", LeaseHeld: true, Mismatch: "the role differs"})
	require.True(t, shown.LeaseHeld)
	require.Empty(t, shown.Obstacle)
	require.Equal(t, "the role differs", shown.Mismatch)
}
