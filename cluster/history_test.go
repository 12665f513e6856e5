package cluster

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/history"
	"github.com/understudy-go/understudy/internal/statuspage"
)

func historyOf(t *testing.T, n *Node) []history.Event {
	t.Helper()
	var h statuspage.History
	require.NoError(t, json.Unmarshal(get(n, "/history").Body.Bytes(), &h))
	require.Equal(t, n.cfg.NodeID, h.Node)
	slices.Reverse(h.Events)
	return h.Events
}

// told returns the lines "kind: subject: reason" of the history of a node, oldest first.
func told(t *testing.T, n *Node) []string {
	t.Helper()
	var lines []string
	for _, e := range historyOf(t, n) {
		require.Equal(t, n.cfg.NodeID, e.Node)
		require.NotZero(t, e.Count)
		lines = append(lines, strings.TrimSuffix(e.Kind+": "+e.Subject+": "+e.Reason, ": "))
	}
	return lines
}

// requireInOrder fails unless lines contains each of wanted, in that order.
func requireInOrder(t *testing.T, lines []string, wanted ...string) {
	t.Helper()
	rest := lines
	for _, line := range wanted {
		i := slices.Index(rest, line)
		require.GreaterOrEqual(t, i, 0, "%s\nin\n%s", line, strings.Join(lines, "\n"))
		rest = rest[i+1:]
	}
}

func TestTheHistoryTellsWhyAMemberWasDownedAndWhereItsSingletonsWent(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		for _, n := range f.nodes {
			actor.Spawn(n, behaviors.Singleton(nothing), "ledger")
		}
		time.Sleep(time.Second)
		host, _ := f.nodes["n1"].View().Leader()
		next := nodesExcept(f, host.Name)
		require.Contains(t, told(t, f.nodes[host.Name]), "singleton started: ledger: no instance that this node knows of ran before")
		f.crash(host.Name)
		f.await(20*time.Second, next...)
		time.Sleep(20 * time.Second)
		leader, _ := f.nodes[next[0]].View().Leader()
		requireInOrder(t, told(t, f.nodes[leader.Name]),
			"member unreachable: "+host.Name,
			"downing: "+host.Name+": this side is the majority",
			"singleton started: ledger: failover from "+host.Name)
		other := next[0]
		if other == leader.Name {
			other = next[1]
		}
		// Two goroutines note what follows from the view in which the host is down.
		requireInOrder(t, told(t, f.nodes[other]),
			"member unreachable: "+host.Name,
			"member down: "+host.Name)
		requireInOrder(t, told(t, f.nodes[other]),
			"member unreachable: "+host.Name,
			"singleton moved: ledger: from "+host.Name+" to "+leader.Name+": "+host.Name+" is leaving or down")

		require.NoError(t, f.nodes[leader.Name].Leave(t.Context()))
		left := f.nodes[leader.Name]
		delete(f.nodes, leader.Name)
		requireInOrder(t, told(t, f.nodes[other]),
			"member leaving: "+leader.Name,
			"singleton started: ledger: hand-over from "+leader.Name)
		requireInOrder(t, told(t, left), "singleton stopped: ledger: hand-over to "+other, "node has left the cluster: "+leader.Name)
	})
}

func nodesExcept(f *testCluster, name string) []string {
	var names []string
	for each := range f.nodes {
		if each != name {
			names = append(names, each)
		}
	}
	slices.Sort(names)
	return names
}

func TestTheHistoryTellsThatTheNodeLostItsQuorum(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		f.crash("n1")
		f.crash("n2")
		time.Sleep(10 * time.Minute)
		n3 := f.nodes["n3"]
		lines := told(t, n3)
		requireInOrder(t, lines,
			"downing: n3: this side is not the majority",
			"membership lost: n3")
		events := historyOf(t, n3)
		last := events[len(events)-1]
		require.Equal(t, "still looking for a cluster", last.Kind)
		require.Contains(t, last.Reason, "there is no answer of n1:7355")
		require.Less(t, len(events), 20, lines)
	})
}

func TestEachNodeOfAMinoritySaysWhyItIsNoMember(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3", "n4", "n5")
		f.await(5*time.Second, "n1", "n2", "n3", "n4", "n5")
		for _, name := range []string{"n1", "n2", "n3"} {
			f.crash(name)
		}
		time.Sleep(time.Minute)
		var why []string
		for _, name := range []string{"n4", "n5"} {
			waiting := statusOf(t, f.nodes[name]).Waiting
			require.Len(t, waiting, 4)
			why = append(why, waiting[0])
			require.True(t, strings.HasPrefix(waiting[1], "This node found no cluster to join"), waiting[1])
			require.NotContains(t, waiting[1], "will never come back", "the advice is a sentence of its own")
			require.True(t, strings.HasPrefix(waiting[2], "If n1:7355, n2:7355, n3:7355 will never come back: restart"), waiting[2])
			require.Contains(t, told(t, f.nodes[name]), "membership lost: "+name)
		}
		require.ElementsMatch(t, []string{
			"This node was taken down: this side is not the majority.",
			"This node was taken down: this side of a partition has given up: it had 2 of 5 members.",
		}, why, "one of them has decided")
	})
}
