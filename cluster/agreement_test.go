package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
)

func (f *testCluster) restart(tune func(*Config), names ...string) {
	f.t.Helper()
	for _, name := range names {
		require.NoError(f.t, f.nodes[name].Leave(f.t.Context()))
		delete(f.nodes, name)
		f.tune = tune
		f.start(name)
	}
}

// The quorum grows from two of three nodes to three of five without a full stop: each node is
// restarted twice, and then nodes are added.
func TestTheDowningStrategyChangesInRollingRestarts(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		from, to := downing.StaticQuorum{Size: 2}, downing.StaticQuorum{Size: 3}
		with := func(d Downing) func(*Config) { return func(c *Config) { c.Downing = d } }
		three := []string{"n1", "n2", "n3"}
		f.tune = with(from)
		f.start(three...)
		f.restart(with(downing.Transition{From: from, To: to}), "n1")
		cfg := f.config("n4")
		cfg.Downing = to
		_, err := Start(t.Context(), cfg)
		require.ErrorAs(t, err, new(*RefusedError), "a member knows the old strategy only")
		require.ErrorContains(t, err, "downing.Transition")
		m, _ := f.nodes["n2"].View().Member("n1")
		require.Len(t, m.Downing, 2)

		f.restart(with(downing.Transition{From: from, To: to}), "n2", "n3")
		f.restart(with(to), three...)
		f.tune = with(to)
		f.start("n4", "n5")
		f.await(3*time.Second, "n1", "n2", "n3", "n4", "n5")
	})
}

// Once a member is up, MinMembers has no effect.
func TestTheMinimumOfMembersMayChangeWhileTheClusterIsUp(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.tune = func(c *Config) { c.MinMembers, c.MinMembersOf = 3, map[string]int{"db": 1} }
		f.start("n3")
		f.await(3*time.Second, "n1", "n2", "n3")
	})
}

// A strategy without a StableAfter of its own gets one that fits the detector.
func TestAStrategyWithoutStableAfterWaitsAsTheDetectorNeeds(t *testing.T) {
	for _, d := range []Downing{
		nil,
		downing.KeepMajority{Role: "r"},
		downing.StaticQuorum{Size: 2},
		downing.KeepOldest{},
		downing.KeepReferee{Name: "n"},
		downing.DownAll{},
		downing.LeaseMajority{Lease: lent{}},
		downing.Transition{From: downing.DownAll{}, To: downing.KeepOldest{}},
	} {
		for want, detector := range map[time.Duration]Detector{3 * time.Second: LAN(), 8 * time.Second: WAN()} {
			c := Config{Detector: detector, Downing: d}.withDefaults()
			require.NoError(t, c.validate())
			require.Equal(t, want, c.Downing.Delay(), "%v", c.Downing)
		}
	}
	c := Config{Detector: WAN(), Downing: downing.KeepMajority{StableAfter: 10 * time.Second}}.withDefaults()
	require.Equal(t, 10*time.Second, c.Downing.Delay())
	require.Negative(t, Config{Detector: WAN(), Downing: downing.Manual{}}.withDefaults().Downing.Delay())
}
