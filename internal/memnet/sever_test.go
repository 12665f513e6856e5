package memnet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
)

func TestASeveredStreamIsSilentAndOthersAreNot(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "a", "b")
		other, otherFar := connect(t, n, "a", "c")
		write(t, near, "under way")
		n.Sever("b", "a")
		write(t, near, "later")
		silent(t, far, readByte(far))
		require.Equal(t, 2, n.Severed())
		n.Heal()
		require.NoError(t, near.Close())
		silent(t, far, readByte(far))
		require.Equal(t, 1, n.Severed())
		require.NoError(t, far.SetReadDeadline(time.Time{}))
		n.Crash("b")
		require.Zero(t, n.Severed())
		write(t, other, "still here")
		arrives(t, otherFar, "still here")
	})
}
