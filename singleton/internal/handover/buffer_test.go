package handover

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

var (
	nodeA, nodeB = node.ID{Address: "a", Incarnation: 1}, node.ID{Address: "b", Incarnation: 1}
	atA, atB     = Route{Kind: ToPeer, Peer: nodeA}, Route{Kind: ToPeer, Peer: nodeB}
	here         = Route{Kind: ToInstance}
	nowhere      = Route{Kind: ToNobody}
)

// sendAll sends what can go now.
func sendAll(q *buffer[int]) (out []int) {
	for n, ok := q.next(); ok; n, ok = q.next() {
		q.sent()
		out = append(out, n)
	}
	return out
}

func TestMessagesWithoutARouteAreHeldInOrder(t *testing.T) {
	for _, r := range []Route{nowhere, {Kind: ToSelf}} {
		q := &buffer[int]{limit: 10}
		q.redirect(r)
		require.False(t, q.clear())
		require.Empty(t, q.hold(1))
		require.Empty(t, q.hold(2))
		require.Empty(t, sendAll(q))
		require.False(t, q.redirect(here))
		require.Equal(t, []int{1, 2}, sendAll(q))
		require.True(t, q.clear())
		require.Equal(t, uint64(2), q.kept)
	}
}

func TestWhatDoesNotFitIsTheOldest(t *testing.T) {
	q := &buffer[int]{limit: 2}
	q.redirect(atA)
	q.sent()
	require.True(t, q.redirect(atB))
	require.Empty(t, q.hold(3))
	require.Empty(t, q.hold(4))
	require.Equal(t, []int{3}, q.hold(5))
	over, recall := q.returnedBy(nodeA, 1)
	require.Equal(t, []int{1}, over)
	require.False(t, recall, "it is under way")
	require.Equal(t, 2, q.size())
	require.Equal(t, []int{4, 5}, q.drain())
	require.Zero(t, q.size())
}

func TestABufferOfSizeZeroHoldsNothing(t *testing.T) {
	q := &buffer[int]{}
	require.Equal(t, []int{1}, q.hold(1))
	q.redirect(here)
	require.True(t, q.clear())
}

func TestAnotherRouteIsTakenWhenTheFormerHasGivenBackEverything(t *testing.T) {
	for name, next := range map[string]Route{"peer": atB, "instance": here} {
		t.Run(name, func(t *testing.T) {
			q := &buffer[int]{limit: 10}
			require.False(t, q.redirect(atA), "nothing was sent before")
			q.sent()
			require.True(t, q.redirect(next))
			require.False(t, q.clear())
			q.hold(3)
			q.returnedBy(nodeA, 1)
			q.returnedBy(nodeA, 2)
			q.recalled(q.recall.number - 1)
			require.Empty(t, sendAll(q), "an earlier recall says nothing")
			q.recalled(q.recall.number)
			require.Equal(t, []int{1, 2, 3}, sendAll(q))
			require.True(t, q.clear())
			q.recalled(q.recall.number)
			require.True(t, q.clear(), "said twice is said once")
		})
	}
}

func TestTheGateClosesOnceForSeveralChanges(t *testing.T) {
	q := &buffer[int]{limit: 10}
	q.redirect(atA)
	q.sent()
	require.True(t, q.redirect(atB))
	require.False(t, q.redirect(here))
	require.False(t, q.redirect(atA))
	q.hold(1)
	require.Empty(t, sendAll(q))
	q.recalled(q.recall.number)
	require.Equal(t, []int{1}, sendAll(q))
	require.Equal(t, nodeA, q.sentTo)
}

func TestARouteThatIsLostAndFoundNeedsNoRecall(t *testing.T) {
	q := &buffer[int]{limit: 10}
	q.redirect(atA)
	q.sent()
	require.False(t, q.redirect(nowhere))
	q.hold(1)
	require.False(t, q.redirect(atA))
	require.Equal(t, []int{1}, sendAll(q))
}

func TestANodeThatGivesBackIsNotTriedAgainAtOnce(t *testing.T) {
	q := &buffer[int]{limit: 10}
	q.redirect(atA)
	q.sent()
	_, recall := q.returnedBy(nodeA, 1)
	require.True(t, recall)
	_, recall = q.returnedBy(nodeA, 2)
	require.False(t, recall)
	q.hold(3)
	q.recalled(q.recall.number)
	require.Empty(t, sendAll(q))
	q.redirect(atA)
	require.Empty(t, sendAll(q), "the same view again")
	q.retry()
	require.Equal(t, []int{1, 2, 3}, sendAll(q))
	q.returnedBy(nodeA, 1)
	q.recalled(q.recall.number)
	q.redirect(atB)
	require.Equal(t, []int{1}, sendAll(q), "another node is not the one that refused")
}

func TestWhatComesBackLateGoesAtOnce(t *testing.T) {
	q := &buffer[int]{limit: 10}
	q.redirect(atA)
	q.sent()
	q.redirect(atB)
	q.giveUpRecall() // a was given up
	_, recall := q.returnedBy(nodeA, 1)
	require.False(t, recall)
	require.Equal(t, []int{1}, sendAll(q))
}

func TestMessagesOfOtherNodesAreInOrderAndBoundedPerNode(t *testing.T) {
	p := func(s string) Parcel { return Parcel{Message: extension.Payload{Type: s}} }
	g := &remoteBuffer{limit: 2}
	for _, s := range []string{"a1", "a2", "a3"} {
		over, overflow := g.hold(nodeA, p(s), time.Time{})
		require.Equal(t, s == "a3", overflow)
		if overflow {
			require.Equal(t, p("a1"), over)
		}
	}
	_, overflow := g.hold(nodeB, p("b1"), time.Time{})
	require.False(t, overflow)
	require.Equal(t, 3, g.size())
	require.Equal(t, []Parcel{p("a2"), p("a3")}, g.takeFrom("a"))
	require.Empty(t, g.takeFrom("a"))
	require.Len(t, g.takeAll(), 1)
	require.Zero(t, g.size())
	g.limit = 0
	_, overflow = g.hold(nodeA, p("a4"), time.Time{})
	require.True(t, overflow)
}

func TestTheRemoteBufferRemembersRemovedMembers(t *testing.T) {
	view := func(ids ...node.ID) *singletonhook.Topology {
		topo := &singletonhook.Topology{}
		for _, id := range ids {
			topo.Members = append(topo.Members, singletonhook.Peer{ID: id})
		}
		return topo
	}
	g := &remoteBuffer{limit: 2}
	g.view(view(), view(nodeA, nodeB))
	require.False(t, g.wasRemoved(nodeA))
	g.view(view(nodeA, nodeB), view(nodeB))
	require.True(t, g.wasRemoved(nodeA))
	require.False(t, g.wasRemoved(nodeB))
	for n := range uint64(2 * keptRemoved) {
		g.view(view(node.ID{Address: "x", Incarnation: n}), view())
	}
	require.Len(t, g.removed, keptRemoved)
	require.False(t, g.wasRemoved(nodeA))
	require.True(t, g.wasRemoved(node.ID{Address: "x", Incarnation: 2*keptRemoved - 1}))
	again := view()
	again.Self = nodeB
	g.view(view(), again)
	require.Empty(t, g.removed)
}

func TestARecallIsTriedLongerWithANodeThatHasLeftThanWithOneThatIsLost(t *testing.T) {
	recalling := func() *buffer[int] {
		q := &buffer[int]{limit: 10}
		q.redirect(atA)
		q.sent()
		q.redirect(atB)
		return q
	}
	lost := &singletonhook.Topology{Gone: []singletonhook.Gone{{Peer: singletonhook.Peer{ID: nodeA}}}}
	q := recalling()
	require.True(t, q.tryAgain(recallPatience-1, lost))
	require.False(t, q.tryAgain(recallPatience, lost))
	require.True(t, q.clear())
	q = recalling()
	require.True(t, q.tryAgain(recallPatience, &singletonhook.Topology{}))
	require.False(t, q.tryAgain(recallPatienceEnd, &singletonhook.Topology{}))
	require.True(t, q.clear())
	q = recalling()
	require.True(t, q.tryAgain(time.Hour, &singletonhook.Topology{Members: []singletonhook.Peer{{ID: nodeA, Reachable: true}}}))
}
