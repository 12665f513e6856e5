package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

var five = []string{"n1", "n2", "n3", "n4", "n5"}

func TestACutOfTenMinutesHeals(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start(five...)
		f.await(3*time.Second, five...)
		before := f.nodes["n1"].View().Self
		f.net.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
		time.Sleep(5 * time.Second)
		f.await(0, "n3", "n4", "n5")
		time.Sleep(long(10 * time.Minute))
		f.await(0, "n3", "n4", "n5")
		require.Empty(t, f.nodes["n1"].View().Members, "the minority is in no cluster")
		f.net.Heal()
		f.await(5*time.Second, five...)
		after := f.nodes["n1"].View().Self
		require.Equal(t, before.Address, after.Address)
		require.NotEqual(t, before.Incarnation, after.Incarnation)
		require.Greater(t, after.UpNumber, before.UpNumber)
	})
}

func TestAShortCutChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start(five...)
		f.await(3*time.Second, five...)
		before := f.nodes["n1"].View()
		f.net.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
		time.Sleep(2 * time.Second)
		require.Len(t, f.nodes["n1"].View().Unreachable(), 3)
		n4, _ := f.nodes["n1"].View().Member("n4")
		by := f.nodes["n1"].View().UnreachableBy(n4)
		require.Equal(t, "n1", by[0].Name)
		f.net.Heal()
		f.await(time.Second, five...)
		require.Equal(t, before.Members, f.nodes["n1"].View().Members)
	})
}

func TestOfTwoHalvesTheOneWithTheLowestAddressGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3", "n4")
		f.await(3*time.Second, "n1", "n2", "n3", "n4")
		f.net.Partition([]string{"n1", "n4"}, []string{"n2", "n3"})
		time.Sleep(time.Minute)
		f.await(0, "n1", "n4")
		require.Empty(t, f.nodes["n2"].View().Members)
		f.net.Heal()
		f.await(5*time.Second, "n1", "n2", "n3", "n4")
	})
}

func TestAClusterThatFellApartFormsAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start(five...)
		f.await(3*time.Second, five...)
		f.net.Partition([]string{"n1", "n2"}, []string{"n3", "n4"}, []string{"n5"})
		time.Sleep(long(10 * time.Minute))
		for _, name := range five {
			require.Empty(t, f.nodes[name].View().Members, name)
		}
		f.net.Heal()
		f.await(8*time.Second, five...)
	})
}

func TestANodeThatCannotSendIsTakenOut(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start(five...)
		f.await(3*time.Second, five...)
		for _, other := range []string{"n1", "n3", "n4", "n5"} {
			f.net.OneWay("n2", other)
		}
		time.Sleep(time.Minute)
		f.await(0, "n1", "n3", "n4", "n5")
		f.net.Heal()
		f.await(5*time.Second, five...)
	})
}

func TestLossOfDatagramsIsNoReasonForSuspicion(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		before := f.nodes["n1"].View().Version
		f.net.Lose(0.1)
		time.Sleep(long(3 * time.Minute))
		require.Equal(t, before, f.nodes["n1"].View().Version, "nothing has happened")
	})
}

func TestTheSpareMemberListsOfGossipDoNotMatter(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		before := f.nodes["n1"].View().Version
		for name, n := range f.nodes {
			for other, o := range f.nodes {
				if name != other {
					n.inbox.post(0, membership.Connected{ID: o.View().Self.ID(), On: false})
				}
			}
		}
		time.Sleep(long(time.Minute))
		require.Equal(t, before, f.nodes["n1"].View().Version, "memberlist may believe what it likes")
	})
}
