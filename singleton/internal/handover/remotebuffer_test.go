package handover

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

var nodeA, nodeB = node.ID{Address: "a", Incarnation: 1}, node.ID{Address: "b", Incarnation: 1}

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
