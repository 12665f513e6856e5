package singleton

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/history"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

func peer(name string) directory.Peer {
	return directory.Peer{ID: remote.NodeID{Address: name + ":1", Incarnation: 1}, Name: name, Up: true}
}

// topologyOf returns the topology of a cluster with members, as anna sees it.
func topologyOf(members ...directory.Peer) *directory.Topology {
	return &directory.Topology{Self: peer("anna").ID, Members: members}
}

// newest returns the newest event that f adds to the history of the singleton ledger, as text; ""
// if it adds none.
func newest(f func(c *historyWriter)) string {
	c := &historyWriter{ring: history.New(), name: "ledger"}
	f(c)
	for _, e := range c.ring.Events("anna") {
		return e.Kind + ": " + e.Reason
	}
	return ""
}

func TestTheHistoryTellsWhyASingletonMoved(t *testing.T) {
	anna, bert := peer("anna"), peer("bert")
	leaving := bert
	leaving.Up = false
	gone := topologyOf(anna)
	gone.Gone = []directory.Gone{{Peer: bert}}
	down := topologyOf(anna, bert)
	down.Down = true
	for want, topo := range map[string]*directory.Topology{
		"singleton moved: from bert to anna: bert is leaving or down":                             topologyOf(anna, leaving),
		"singleton moved: from bert to anna: bert was removed or replaced":                        topologyOf(anna),
		"singleton moved: from bert to anna: bert was removed without a sign that it has stopped": gone,
		"singleton moved: from bert to anna: anna is now the oldest":                              topologyOf(anna, bert),
		"": down,
	} {
		require.Equal(t, want, newest(func(c *historyWriter) {
			c.hostIs(bert, topologyOf(anna, bert), "the oldest", "")
			c.hostIs(anna, topo, "the oldest", "")
		}))
	}
}

func TestTheFirstHostThatANodeLearnsOfIsNoMove(t *testing.T) {
	anna, bert := peer("anna"), peer("bert")
	topo, down := topologyOf(anna, bert), topologyOf(anna, bert)
	down.Down = true
	require.Empty(t, newest(func(c *historyWriter) {
		c.hostIs(bert, topo, "", "")
		c.hostIs(bert, topo, "", "")
		c.hostIs(directory.Peer{}, down, "", "this node is down")
		c.hostIs(anna, topo, "", "")
	}))
	require.Equal(t, `singleton has no host: no member that is up has the role "worker"`, newest(func(c *historyWriter) {
		c.hostIs(bert, topo, "", "")
		c.hostIs(directory.Peer{}, topo, "", `no member that is up has the role "worker"`)
	}))
}

func TestTheHistoryTellsWhyAnInstanceStarts(t *testing.T) {
	anna, bert := peer("anna"), peer("bert")
	topo := topologyOf(anna)
	topo.Gone = []directory.Gone{{Peer: bert}}
	for want, test := range map[string]struct {
		takeover handover.Takeover
		restarts int
	}{
		"singleton started: no instance that this node knows of ran before": {},
		"singleton started: restart after the last instance ended here":     {restarts: 1},
		"singleton started: restart":                                        {takeover: handover.Takeover{From: anna.ID, Reason: handover.Stopped}},
		"singleton started: failover from bert":                             {takeover: handover.Takeover{From: bert.ID, Reason: handover.Lost}, restarts: 1},
		"singleton started: hand-over from cleo:1":                          {takeover: handover.Takeover{From: peer("cleo").ID, Reason: handover.Moved}},
		"singleton started: hand-over":                                      {takeover: handover.Takeover{Reason: handover.Moved}},
	} {
		require.Equal(t, want, newest(func(c *historyWriter) { c.started(topo, test.takeover, test.restarts) }))
	}
}

func TestAHostThatHasLeftStillHasItsName(t *testing.T) {
	anna, bert := peer("anna"), peer("bert")
	require.Equal(t, "singleton started: hand-over from bert", newest(func(c *historyWriter) {
		c.hostIs(bert, topologyOf(anna, bert), "", "")
		c.hostIs(anna, topologyOf(anna), "", "")
		c.started(topologyOf(anna), handover.Takeover{From: bert.ID, Reason: handover.Moved}, 0)
	}))
}

func TestTheHistoryTellsWhyAnInstanceEnded(t *testing.T) {
	down := topologyOf()
	down.Down = true
	for want, test := range map[string]struct {
		ended handover.InstanceEnded
		err   error
		phase handover.Phase
		topo  *directory.Topology
	}{
		"singleton finished: ":                                                        {ended: handover.InstanceEnded{Finished: true}},
		"singleton failed: no such table":                                             {err: errors.New("no such table"), phase: handover.Host},
		"singleton stopped: its lease was lost":                                       {ended: handover.InstanceEnded{LeaseLost: true}, err: ErrLeaseLost},
		"singleton stopped: hand-over to bert":                                        {phase: handover.HandingOver},
		"singleton stopped: this node is down":                                        {phase: handover.Stopping, topo: down},
		"singleton stopped: it has ended by itself, and is restarted":                 {phase: handover.Host},
		"singleton stopped: its lease was lost, or another instance has a later term": {phase: handover.Stopping},
		"singleton fenced: a journal has a later term, 7: another instance has written": {
			ended: handover.InstanceEnded{Fenced: true, FencedBy: 7}, err: errors.New("fenced"),
		},
	} {
		topo := test.topo
		if topo == nil {
			topo = topologyOf()
		}
		require.Equal(t, want, newest(func(c *historyWriter) {
			c.host = peer("bert")
			c.ended(test.ended, test.err, test.phase, topo)
		}))
	}
}

func TestTheHistoryTellsOfLostLeasesAndStuckInstances(t *testing.T) {
	require.Equal(t, "singleton lost its lease: expired", newest(func(c *historyWriter) { c.lostLease(errors.New("expired")) }))
	require.Equal(t, "singleton lost its lease: ", newest(func(c *historyWriter) { c.lostLease(nil) }))
	require.Equal(t, "singleton stuck: its instance on bert does not end: its handler does not return", newest(func(c *historyWriter) {
		c.stuck(topologyOf(peer("bert")), peer("bert").ID)
	}))
}
