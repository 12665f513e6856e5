package cluster

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/protocol"
)

func TestMessagesOfUnknownKindsAreSkippedCountedAndShown(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.await(5*time.Second, "n1", "n2")
		n1, n2 := f.nodes["n1"], f.nodes["n2"]
		f.unmoved(func() {
			strange := wireMessage(t, 99, n2.View().Self.Incarnation, []string{"new"})
			n2.endpoint.SendControl(n1.endpoint.Addr(), strange)
			n2.endpoint.SendPacket(n1.endpoint.Addr(), strange)
			n2.endpoint.SendControl(n1.endpoint.Addr(), wireMessage(t, 100, n2.View().Self.Incarnation, nil))
		})
		want := map[string]uint64{"cluster 99": 2, "cluster 100": 1}
		require.Equal(t, want, n1.skippedKinds())
		require.Equal(t, want, statusOf(t, n1).Skipped)
		require.InDelta(t, 2, metric(t, n1, "understudy_skipped_messages_total", "cluster 99"), 0)
		require.Empty(t, statusOf(t, n2).Skipped)
	})
}

func TestGossipOfAnUnknownKindIsSkippedAndCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1")
		n := f.nodes["n1"]
		l := &machineLoop{node: n, self: n.View().Self.ID()}
		l.receiveGossip(wireMessage(t, 99, 1, nil))
		l.receiveGossip([]byte("no message"))
		require.Equal(t, map[string]uint64{"cluster 99": 1}, n.skippedKinds())
	})
}

func TestMembersKnowTheFeaturesOfEachOther(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.await(5*time.Second, "n1", "n2")
		for from, to := range map[string]string{"n1": "n2", "n2": "n1"} {
			id := f.nodes[to].View().Self.ID()
			require.True(t, peers.Have(f.nodes[from].System, id, protocol.Figures))
			require.False(t, peers.Have(f.nodes[from].System, id, 63), "a feature of a newer release")
			require.EqualValues(t, 1, f.nodes[from].versionFor(id))
			id.Incarnation++
			require.False(t, peers.Have(f.nodes[from].System, id, protocol.Figures), "of another incarnation nothing is known")
		}
		require.EqualValues(t, 1, f.nodes["n1"].versionFor(remote.NodeID{Address: "nowhere:1"}))
		require.Equal(t, []protocol.Range{versions}, slices.Collect(versionsOfMembers(f.nodes["n1"])), "of the other member")
	})
}

// A node of the next release talks to n4, which another process then replaces. The second n4 may be
// of this release, because it was rolled back.
func TestANewIncarnationIsNotSpokenToInTheVersionOfItsPredecessor(t *testing.T) {
	before := versions
	t.Cleanup(func() { versions = before })
	versions = protocol.UpTo(2)
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1")
		n1, n4 := f.nodes["n1"], remote.NodeID{Address: address("n4"), Incarnation: 77}
		shakeHands := func(version int, incarnation uint64) {
			hello := helloOf(1, version, n4.Address)
			hello[9] = int(incarnation)
			require.EqualValues(t, 0, intrude(t, f).hello(hello)[10])
			synctest.Wait()
		}
		shakeHands(2, 77)
		require.EqualValues(t, 2, n1.versionFor(n4))
		require.EqualValues(t, 2, n1.versionFor(remote.NodeID{Address: n4.Address}), "any incarnation: most likely the one that is known")
		require.EqualValues(t, 1, n1.versionFor(remote.NodeID{Address: n4.Address, Incarnation: 78}), "as with a node that is not known")

		shakeHands(1, 78)
		require.EqualValues(t, 1, n1.versionFor(remote.NodeID{Address: n4.Address}), "a handshake replaces what was known")
	})
}
