package recall

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/remote"
)

func TestAllMessagesOfASenderGoBackBehindOneThatDidUntilItRecallsThem(t *testing.T) {
	var r returns
	r.recalled(nodeA, 1)
	require.False(t, r.senders[nodeA].back)
	r.note(nodeA)
	require.True(t, r.senders[nodeA].back)
	require.False(t, r.senders[nodeB].back)
	r.recalled(nodeA, 1)
	require.True(t, r.senders[nodeA].back, "a repeated recall was sent earlier")
	r.recalled(nodeA, 2)
	require.False(t, r.senders[nodeA].back)
	r.note(nodeA)
	r.note(nodeA)
	require.Equal(t, 1, r.due)
	r.keep(func(remote.NodeID) bool { return false })
	require.False(t, r.senders[nodeA].back)
	require.Zero(t, r.due)
}
