package handover

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/remote"
)

var nodeA, nodeB = remote.NodeID{Address: "a", Incarnation: 1}, remote.NodeID{Address: "b", Incarnation: 1}

func TestMessagesOfOtherNodesAreInOrderAndBoundedPerNode(t *testing.T) {
	p := func(s string) Waiting { return Waiting{Described: Told{Message: extension.Payload{Type: s}}} }
	g := &remoteBuffer{limit: 2}
	for _, s := range []string{"a1", "a2", "a3"} {
		over := g.hold(nodeA, p(s))
		if s == "a3" {
			require.Equal(t, []Waiting{p("a1")}, over)
		} else {
			require.Empty(t, over)
		}
	}
	require.Empty(t, g.hold(nodeB, p("b1")))
	require.Equal(t, 3, g.size())
	require.Equal(t, []Waiting{p("a2"), p("a3")}, g.takeFrom("a"))
	require.Empty(t, g.takeFrom("a"))
	require.Len(t, g.takeAll(), 1)
	require.Zero(t, g.size())
	g.limit = 0
	require.Equal(t, []Waiting{p("a4")}, g.hold(nodeA, p("a4")))
}

func TestTheRemoteBufferRemembersRemovedMembers(t *testing.T) {
	view := func(ids ...remote.NodeID) *directory.Topology {
		topo := &directory.Topology{}
		for _, id := range ids {
			topo.Members = append(topo.Members, directory.Peer{ID: id})
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
		g.view(view(remote.NodeID{Address: "x", Incarnation: n}), view())
	}
	require.Len(t, g.removed, keptRemoved)
	require.False(t, g.wasRemoved(nodeA))
	require.True(t, g.wasRemoved(remote.NodeID{Address: "x", Incarnation: 2*keptRemoved - 1}))
	again := view()
	again.Self = nodeB
	g.view(view(), again)
	require.Empty(t, g.removed)
}
