package recall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/remote"
)

var (
	nodeA, nodeB = remote.NodeID{Address: "a", Incarnation: 1}, remote.NodeID{Address: "b", Incarnation: 1}
	atA, atB     = Route{Kind: ToPeer, Peer: nodeA}, Route{Kind: ToPeer, Peer: nodeB}
	here         = Route{Kind: ToInstance}
	nowhere      = Route{Kind: NoRoute}
)

// sendAll sends what can go now.
func sendAll(q *Buffer[int]) (out []int) {
	for n, ok := q.Next(); ok; n, ok = q.Next() {
		q.Sent()
		out = append(out, n)
	}
	return out
}

func TestMessagesWithoutARouteAreHeldInOrder(t *testing.T) {
	for _, r := range []Route{nowhere, {Kind: ToSelf}} {
		q := &Buffer[int]{}
		q.Redirect(r)
		require.False(t, q.Clear())
		q.Hold(1)
		q.Hold(2)
		require.Empty(t, sendAll(q))
		require.False(t, q.Redirect(here))
		require.Equal(t, []int{1, 2}, sendAll(q))
		require.True(t, q.Clear())
		require.Equal(t, uint64(2), q.Kept())
	}
}

func TestWhatDoesNotFitIsTheOldest(t *testing.T) {
	q := &Buffer[int]{}
	q.Redirect(atA)
	q.Sent()
	require.True(t, q.Redirect(atB))
	q.Hold(3)
	q.Hold(4)
	require.Empty(t, q.Shrink(2))
	q.Hold(5)
	require.Equal(t, []int{3}, q.Shrink(2))
	require.False(t, q.Returned(nodeA, 1), "the recall is under way")
	require.Equal(t, []int{1}, q.Shrink(2))
	require.Equal(t, 2, q.Size())
	require.Equal(t, []int{4, 5}, q.Drain())
	require.Zero(t, q.Size())
}

func TestABufferOfSizeZeroHoldsNothing(t *testing.T) {
	q := &Buffer[int]{}
	q.Hold(1)
	require.Equal(t, []int{1}, q.Shrink(0))
	q.Redirect(here)
	require.True(t, q.Clear())
}

func TestAnotherRouteIsTakenWhenTheFormerHasGivenBackEverything(t *testing.T) {
	for name, next := range map[string]Route{"peer": atB, "instance": here} {
		t.Run(name, func(t *testing.T) {
			q := &Buffer[int]{}
			require.False(t, q.Redirect(atA), "nothing was sent before")
			q.Sent()
			require.True(t, q.Redirect(next))
			require.False(t, q.Clear())
			q.Hold(3)
			q.Returned(nodeA, 1)
			q.Returned(nodeA, 2)
			q.Recalled(q.recall.number - 1)
			require.Empty(t, sendAll(q), "an earlier recall says nothing")
			q.Recalled(q.recall.number)
			require.Equal(t, []int{1, 2, 3}, sendAll(q))
			require.True(t, q.Clear())
			q.Recalled(q.recall.number)
			require.True(t, q.Clear(), "said twice is said once")
		})
	}
}

func TestTheGateClosesOnceForSeveralChanges(t *testing.T) {
	q := &Buffer[int]{}
	q.Redirect(atA)
	q.Sent()
	require.True(t, q.Redirect(atB))
	require.False(t, q.Redirect(here))
	require.False(t, q.Redirect(atA))
	q.Hold(1)
	require.Empty(t, sendAll(q))
	q.Recalled(q.recall.number)
	require.Equal(t, []int{1}, sendAll(q))
	require.Equal(t, nodeA, q.SentTo())
}

func TestARouteThatIsLostAndFoundNeedsNoRecall(t *testing.T) {
	q := &Buffer[int]{}
	q.Redirect(atA)
	q.Sent()
	require.False(t, q.Redirect(nowhere))
	q.Hold(1)
	require.False(t, q.Redirect(atA))
	require.Equal(t, []int{1}, sendAll(q))
}

func TestANodeThatGivesBackIsNotTriedAgainAtOnce(t *testing.T) {
	q := &Buffer[int]{}
	q.Redirect(atA)
	q.Sent()
	recall := q.Returned(nodeA, 1)
	require.True(t, recall)
	recall = q.Returned(nodeA, 2)
	require.False(t, recall)
	q.Hold(3)
	q.Recalled(q.recall.number)
	require.Empty(t, sendAll(q))
	q.Redirect(atA)
	require.Empty(t, sendAll(q), "the same view again")
	q.TryAgain(0, false, false)
	require.Equal(t, []int{1, 2, 3}, sendAll(q))
	q.Returned(nodeA, 1)
	q.Recalled(q.recall.number)
	q.Redirect(atB)
	require.Equal(t, []int{1}, sendAll(q), "another node is not the one that refused")
}

func TestWhatComesBackLateGoesAtOnce(t *testing.T) {
	q := &Buffer[int]{}
	q.Redirect(atA)
	q.Sent()
	q.Redirect(atB)
	q.giveUpRecall() // a was given up
	recall := q.Returned(nodeA, 1)
	require.False(t, recall)
	require.Equal(t, []int{1}, sendAll(q))
}

func TestARecallIsTriedLongerWithANodeThatHasLeftThanWithOneThatIsLost(t *testing.T) {
	recalling := func() *Buffer[int] {
		q := &Buffer[int]{}
		q.Redirect(atA)
		q.Sent()
		q.Redirect(atB)
		return q
	}
	q := recalling()
	require.True(t, q.TryAgain(recallPatience-1, true, false))
	require.False(t, q.TryAgain(recallPatience, true, false))
	require.True(t, q.Clear())
	q = recalling()
	require.True(t, q.TryAgain(recallPatience, false, false))
	require.False(t, q.TryAgain(recallPatienceEnd, false, false))
	require.True(t, q.Clear())
	q = recalling()
	require.True(t, q.TryAgain(time.Hour, false, true))
}
