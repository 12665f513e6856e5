package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
)

func TestANodeWithoutSeedsFoundsACluster(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(c *Config) { c.Seeds = nil }
		begin := time.Now()
		f.start("n1")
		require.Less(t, time.Since(begin), time.Second)
		f.await(0, "n1")
	})
}

func TestNodesThatStartTogetherFormOneCluster(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3", "n4", "n5")
		f.await(3*time.Second, "n1", "n2", "n3", "n4", "n5")
		leader, _ := f.nodes["n3"].View().Leader()
		require.Equal(t, "n1", leader.Name)
	})
}

func TestNodesThatStartOneAfterTheOtherFormOneCluster(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		for _, name := range []string{"n1", "n2", "n3"} {
			f.start(name)
			time.Sleep(7 * time.Second)
		}
		f.await(0, "n1", "n2", "n3")
		for i, name := range []string{"n1", "n2", "n3"} {
			m, _ := f.nodes["n3"].View().Member(name)
			require.Equal(t, uint64(i+1), m.UpNumber, "in order of age")
		}
	})
}

func TestNobodyFoundsAClusterWhileASeedDoesNotAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.net.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		failed := make(chan error)
		for _, name := range []string{"n1", "n3"} {
			cfg := f.config(name)
			go func() {
				_, err := Start(ctx, cfg)
				failed <- err
			}()
		}
		require.ErrorIs(t, <-failed, context.DeadlineExceeded)
		require.ErrorIs(t, <-failed, context.DeadlineExceeded)
		f.net.Heal()
		f.start("n1", "n3")
		f.await(3*time.Second, "n1", "n3")
	})
}

func TestStartFailsWhenNobodyFoundsAndLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := Start(ctx, f.config("n2"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "the first seed founds a cluster")
		require.ErrorContains(t, err, "n1:7355: ", "who was asked, and why that did not help")
		f.start("n1", "n2")
	})
}

func TestANodeOfAnotherClusterIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1")
		cfg := f.config("n2")
		cfg.Name = "other"
		_, err := Start(t.Context(), cfg)
		require.ErrorAs(t, err, new(*RefusedError))
		require.ErrorContains(t, err, "wrong cluster")
		f.await(0, "n1")
	})
}

func TestANodeOfOtherRulesIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1")
		for _, spoil := range []func(*Config){
			func(c *Config) { c.Downing = downing.Manual{} },
			func(c *Config) { c.Downing = downing.KeepMajority{StableAfter: time.Minute} },
			func(c *Config) { c.Leader = LowestAddress() },
		} {
			cfg := f.config("n2")
			spoil(&cfg)
			_, err := Start(t.Context(), cfg)
			require.ErrorAs(t, err, new(*RefusedError))
		}
		f.await(0, "n1")
	})
}

func TestTheNameOfALivingMemberIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		cfg := f.config("n3")
		cfg.NodeID = "n2"
		_, err := Start(t.Context(), cfg)
		require.ErrorAs(t, err, new(*RefusedError))
		require.ErrorContains(t, err, `the member at n2:7355 is named "n2" already`)
	})
}

func TestANodeMovesToAnotherAddressWithItsName(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.crash("n2")
		f.tune = func(c *Config) { c.NodeID = "n2" }
		f.start("n4")
		f.nodes["n2"] = f.nodes["n4"]
		delete(f.nodes, "n4")
		f.await(time.Second, "n1", "n2", "n3")
		m, _ := f.nodes["n1"].View().Member("n2")
		require.Equal(t, "n4:7355", m.Address)
	})
}

func TestNobodyIsUpBeforeThereAreEnoughMembers(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(c *Config) { c.MinMembers = 3 }
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		failed := make(chan error)
		for _, name := range []string{"n1", "n2"} {
			cfg := f.config(name)
			go func() {
				_, err := Start(ctx, cfg)
				failed <- err
			}()
		}
		require.ErrorContains(t, <-failed, "MinMembers")
		require.Error(t, <-failed)
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
	})
}

func TestTheLowestAddressCanLead(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(c *Config) { c.Leader, c.Seeds, c.Roles = LowestAddress(), []string{"n3:7355"}, []string{c.NodeID} }
		f.start("n3")
		f.start("n2")
		f.start("n1")
		f.await(3*time.Second, "n1", "n2", "n3")
		v := f.nodes["n2"].View()
		leader, _ := v.Leader()
		require.Equal(t, "n1", leader.Name)
		oldest, _ := v.Oldest("")
		require.Equal(t, "n3", oldest.Name)
		oldest, _ = v.Oldest("n2")
		require.Equal(t, "n2", oldest.Name)
		_, ok := v.Oldest("nobody's")
		require.False(t, ok)
	})
}

func TestTwoClustersThatMeetBecomeOne(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.net.Partition([]string{"n1", "n3"}, []string{"n2"})
		for name, seeds := range map[string][]string{"n1": {"n1:7355"}, "n2": {"n2:7355"}, "n3": {"n1:7355", "n2:7355"}} {
			f.tune = func(c *Config) { c.Seeds = seeds }
			if name != "n3" {
				f.start(name)
			}
		}
		f.tune = func(c *Config) { c.Seeds = []string{"n1:7355", "n2:7355"} }
		f.start("n3")
		f.await(time.Second, "n1", "n3")
		f.await(0, "n2")
		f.net.Heal()
		f.await(6*time.Second, "n1", "n2", "n3")
	})
}

func TestAMemberWhoseSeedLivesInAnotherClusterDoesNotJoinASecondOne(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		own := func(seeds ...string) func(*Config) {
			return func(c *Config) { c.Seeds = seeds }
		}
		f.net.Partition([]string{"n1"}, []string{"n2", "n3"})
		f.tune = own("n2:7355")
		f.start("n2", "n3")
		f.tune = own("n1:7355")
		f.start("n1")
		large, small := f.nodes["n2"].View(), f.nodes["n1"].View()
		f.net.Heal()
		time.Sleep(10 * time.Second)
		require.Equal(t, large.Self.ID(), f.nodes["n2"].View().Self.ID(), "nobody knows of the other: two clusters they stay")
		require.Equal(t, small.Self.ID(), f.nodes["n1"].View().Self.ID())

		f.tune = own("n1:7355", "n2:7355")
		f.start("n4") // joins one cluster; its other seed is in the other
		f.await(20*time.Second, "n1", "n2", "n3", "n4")
		require.Equal(t, large.Self.ID(), f.nodes["n2"].View().Self.ID(), "the larger goes on")
		require.NotEqual(t, small.Self.ID(), f.nodes["n1"].View().Self.ID(), "the smaller has dissolved")
	})
}
