package singleton

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
)

var (
	nodeA, nodeB = node.ID{Address: "a", Incarnation: 1}, node.ID{Address: "b", Incarnation: 1}
	atA, atB     = route{kind: toPeer, peer: nodeA}, route{kind: toPeer, peer: nodeB}
	here         = route{kind: toInstance}
	nowhere      = route{kind: toNobody}
)

// sendAll sends what can go now.
func sendAll(q *mail[int]) (out []int) {
	for n, ok := q.next(); ok; n, ok = q.next() {
		q.sent()
		out = append(out, n)
	}
	return out
}

func TestMailWithoutARouteIsHeldInOrder(t *testing.T) {
	for _, r := range []route{nowhere, {kind: toSelf}} {
		q := &mail[int]{limit: 10}
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
	q := &mail[int]{limit: 2}
	q.redirect(atA)
	q.sent()
	require.True(t, q.redirect(atB))
	require.Empty(t, q.hold(3))
	require.Empty(t, q.hold(4))
	require.Equal(t, []int{3}, q.hold(5))
	over, recall := q.gaveBack(1, nodeA)
	require.Equal(t, []int{1}, over)
	require.False(t, recall, "it is under way")
	require.Equal(t, 2, q.size())
	require.Equal(t, []int{4, 5}, q.drain())
	require.Zero(t, q.size())
}

func TestMailOfSizeZeroHoldsNothing(t *testing.T) {
	q := &mail[int]{}
	require.Equal(t, []int{1}, q.hold(1))
	q.redirect(here)
	require.True(t, q.clear())
}

func TestAnotherRouteIsTakenWhenTheFormerHasGivenBackEverything(t *testing.T) {
	for name, next := range map[string]route{"peer": atB, "instance": here} {
		t.Run(name, func(t *testing.T) {
			q := &mail[int]{limit: 10}
			require.False(t, q.redirect(atA), "nothing was sent before")
			q.sent()
			require.True(t, q.redirect(next))
			require.False(t, q.clear())
			q.hold(3)
			q.gaveBack(1, nodeA)
			q.gaveBack(2, nodeA)
			q.recalled(q.recall - 1)
			require.Empty(t, sendAll(q), "an earlier recall says nothing")
			q.recalled(q.recall)
			require.Equal(t, []int{1, 2, 3}, sendAll(q))
			require.True(t, q.clear())
			q.recalled(q.recall)
			require.True(t, q.clear(), "said twice is said once")
		})
	}
}

func TestTheGateClosesOnceForSeveralChanges(t *testing.T) {
	q := &mail[int]{limit: 10}
	q.redirect(atA)
	q.sent()
	require.True(t, q.redirect(atB))
	require.False(t, q.redirect(here))
	require.False(t, q.redirect(atA))
	q.hold(1)
	require.Empty(t, sendAll(q))
	q.recalled(q.recall)
	require.Equal(t, []int{1}, sendAll(q))
	require.Equal(t, nodeA, q.sentTo)
}

func TestARouteThatIsLostAndFoundNeedsNoRecall(t *testing.T) {
	q := &mail[int]{limit: 10}
	q.redirect(atA)
	q.sent()
	require.False(t, q.redirect(nowhere))
	q.hold(1)
	require.False(t, q.redirect(atA))
	require.Equal(t, []int{1}, sendAll(q))
}

func TestANodeThatGivesBackIsNotTriedAgainAtOnce(t *testing.T) {
	q := &mail[int]{limit: 10}
	q.redirect(atA)
	q.sent()
	_, recall := q.gaveBack(1, nodeA)
	require.True(t, recall)
	_, recall = q.gaveBack(2, nodeA)
	require.False(t, recall)
	q.hold(3)
	q.recalled(q.recall)
	require.Empty(t, sendAll(q))
	q.redirect(atA)
	require.Empty(t, sendAll(q), "the same view again")
	q.retry()
	require.Equal(t, []int{1, 2, 3}, sendAll(q))
	q.gaveBack(1, nodeA)
	q.recalled(q.recall)
	q.redirect(atB)
	require.Equal(t, []int{1}, sendAll(q), "another node is not the one that refused")
}

func TestWhatComesBackLateGoesAtOnce(t *testing.T) {
	q := &mail[int]{limit: 10}
	q.redirect(atA)
	q.sent()
	q.redirect(atB)
	q.open() // a was given up
	_, recall := q.gaveBack(1, nodeA)
	require.False(t, recall)
	require.Equal(t, []int{1}, sendAll(q))
}

func TestGuestsAreInOrderAndBoundedPerNode(t *testing.T) {
	p := func(s string) extension.Payload { return extension.Payload{Type: s} }
	g := &guests{limit: 2}
	for _, s := range []string{"a1", "a2", "a3"} {
		over, overflow := g.lodge(nodeA, p(s), time.Time{})
		require.Equal(t, s == "a3", overflow)
		if overflow {
			require.Equal(t, p("a1"), over)
		}
	}
	_, overflow := g.lodge(nodeB, p("b1"), time.Time{})
	require.False(t, overflow)
	require.Equal(t, 3, g.size())
	require.Equal(t, []extension.Payload{p("a2"), p("a3")}, g.takeFrom("a"))
	require.Empty(t, g.takeFrom("a"))
	require.Len(t, g.takeAll(), 1)
	require.Zero(t, g.size())
	g.limit = 0
	_, overflow = g.lodge(nodeA, p("a4"), time.Time{})
	require.True(t, overflow)
}

func TestGuestsRememberWhoHasLeft(t *testing.T) {
	view := func(ids ...node.ID) *Topology {
		topo := &Topology{}
		for _, id := range ids {
			topo.Members = append(topo.Members, Peer{ID: id})
		}
		return topo
	}
	g := &guests{limit: 2}
	g.view(view(), view(nodeA, nodeB))
	require.False(t, g.hasLeft(nodeA))
	g.view(view(nodeA, nodeB), view(nodeB))
	require.True(t, g.hasLeft(nodeA))
	require.False(t, g.hasLeft(nodeB))
	for n := range uint64(2 * keptLeft) {
		g.view(view(node.ID{Address: "x", Incarnation: n}), view())
	}
	require.Len(t, g.left, keptLeft)
	require.False(t, g.hasLeft(nodeA))
	require.True(t, g.hasLeft(node.ID{Address: "x", Incarnation: 2*keptLeft - 1}))
	again := view()
	again.Self = nodeB
	g.view(view(), again)
	require.Empty(t, g.left)
}

func TestARecallIsTriedLongerWithANodeThatHasLeftThanWithOneThatIsLost(t *testing.T) {
	recalling := func() *mail[int] {
		q := &mail[int]{limit: 10}
		q.redirect(atA)
		q.sent()
		q.redirect(atB)
		return q
	}
	lost := &Topology{Gone: []Gone{{Peer: Peer{ID: nodeA}}}}
	q := recalling()
	require.True(t, q.lookAfter(recallPatience-1, lost))
	require.False(t, q.lookAfter(recallPatience, lost))
	require.True(t, q.clear())
	q = recalling()
	require.True(t, q.lookAfter(recallPatience, &Topology{}))
	require.False(t, q.lookAfter(recallPatienceEnd, &Topology{}))
	require.True(t, q.clear())
	q = recalling()
	require.True(t, q.lookAfter(time.Hour, &Topology{Members: []Peer{{ID: nodeA, Reachable: true}}}))
}
