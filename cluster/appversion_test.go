package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMembersEventsAndStatusTellTheVersionOfTheApplication(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		versions := map[string]string{"n1": "1.9.0", "n2": "1.10.0", "n3": ""}
		f.tune = func(c *Config) { c.AppVersion = versions[c.NodeID] }
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		for _, n := range f.nodes {
			for name, want := range versions {
				require.Equal(t, want, mustMember(t, n.View(), name).AppVersion)
			}
			require.Equal(t, []string{"", "1.10.0", "1.9.0"}, n.View().AppVersions())
			told := map[string]string{}
			for _, e := range n.View().Since(View{}) {
				if up, ok := e.(MemberUp); ok {
					told[up.Member.Name] = up.Member.AppVersion
				}
			}
			require.Equal(t, versions, told)

			s := statusOf(t, n)
			require.Equal(t, versions[s.Self.Name], s.Self.AppVersion)
			require.Equal(t, []string{"", "1.10.0", "1.9.0"}, s.AppVersions)
			require.InDelta(t, 1, metric(t, n, "understudy_members_up_by_app_version", "1.10.0"), 0)
			require.InDelta(t, 1, metric(t, n, "understudy_members_up_by_app_version", ""), 0)
		}
		require.NoError(t, f.nodes["n1"].Leave(t.Context()))
		f.await(5*time.Second, "n2", "n3")
		require.Equal(t, []string{"", "1.10.0"}, f.nodes["n2"].View().AppVersions())
	})
}

func TestAVersionThatCannotBeShownIsAnError(t *testing.T) {
	for _, version := range []string{"1\n2", "\xff", strings.Repeat("x", 256)} {
		_, err := Start(t.Context(), Config{AppVersion: version})
		require.ErrorContains(t, err, "Config.AppVersion")
	}
}
