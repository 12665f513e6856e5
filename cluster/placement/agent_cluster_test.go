//go:build !quick

package placement

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// An agentCluster is a cluster with an agent on each node. The test plays the coordinator.
type agentCluster struct {
	*clustertest.Cluster
	t     *testing.T
	heard *testkit.Probe[home.FromAgent] // on n1
}

func inAgentCluster(t *testing.T, n int, f func(t *testing.T, c *agentCluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &agentCluster{Cluster: clustertest.Start(t, n), t: t}
		for _, node := range c.Nodes() {
			shell.StartAgent(node, agents(agentFactories))
		}
		c.heard = testkit.NewProbe[home.FromAgent](t, c.Node("n1").System)
		f(t, c)
	})
}

func (c *agentCluster) tell(node string, msg any) {
	c.t.Helper()
	from, to := c.Node("n1"), c.Node(node)
	at := "understudy://" + from.Name() + "@" + to.Address() + shell.Path(agentName)
	actor.Resolve[home.ToAgent](from.System, at).Tell(home.Send{Incarnation: to.View().Self.Incarnation, Msg: msg}.Message(c.heard.Ref()))
}

func (c *agentCluster) start(node, label string, n uint64, j job) *home.StartAck {
	c.t.Helper()
	r := startOfWorker(label, n)
	r.State = workers.Spec(label, j).State
	c.tell(node, r)
	m := c.heard.Receive()
	require.Equal(c.t, node, m.Node)
	require.NotNil(c.t, m.StartAck)
	require.Equal(c.t, id(n), m.StartAck.ID)
	return m.StartAck
}

func startOfWorker(label string, n uint64) home.StartRequest {
	return home.StartRequest{ID: id(n), Label: label, Type: workers.Name(), State: workers.Spec(label, job{}).State, Epoch: 1}
}

func (c *agentCluster) stop(node, label string, n uint64) {
	c.t.Helper()
	c.tell(node, home.StopRequest{ID: id(n), Label: label, Epoch: 1})
	require.Equal(c.t, &home.StopAck{ID: id(n), Label: label}, c.heard.Receive().StopAck)
}

// ask asks the actor of a label from a node, and returns the node on which the actor runs.
func (c *agentCluster) ask(from, label string) string {
	c.t.Helper()
	a := testkit.Ask(c.t.Context(), c.t, workers.Ref(c.Node(from).System, label), func(r actor.ActorRef[answered]) order { return order{ReplyTo: r} })
	require.Equal(c.t, label, a.Label)
	return a.Node
}

func TestARefFollowsItsActorFromNodeToNode(t *testing.T) {
	inAgentCluster(t, 3, func(t *testing.T, c *agentCluster) {
		require.Empty(t, c.start("n2", "a/b", 1, job{}).Error)
		time.Sleep(time.Second)
		for _, from := range []string{"n1", "n2", "n3"} {
			require.Equal(t, "n2:7355", c.ask(from, "a/b"))
		}
		c.stop("n2", "a/b", 1)
		require.Empty(t, c.start("n3", "a/b", 2, job{}).Error)
		for _, from := range []string{"n1", "n2", "n3"} {
			require.Equal(t, "n3:7355", c.ask(from, "a/b"))
		}
		c.Kill("n3")
		time.Sleep(time.Minute)
		time.AfterFunc(time.Second, func() { c.tell("n1", startOfWorker("a/b", 3)) })
		require.Equal(t, "n1:7355", c.ask("n2", "a/b"), "it was held for a second")
		require.Equal(t, &home.StartAck{ID: id(3), Label: "a/b"}, c.heard.Receive().StartAck)
	})
}

func TestAFactoryThatPanicsHarmsNothingElseOnItsNode(t *testing.T) {
	inAgentCluster(t, 2, func(t *testing.T, c *agentCluster) {
		require.Contains(t, c.start("n2", "x", 1, job{Panics: true}).Error, "panic: no tools")
		time.Sleep(time.Minute)
		require.Len(t, c.Node("n1").View().Members, 2)
		require.Empty(t, c.Node("n1").View().Unreachable())
		require.Empty(t, c.start("n2", "x", 2, job{}).Error)
	})
}

func TestARefSaysWhenItsActorTakesOtherMessages(t *testing.T) {
	inAgentCluster(t, 2, func(t *testing.T, c *agentCluster) {
		s := c.Node("n2").System
		letters := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, letters.Ref())
		ref := refTo[string](c.Node("n1").System, "x")
		ref.Tell("held")
		require.Empty(t, c.start("n2", "x", 1, job{}).Error)
		for _, text := range []string{"held", "told"} {
			dead := letters.Fish(func(d actor.DeadLetter) testkit.Fishing {
				if d.Recipient != ref.Path() {
					return testkit.Ignore
				}
				return testkit.Complete
			})[0]
			require.Equal(t, text, dead.Message)
			require.ErrorIs(t, dead.Reason, actor.ErrWrongType)
			ref.Tell("told")
		}
	})
}

func TestANodeThatIsCutOffStopsWhatItRuns(t *testing.T) {
	inAgentCluster(t, 3, func(t *testing.T, c *agentCluster) {
		for n := range uint64(3) {
			require.Empty(t, c.start("n3", fmt.Sprint("spec-", n), n+1, job{}).Error)
		}
		s := c.Node("n3").System
		was := c.Node("n3").View().Self.Incarnation
		require.True(t, lives(s, "spec-0"))
		c.Partition([]string{"n3"})
		time.Sleep(2 * time.Minute)
		for n := range 3 {
			require.False(t, lives(s, fmt.Sprint("spec-", n)))
		}
		c.Heal()
		c.AwaitQuiet()
		time.Sleep(time.Minute)
		require.NotEqual(t, was, c.Node("n3").View().Self.Incarnation)
		c.tell("n3", home.ReportRequest{Epoch: 1})
		require.Equal(t, &home.Report{Epoch: 1}, c.heard.Receive().Report)
		require.Empty(t, c.start("n3", "spec-0", 9, job{}).Error)
	})
}

// lives reports whether an actor that was placed on the node of s has not ended.
func lives(s *actor.System, label string) bool {
	ended := false
	extension.AfterEnd(s, actor.Resolve[any](s, "understudy://"+s.Name()+"@"+s.Address()+shell.Path(agentName)+"/"+escape(label)), func() { ended = true })
	return !ended
}

// A node that leaves without having been drained stops its actors before it is gone.
func TestWhatRunsOnANodeHasEndedWhenItIsGone(t *testing.T) {
	inAgentCluster(t, 2, func(t *testing.T, c *agentCluster) {
		require.Empty(t, c.start("n2", "x", 1, job{Lasts: 3 * time.Second}).Error)
		began := time.Now()
		c.Leave("n2")
		require.GreaterOrEqual(t, time.Since(began), 3*time.Second)
		c.heard.ExpectNone(time.Minute)
	})
}
