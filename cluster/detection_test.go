package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The process dies; its host lives and refuses connections.
func TestAKilledProcessOnALivingHostIsUnreachableAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start(five...)
		f.await(3*time.Second, five...)
		n := f.nodes["n5"]
		delete(f.nodes, "n5")
		n.abort(ErrEnded)
		require.NoError(t, n.Shutdown(t.Context()))
		time.Sleep(150 * time.Millisecond) // one heartbeat to nobody, and a little more
		for _, other := range f.nodes {
			m, ok := other.View().Member("n5")
			require.True(t, ok)
			require.False(t, other.View().Reachable(m), "at %s", other.View().Self.Name)
			require.Len(t, other.View().UnreachableBy(m), 4)
		}
	})
}
