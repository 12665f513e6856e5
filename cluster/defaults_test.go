package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	c, lan := Config{}.withDefaults(), LAN()
	require.Empty(t, godoc.Check(".",
		godoc.Is("Config.Name", `The default is "understudy".`, "understudy", c.Name),
		godoc.Is("Config.NodeID", "The default is the advertised address.", "", c.NodeID), // it is known when the port is bound
		godoc.Is("Config.Bind", `The default is "127.0.0.1:0".`, "127.0.0.1:0", c.Bind),
		godoc.Is("Config.Advertise", "The default is the bound address.", "", c.Advertise), // it is known when the port is bound
		godoc.Is("Config.Discovery", "The default is none.", nil, c.Discovery),
		godoc.Is("Config.AppVersion", `The default is "", which is neither older nor newer.`, "", c.AppVersion),
		godoc.Is("Config.MinSeeds", "The default is 2.", 2, Config{Discovery: &DNS{}}.withDefaults().MinSeeds),
		godoc.Is("Config.Detector", "The default is [LAN].", LAN(), c.Detector),
		godoc.Is("Config.Downing", "The default is downing.KeepMajority.", downing.KeepMajority{StableAfter: 3 * time.Second}, c.Downing),
		godoc.Is("Config.Leader", "The default is [Oldest].", Oldest().Name, c.Leader.Name),
		godoc.Is("Config.MinMembers", "The default is 1.", 1, c.MinMembers),
		godoc.Is("Config.MinMembersOf", "The default is none.", map[string]int(nil), c.MinMembersOf),
		godoc.Is("Config.SystemOptions", "The default is none.", []actor.Option(nil), c.SystemOptions),
		godoc.Is("Traffic.MaxMessage", "The default is 4 MiB, and so is the least", 4<<20, c.Traffic.MaxMessage),
		godoc.Is("Traffic.CompressFrom", "The default is never.", 0, c.Traffic.CompressFrom),
		godoc.Is("Traffic.OutboxSize", "The default is 100,000.", 100_000, c.Traffic.OutboxSize),
		godoc.Is("Traffic.OutboxBytes", "The default is 64 MiB.", 64<<20, c.Traffic.OutboxBytes),
		godoc.Is("Traffic.IdleAfter", "The default is one minute.", time.Minute, c.Traffic.IdleAfter),
		godoc.Is("Traffic.MaxUnauthenticated", "The default is 128.", 128, c.Traffic.MaxUnauthenticated),
		godoc.Is("Traffic.MaxUnauthenticatedPerHost", "The default is 16.", 16, c.Traffic.MaxUnauthenticatedPerHost),
		godoc.Is("DNS.Family", `The default is "ip"`, "", DNS{}.Family), // Find replaces it, as those below
		godoc.Is("SRV.Family", `The default is "ip"`, "", SRV{}.Family),
		godoc.Is("SRV.Proto", `The default is "tcp".`, "", SRV{}.Proto),
		godoc.Is("Kubernetes.Family", `The default is "ip"`, "", Kubernetes{}.Family),
		godoc.Is("Kubernetes.Proto", `The default is "tcp".`, "", Kubernetes{}.Proto),
		godoc.Is("Kubernetes.Namespace", `The default is "default".`, "nodes.default.svc.cluster.local.", Kubernetes{Service: "nodes"}.domain()),
		godoc.Is("Kubernetes.ClusterDomain", `The default is "cluster.local".`, "nodes.default.svc.cluster.local.", Kubernetes{Service: "nodes"}.domain()),
		godoc.Is("ClientConfig.Name", `The default is "understudy".`, "understudy", ClientConfig{}.withDefaults().Name),
		godoc.Is("Detector.Interval", "Default: 100 ms.", 100*time.Millisecond, lan.Interval),
		godoc.Is("Detector.CheckEvery", "Default: 50 ms.", 50*time.Millisecond, lan.CheckEvery),
		godoc.Is("Detector.Threshold", "Default: 8.", 8.0, lan.Threshold),
		godoc.Is("Detector.Pause", "Default: 600 ms.", 600*time.Millisecond, lan.Pause),
		godoc.Is("Detector.MinStdDev", "Default: 20 ms.", 20*time.Millisecond, lan.MinStdDev),
		godoc.Is("Detector.Samples", "Default: 1000.", 1000, lan.Samples),
		godoc.Is("Detector.ExpectAfter", "Default: 1 s.", time.Second, lan.ExpectAfter),
		godoc.Is("Detector.StreamDead", "Default: 5 s.", 5*time.Second, lan.StreamDead),
		godoc.Is("LAN", "about 0.8 seconds", 0.8, tenths(LAN())),
		godoc.Is("WAN", "about four seconds", 4.1, tenths(WAN())),
		godoc.Is("Local", "about 0.6 seconds", 0.6, tenths(Local())),
	))
}

func tenths(d Detector) float64 {
	_, worst := membership.DetectionTimes(membership.Detector(d))
	return float64(worst.Truncate(100*time.Millisecond)) / float64(time.Second)
}
