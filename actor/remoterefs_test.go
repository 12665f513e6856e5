package actor

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefsThatNobodyHoldsAreForgotten(t *testing.T) {
	s := NewSystem("test")
	const held = 2 * minSweep
	var kept []ActorRef[int]
	for i := range 50 * minSweep {
		ref := Resolve[int](s, "understudy://test@elsewhere:1/temp/"+strconv.Itoa(i))
		if i < held {
			kept = append(kept, ref)
		}
		if i%minSweep == 0 {
			runtime.GC()
		}
	}
	require.Less(t, len(s.remotes.cores), 3*held)
	for i, ref := range kept {
		require.True(t, ref == Resolve[int](s, "understudy://test@elsewhere:1/temp/"+strconv.Itoa(i))) //nolint:testifylint // identity, not what is in it
	}
	require.NoError(t, s.Shutdown(t.Context()))
}
