package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
)

func TestAViewSaysWhatIsBeingWaitedFor(t *testing.T) {
	require.Equal(t, "looking for a cluster", newRig(nil, "n2:1").view().Waiting())

	r := newRig(func(set *Settings) {
		set.Downing, set.MinMembers, set.MinMembersOf = downing.Manual{}, 2, map[string]int{"db": 1}
	})
	require.Equal(t, `fewer members than Config.MinMembers and MinMembersOf ask for: 1 of 2 members, 0 of 1 members with the role "db"`, r.view().Waiting())
	r.asks(n2, joinRequest{Name: "n2", Roles: []string{"db"}})
	require.Equal(t, "members have not agreed: waiting for n2", r.view().Waiting())
	r.agrees()
	require.Empty(t, r.view().Waiting())
	r.wait(2 * time.Second)
	require.Equal(t, "n2 is unreachable (by n1) and downing is manual: heal it or call Down", r.view().Waiting())

	r.set.Downing = downing.KeepMajority{}
	require.Contains(t, r.view().Waiting(), "decides when nothing has changed for 3s")
	r.happens(LeaveAsked{})
	r.happens(Drained{})
	r.happens(Stopped{})
	require.Empty(t, r.view().Waiting())
}
