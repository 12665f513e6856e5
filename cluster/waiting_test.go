package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/cluster/downing"
)

func TestAViewSaysWhatIsBeingWaitedFor(t *testing.T) {
	require.Equal(t, "looking for a cluster", newRig(nil, "n2:1").view().Waiting())

	r := newRig(func(set *rules) {
		set.downing, set.minMembers, set.minOf = downing.Manual{}, 2, map[string]int{"db": 1}
	})
	require.Equal(t, `fewer members than Config.MinMembers and MinMembersOf ask for: 1 of 2 members, 0 of 1 members with the role "db"`, r.view().Waiting())
	r.asks(n2, joinRequest{Name: "n2", Roles: []string{"db"}})
	require.Equal(t, "members have not agreed: waiting for n2", r.view().Waiting())
	r.agrees()
	require.Empty(t, r.view().Waiting())
	r.wait(2 * time.Second)
	require.Equal(t, "n2 is unreachable (by n1) and downing is manual: heal it or call Down", r.view().Waiting())

	r.set.downing = downing.KeepMajority{}
	require.Contains(t, r.view().Waiting(), "decides when nothing has changed for 3s")
	r.happens(leaveAsked{})
	r.happens(drained{})
	r.happens(stopped{})
	require.Empty(t, r.view().Waiting())
}

func TestWithDowningOffTheLogSaysOnceWhyNothingMoves(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		core, logs := observer.New(zap.WarnLevel)
		f.tune = func(c *Config) { c.Downing, c.Logger = downing.Manual{}, zap.New(core) }
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		logs.TakeAll()
		f.crash("n3")
		time.Sleep(time.Minute)
		leader, _ := f.nodes["n1"].View().Leader()
		require.Equal(t, "n1", leader.Name)
		require.Len(t, f.nodes["n1"].View().Members, 3, "n3 stays")
		said := logs.FilterMessage("waiting").All()
		require.NotEmpty(t, said)
		require.LessOrEqual(t, len(said), 2, "once by each node")
		require.Contains(t, said[0].ContextMap()["reason"], "n3 is unreachable (by n1, n2) and downing is manual")
		require.NoError(t, f.nodes["n2"].Down("n3"))
		f.await(2*time.Second, "n1", "n2")
		require.Empty(t, f.nodes["n1"].View().Waiting())
	})
}
