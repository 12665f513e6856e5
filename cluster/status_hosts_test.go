package cluster

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/singleton"
)

func broken() actor.Behavior[int] { panic("no such table") }

func TestEveryNodeShowsACrashLoopAsItsHostDoes(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		actor.Spawn(f.nodes["n1"], behaviors.Singleton(broken), "ledger")
		actor.Spawn(f.nodes["n2"], behaviors.Singleton(broken), "ledger")
		time.Sleep(10 * time.Second)
		host := ""
		for _, name := range []string{"n1", "n2", "n3"} { // n3 has no manager
			s := statusOf(t, f.nodes[name])
			require.Empty(t, s.Unanswered)
			one := s.Singletons[0]
			require.True(t, one.CrashLoop, name)
			require.NotNil(t, one.AtHost, name)
			require.GreaterOrEqual(t, one.AtHost.RestartsInARow, 3)
			require.GreaterOrEqual(t, one.AtHost.Failures, uint64(3))
			require.Contains(t, one.AtHost.LastError, "no such table")
			require.NotNil(t, one.AtHost.FailedAt)
			require.Contains(t, one.Why, "no such table")
			if host == "" {
				host = one.Host
			}
			require.Equal(t, host, one.Host)
			require.Equal(t, host, one.AtHost.Member)
			if one.Phase != "" {
				hosting := oneIf(host == f.nodes[name].View().Self.ID().String())
				require.InDelta(t, hosting, metric(t, f.nodes[name], "understudy_singleton_crash_loop", "ledger"), 0)
				require.InDelta(t, hosting*float64(one.AtHost.Failures), metric(t, f.nodes[name], "understudy_singleton_failures_total", "ledger"), 0)
			}
		}
	})
}

func TestEveryNodeShowsWhatCanRunNowhere(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.await(5*time.Second, "n1", "n2")
		actor.Spawn(f.nodes["n1"], behaviors.Singleton(nothing, singleton.Role("db")), "ledger")
		time.Sleep(time.Second)
		for _, name := range []string{"n1", "n2"} {
			one := statusOf(t, f.nodes[name]).Singletons[0]
			require.True(t, one.Nowhere, name)
			require.Nil(t, one.AtHost)
			require.Equal(t, `no member that is up has the role "db"`, one.Why, name)
		}
		require.InDelta(t, 1, metric(t, f.nodes["n1"], "understudy_singleton_nowhere", "ledger"), 0)
	})
}

func TestAMemberThatDoesNotAnswerIsNamedAndWaitedForShortly(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(cfg *Config) { cfg.Downing = downing.Manual{} }
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		for _, name := range []string{"n1", "n2", "n3"} {
			actor.Spawn(f.nodes[name], behaviors.Singleton(nothing), "ledger")
		}
		time.Sleep(time.Second)
		one := statusOf(t, f.nodes["n2"]).Singletons[0]
		host := findByText(f.nodes["n2"].View(), one.AtHost.Member)
		f.crash(host.Name)
		for _, n := range f.nodes {
			time.Sleep(status.Hold)
			asked := time.Now()
			s := statusOf(t, n)
			require.LessOrEqual(t, time.Since(asked), status.Patience)
			if n.cfg.NodeID == "n2" {
				require.NotContains(t, s.Unanswered, host.ID().String(), "what it has told is not old yet")
			}
		}
		time.Sleep(exchangeLast)
		for _, n := range f.nodes {
			s := statusOf(t, n)
			require.Equal(t, []string{host.ID().String()}, s.Unanswered)
			require.Nil(t, s.Singletons[0].AtHost)
			require.Contains(t, s.Singletons[0].Why, "unreachable")
		}
	})
}

func TestAMemberThatDoesNotAnswerIsBelievedForAWhile(t *testing.T) {
	told := withAnswers(map[remote.NodeID]figuresTold{{Address: "n1", Incarnation: 1}: {LeftOut: 3}})(nil)
	require.Equal(t, 3, told[remote.NodeID{Address: "n1", Incarnation: 1}].told.LeftOut)
	require.Len(t, withAnswers[figuresTold](nil)(told), 1)
}

func TestOfManySingletonsThoseInTroubleAreTold(t *testing.T) {
	var all []singleton.Status
	for i := range 10_000 {
		all = append(all, singleton.Status{Name: fmt.Sprintf("s%05d", i), Phase: singleton.Host})
	}
	all[9000].Why = "the instance is starting"
	all[9500].RestartsInARow, all[9500].LastError = 3, errors.New("\xff"+string(make([]byte, 10_000)))
	all[9999].Phase = singleton.Standby
	told := worthTelling(true, all)
	require.Len(t, told.Figures, mostFigures)
	require.Equal(t, 9999-mostFigures, told.LeftOut)
	require.Equal(t, "s09500", told.Figures[0].Name)
	require.True(t, told.Figures[0].CrashLoop)
	require.Less(t, len(told.Figures[0].LastError), 310)
	require.Equal(t, "s09000", told.Figures[1].Name)
	_, err := extension.Pack(told)
	require.NoError(t, err)
}

func TestOnlyANodeThatIsUpSaysThatNobodyCanHost(t *testing.T) {
	pending := []singleton.Status{{Name: "ledger", Phase: singleton.Pending, Why: "nobody"}}
	require.Len(t, worthTelling(true, pending).Figures, 1)
	require.Empty(t, worthTelling(false, pending).Figures)
	pending[0].Mismatch = "the role differs"
	require.Empty(t, worthTelling(true, pending).Figures)
}
