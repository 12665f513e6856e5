package statuspage

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOfManySingletonsThoseInTroubleAreShownAndTheRestIsCounted(t *testing.T) {
	var s Snapshot
	for i := range 10_000 {
		s.Singletons = append(s.Singletons, Singleton{Name: fmt.Sprintf("s%05d", i)})
	}
	s.Singletons[9998].CrashLoop = true
	s.Singletons[9999].Nowhere = true
	shown := s.bounded()
	require.Len(t, shown.Singletons, mostSingletons)
	require.Equal(t, 9000, shown.SingletonsLeftOut)
	require.Equal(t, "s00000", shown.Singletons[0].Name)
	require.True(t, shown.Singletons[mostSingletons-2].CrashLoop)
	require.True(t, shown.Singletons[mostSingletons-1].Nowhere)
	require.Len(t, s.Singletons, 10_000, "metrics are of all")
}
