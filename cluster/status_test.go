package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
)

func get(n *Node, target string, opts ...HandlerOption) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	n.Handler(opts...).ServeHTTP(w, httptest.NewRequest("GET", target, nil))
	return w
}

func statusOf(t *testing.T, n *Node) (s statuspage.Snapshot) {
	t.Helper()
	require.NoError(t, json.Unmarshal(get(n, "/status").Body.Bytes(), &s))
	return s
}

func post(h http.Handler, target string) int {
	r := httptest.NewRequest("POST", target, nil)
	r.Header.Set("Understudy-Action", "1")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func nothing() actor.Behavior[int] { return behaviors.Ignore }

func TestTheStatusTellsMembersLeaderSingletonsAndTimes(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(cfg *Config) { cfg.Roles = []string{"worker"} }
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		actor.Spawn(f.nodes["n1"], behaviors.Singleton(nothing), "everywhere")
		actor.Spawn(f.nodes["n2"], behaviors.Singleton(nothing), "everywhere")
		actor.Spawn(f.nodes["n1"], behaviors.Singleton(nothing), "elsewhere")
		time.Sleep(time.Second)
		v, s := f.nodes["n2"].View(), statusOf(t, f.nodes["n2"])
		leader, _ := v.Leader()
		require.Equal(t, "test", s.Cluster)
		require.Equal(t, v.Version, s.Version)
		require.Equal(t, "n2", s.Self.Name)
		require.Equal(t, leader.ID().String(), s.Leader)
		require.True(t, s.Converged)
		require.Len(t, s.Members, 3)
		for _, m := range s.Members {
			require.Equal(t, "up", m.Status)
			require.True(t, m.Reachable)
			require.Equal(t, []string{"worker"}, m.Roles)
		}
		require.InDelta(t, 0.85, s.Expected.DetectionSeconds, 0.01)
		require.InDelta(t, 4.1, *s.Expected.FailoverSeconds, 0.01)
		require.Empty(t, s.Waiting)

		require.Len(t, s.Singletons, 2)
		there, one := s.Singletons[0], s.Singletons[1]
		require.Equal(t, "elsewhere", there.Name)
		require.Empty(t, there.Phase)
		require.Empty(t, there.Why, "its host says that it runs")
		require.Equal(t, mustMember(t, v, "n1").ID().String(), there.Host)
		require.Equal(t, []string{mustMember(t, v, "n1").ID().String()}, there.Managers)
		require.Equal(t, "everywhere", one.Name)
		require.Len(t, one.Managers, 2)
		host := findByText(v, one.Host)
		require.Equal(t, host.Name == "n2", one.Here)
		require.Empty(t, one.Why)
		require.NotZero(t, one.Term)
	})
}

func mustMember(t *testing.T, v View, name string) Member {
	t.Helper()
	m, ok := v.Member(name)
	require.True(t, ok, name)
	return m
}

func findByText(v View, id string) Member {
	for _, m := range v.Members {
		if m.ID().String() == id {
			return m
		}
	}
	return Member{}
}

func TestTheStatusTellsWhoDoesNotHearWhomAndWhyNothingMoves(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(cfg *Config) { cfg.Downing = downing.Manual{} }
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		f.crash("n3")
		time.Sleep(3 * time.Second)
		v, s := f.nodes["n1"].View(), statusOf(t, f.nodes["n1"])
		for _, m := range s.Members {
			require.Equal(t, m.Name != "n3", m.Reachable)
			if m.Name == "n3" {
				require.Equal(t, []string{mustMember(t, v, "n1").ID().String(), mustMember(t, v, "n2").ID().String()}, m.UnreachableBy)
			}
		}
		require.Nil(t, s.Expected.FailoverSeconds, "never")
		require.Len(t, s.Waiting, 1)
		require.Contains(t, s.Waiting[0], "n3 is unreachable (by n1, n2)")
		require.Contains(t, s.Waiting[0], "manual")
		require.Equal(t, http.StatusOK, get(f.nodes["n1"], "/readyz").Code, "a dead node does not make the others unready")
	})
}

func TestANodeThatIsCutOffIsNotReadyOnceItIsDownAndReadyWhenItIsBack(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		lost := f.nodes["n3"]
		require.Equal(t, "ok", get(lost, "/readyz").Body.String())
		f.net.Partition([]string{"n1", "n2"}, []string{"n3"})
		time.Sleep(10 * time.Second)
		w := get(lost, "/readyz")
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Contains(t, w.Body.String(), "[-]membership failed: this node is ")
		require.Equal(t, http.StatusOK, get(lost, "/livez").Code, "it looks for the others")
		waiting := statusOf(t, lost).Waiting
		require.Equal(t, "This node was taken down: this side is not the majority.", waiting[0])
		require.Contains(t, waiting[1], "This node found no cluster")
		require.Equal(t, http.StatusOK, get(f.nodes["n1"], "/readyz").Code)
		f.net.Heal()
		f.await(30*time.Second, "n1", "n2", "n3")
		require.Equal(t, http.StatusOK, get(lost, "/readyz").Code)
	})
}

func TestANodeThatHasEndedIsNeitherLiveNorReadyAndStillTellsWhy(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1")
		n := f.nodes["n1"]
		require.NoError(t, n.Leave(t.Context()))
		w := get(n, "/livez")
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Equal(t, "[-]running failed: the node has ended\nlivez check failed\n", w.Body.String())
		require.Equal(t, http.StatusServiceUnavailable, get(n, "/readyz").Code)
		require.Equal(t, []string{"This node has ended."}, statusOf(t, n).Waiting)
		require.Contains(t, get(n, "/events").Body.String(), "event: status", "and the stream ends")
	})
}

func TestEventsFollowTheMembersUntilTheNodeEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1")
		out := httptest.NewRecorder()
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.nodes["n1"].Handler().ServeHTTP(out, httptest.NewRequestWithContext(t.Context(), "GET", "/events", nil))
		}()
		f.start("n2")
		f.await(5*time.Second, "n1", "n2")
		require.NoError(t, f.nodes["n2"].Leave(t.Context()))
		time.Sleep(time.Second)
		require.NoError(t, f.nodes["n1"].Leave(t.Context()))
		<-done
		var most int
		var last statuspage.Snapshot
		for line := range strings.Lines(out.Body.String()) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				last = statuspage.Snapshot{}
				require.NoError(t, json.Unmarshal([]byte(data), &last))
				most = max(most, len(last.Members))
			}
		}
		require.Equal(t, 2, most)
		require.Equal(t, "removed", last.Self.Status)
		require.False(t, last.Live[0].OK)
	})
}

func TestActionsAreOffUnlessAllowed(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.await(5*time.Second, "n1", "n2")
		n := f.nodes["n1"]
		require.Equal(t, http.StatusNotFound, post(n.Handler(), "/actions/down?member=n2"))
		require.Equal(t, http.StatusNotFound, post(n.Handler(), "/actions/leave"))
		refused := n.Handler(AllowActions(func(*http.Request) error { return errors.New("no") }))
		require.Equal(t, http.StatusForbidden, post(refused, "/actions/leave"))
		time.Sleep(time.Minute)
		f.await(0, "n1", "n2")
		require.Panics(t, func() { AllowActions(nil) })
	})
}

func TestAllowedActionsTakeAMemberDownAndLetTheNodeLeave(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(cfg *Config) { cfg.Downing = downing.Manual{} }
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		f.crash("n3")
		time.Sleep(time.Minute)
		allowed := f.nodes["n1"].Handler(AllowActions(func(*http.Request) error { return nil }))
		require.Equal(t, http.StatusNotFound, post(allowed, "/actions/down?member=n9"))
		require.Equal(t, http.StatusAccepted, post(allowed, "/actions/down?member=n3"))
		f.await(5*time.Second, "n1", "n2")
		require.Equal(t, http.StatusAccepted, post(allowed, "/actions/leave"))
		<-f.nodes["n1"].Terminated()
		f.await(5*time.Second, "n2")
	})
}

func TestTheStatusTellsTheDeadLettersOfThisNode(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		n := f.nodes["n1"]
		actor.Resolve[string](n.System, "understudy://test@n1:7355/user/absent").Tell("order")
		actor.Resolve[error](n.System, "understudy://test@n1:7355/user/absent").Tell(nil)
		extension.DeadLetter(n.System, "somebody", 1, errors.New("out of luck"))
		require.Equal(t, map[string]uint64{"no such actor": 2, "other": 1}, statusOf(t, n).DeadLetters)
		require.Empty(t, statusOf(t, f.nodes["n2"]).DeadLetters)
		var d statuspage.DeadLetters
		require.NoError(t, json.Unmarshal(get(n, "/dead-letters").Body.Bytes(), &d))
		require.Equal(t, map[string]uint64{"no such actor": 2, "other": 1}, d.ByReason)
		var letters []string
		for _, l := range d.Letters {
			letters = append(letters, fmt.Sprintf("%s, %s: %s (%s) %d", l.Recipient, l.Type, l.Reason, l.Text, l.Count))
		}
		require.Equal(t, []string{
			"somebody, int: other (out of luck) 1",
			"understudy://test@n1:7355/user/absent, nil: no such actor () 1",
			"understudy://test@n1:7355/user/absent, string: no such actor () 1",
		}, letters)
	})
}

// shownLink is what the page shows of a link.
type shownLink struct {
	Peer, Name, State, LastError string
	Since                        *time.Time
	Queued                       int
	ReceivedMessages             uint64
}

func detailsOf(t *testing.T, n *Node) (d struct{ Links []shownLink }) {
	t.Helper()
	require.NoError(t, json.Unmarshal(get(n, "/details").Body.Bytes(), &d))
	return d
}

func TestTheDetailsTellWhyMessagesToANodeWait(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(cfg *Config) { cfg.Downing = downing.Manual{} }
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		n := f.nodes["n1"]
		actor.Resolve[string](n.System, "understudy://test@n2:7355/user/absent").Tell("order")
		time.Sleep(time.Second)
		d := detailsOf(t, n)
		members := slices.DeleteFunc(d.Links, func(l shownLink) bool { return l.Name == "" }) // seeds that do not run
		require.Len(t, members, 2)
		for _, l := range members {
			require.Equal(t, "connected", l.State)
			require.NotNil(t, l.Since)
			require.Equal(t, l.Name+":7355", l.Peer)
			require.Positive(t, l.ReceivedMessages)
			require.Zero(t, l.Queued)
		}
		require.Empty(t, statusOf(t, n).Problems)

		f.crash("n3")
		actor.Resolve[string](n.System, "understudy://test@n3:7355/user/absent").Tell("order")
		time.Sleep(3 * time.Second)
		links := detailsOf(t, n).Links
		lost := links[slices.IndexFunc(links, func(l shownLink) bool { return l.Name == "n3" })]
		require.Equal(t, "failing", lost.State)
		require.Positive(t, lost.Queued)
		require.NotEmpty(t, lost.LastError)
		problems := statusOf(t, n).Problems
		require.Len(t, problems, 1)
		require.Equal(t, status.Problem{Kind: "link", About: "n3", Text: "Messages to n3 wait, because this node cannot connect to it: " + lost.LastError + "."}, problems[0])
	})
}
