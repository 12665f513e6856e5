package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton"
)

func TestSingletonsSeeWhoOffersWhatInTheOrderOfElection(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.tune = func(c *Config) { c.Seeds, c.Roles = []string{"n2:7355"}, []string{"role of " + c.NodeID} }
		for _, name := range []string{"n2", "n1", "n3"} {
			f.start(name)
		}
		(*locator)(f.nodes["n3"]).Offer("b")
		(*locator)(f.nodes["n3"]).Offer("a")
		(*locator)(f.nodes["n2"]).Record("a", singleton.Record{Term: 3})
		time.Sleep(time.Second)

		top := f.nodes["n1"].View().topology()
		require.Equal(t, peerID(f.nodes["n1"].View().Self.ID()), top.Self)
		require.False(t, top.Down)
		require.Equal(t, uint64(3), top.Records["a"].Term)
		require.Equal(t, "n2", top.Members[0].Name)
		require.Equal(t, "n1", top.Members[1].Name)
		n3 := top.Members[2]
		require.True(t, n3.Up)
		require.True(t, n3.Reachable)
		require.Equal(t, []string{"a", "b"}, n3.Offers)
		require.Equal(t, []string{"role of n3"}, n3.Roles)
		require.Empty(t, top.Gone)
	})
}

func TestSingletonsSeeWhoIsGoneAndMayStillRun(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n2", "n3")
		(*locator)(f.nodes["n3"]).Offer("s")
		time.Sleep(time.Second)
		f.crash("n3")
		f.await(5*time.Second, "n1", "n2")
		f.start("n4")
		for _, name := range []string{"n1", "n4"} {
			gone := f.nodes[name].View().topology().Gone
			require.Len(t, gone, 1, "as %s sees it, which may have come later", name)
			require.Equal(t, "n3", gone[0].Name)
			require.Equal(t, []string{"s"}, gone[0].Offers)
			require.WithinDuration(t, time.Now(), gone[0].Since, 2*time.Second)
		}
		for top := range (*locator)(f.nodes["n1"]).Topologies(t.Context()) {
			require.Equal(t, 13*time.Second, top.Margin)
			break
		}
		f.start("n3")
		f.await(time.Second, "n1", "n2", "n3", "n4")
		require.Empty(t, f.nodes["n1"].View().topology().Gone, "another process lives at its address")
		require.Equal(t, "n3", f.nodes["n3"].View().topology().Members[3].Name, "as the youngest")
	})
}

func TestOffersOutliveTheIncarnation(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n2", "n3")
		(*locator)(f.nodes["n2"]).Offer("s")
		require.NoError(t, f.nodes["n1"].Down("n2"))
		time.Sleep(5 * time.Second)
		f.await(0, "n1", "n2", "n3")
		for _, m := range f.nodes["n1"].View().topology().Members {
			if m.Name == "n2" {
				require.Equal(t, []string{"s"}, m.Offers)
			}
		}
	})
}

func TestAnOfferThatIsWithdrawnIsGoneForEverybody(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n2")
		l := (*locator)(f.nodes["n2"])
		offers := func() []string {
			time.Sleep(time.Second)
			members := f.nodes["n1"].View().topology().Members
			return members[slices.IndexFunc(members, func(p singleton.Peer) bool { return p.Name == "n2" })].Offers
		}
		l.Offer("s#message=a")
		l.Offer("t")
		require.Equal(t, []string{"s#message=a", "t"}, offers())
		l.Offer("s#message=b")
		require.Equal(t, []string{"s#message=b", "t"}, offers(), "it takes the place of the one before")
		l.Withdraw("s")
		require.Equal(t, []string{"t"}, offers())
		l.Withdraw("unknown")
		require.NoError(t, f.nodes["n1"].Down("n2"))
		time.Sleep(5 * time.Second)
		require.Equal(t, []string{"t"}, offers(), "as the next incarnation")
		l.Offer("s#message=a")
		require.Equal(t, []string{"s#message=a", "t"}, offers())
	})
}

func TestSingletonsSeeWhoIsTheOldest(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.tune = func(c *Config) { c.Seeds, c.Leader = []string{"n3:7355"}, LowestAddress() }
		for _, name := range []string{"n3", "n2", "n1"} {
			f.start(name)
		}
		time.Sleep(time.Second)
		var ups []uint64
		for _, p := range f.nodes["n2"].View().topology().Members {
			ups = append(ups, p.UpNumber)
		}
		require.Equal(t, []uint64{3, 2, 1}, ups, "the order of election is another")
	})
}
