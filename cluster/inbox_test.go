package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

func TestWhatOthersSayDoesNotPileUp(t *testing.T) {
	b := newInbox()
	for i := range maxUnread + 100 {
		require.Equal(t, i < maxUnread, b.offer(0, membership.Ticked{}))
	}
	b.post(0, membership.LeaveAsked{})
	require.Len(t, b.take(), maxUnread+1, "what this node wants itself is never dropped")
	require.True(t, b.offer(0, membership.Ticked{}))
}
