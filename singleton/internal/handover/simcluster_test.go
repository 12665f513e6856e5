package handover

import (
	"time"

	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// This is the cluster of the simulation. Tables are gossiped to all nodes. Nodes that hear from a
// majority down those that are silent, and a node that hears from no majority downs itself. The
// first member that is up lets others in and out when all the others know the same.

// seek joins a cluster, or founds one if no cluster exists.
func (n *simNode) seek() {
	s, id := n.sim, n.id
	if s.anyCluster() {
		contact := s.nodes[s.rng.IntN(len(s.nodes))]
		if contact != n {
			s.carry(n, contact, func() { contact.welcome(n, id) })
		}
		n.in(100*time.Millisecond+s.upTo(100*time.Millisecond), func() {
			if n.id == id && n.table.cluster == 0 {
				n.seek()
			}
		})
		return
	}
	s.clusters++
	s.laws.newCluster(s.plan)
	n.table.cluster, n.joined = s.clusters, s.now
	*n.self() = simEntry{incarnation: uint32(id.Incarnation), status: simUp, up: 1}
	s.note(n, "founds cluster %d", s.clusters)
	n.changed()
}

// anyCluster reports whether some node is a member of a cluster, or still runs what belongs to one.
// No node founds another before all have said that they are in none.
func (s *sim) anyCluster() bool {
	for _, n := range s.nodes {
		if n.runs && n.table.cluster != 0 && (n.self().status < simDown || n.machine.instance.Running || !n.machine.topo.Down) {
			return true
		}
	}
	return false
}

// welcome takes a new incarnation in.
func (n *simNode) welcome(joiner *simNode, id remote.NodeID) {
	if st := n.self().status; n.table.cluster == 0 || st != simUp && st != simLeaving {
		return
	}
	if old := n.table.entries[joiner.index]; uint64(old.incarnation) < id.Incarnation {
		n.sim.note(n, "welcomes %s", short(id))
		n.set(joiner.index, simEntry{incarnation: uint32(id.Incarnation)})
	}
	n.gossip(joiner, n.table)
}

// tick notes which nodes are silent, decides, and sends the table to all nodes.
func (n *simNode) tick() {
	n.in(simBeat, n.tick)
	if n.table.cluster == 0 {
		return
	}
	now, turned := n.local(), false
	for i := range n.sim.nodes {
		silent := i != n.index && n.table.entries[i].member() && now-n.heard[i] >= simDetection
		if silent != (n.silent[i] != 0) {
			turned = true
			n.silent[i] = 0
			if silent {
				n.silent[i] = now
			}
		}
	}
	if turned {
		n.changed()
	}
	n.decide(now)
	for _, other := range n.sim.nodes {
		if other != n {
			n.gossip(other, n.table)
		}
	}
}

func (n *simNode) hears(i int) bool {
	return i == n.index || n.table.entries[i].incarnation > 0 && n.local()-n.heard[i] < simDetection
}

// decide downs the silent nodes, or this node.
func (n *simNode) decide(now time.Duration) {
	if n.self().status >= simDown {
		return
	}
	if all, mine := n.table.votes(n.hears); 2*mine <= all {
		if n.lonely == 0 {
			n.lonely = now
		}
		if now-n.lonely >= simStable {
			n.sim.note(n, "hears of no majority, and is down")
			n.down(n.index)
		}
		return
	}
	n.lonely = 0
	for i := range n.sim.nodes {
		if n.silent[i] != 0 && now-n.silent[i] >= simStable && n.self().status != simJoining {
			n.sim.note(n, "downs %s", n.sim.nodes[i].address)
			n.down(i)
		}
	}
	n.lead()
}

func (n *simNode) down(i int) {
	n.set(i, simEntry{incarnation: n.table.entries[i].incarnation, status: simDown})
}

// lead lets others in and out.
func (n *simNode) lead() {
	for i, e := range n.table.entries {
		if i < n.index && (e.status == simUp || e.status == simLeaving) && e.incarnation > 0 && n.silent[i] == 0 {
			return
		}
	}
	if st := n.self().status; st != simUp && st != simLeaving || !n.converged() {
		return
	}
	ups := uint16(0)
	for _, e := range n.table.entries {
		ups = max(ups, e.up)
	}
	for i, e := range n.table.entries {
		switch {
		case e.incarnation == 0:
		case e.status == simJoining:
			ups++
			n.set(i, simEntry{incarnation: e.incarnation, status: simUp, up: ups})
		case e.status == simDown:
			n.set(i, simEntry{incarnation: e.incarnation, status: simRemoved})
		}
	}
}

// converged reports whether all members know what this node knows.
func (n *simNode) converged() bool {
	for i, e := range n.table.entries {
		other := n.sim.nodes[min(i, len(n.sim.nodes)-1)]
		if e.member() && (!other.runs || other.id.Incarnation != uint64(e.incarnation) || other.table != n.table || !n.sim.linked(n, other)) {
			return false
		}
	}
	return true
}

// set changes an entry, and sends it to all nodes at once.
func (n *simNode) set(i int, e simEntry) {
	n.table.entries[i] = n.table.entries[i].merge(e)
	n.changed()
	for _, other := range n.sim.nodes {
		if other != n {
			n.gossip(other, n.table)
		}
	}
}

func (n *simNode) gossip(to *simNode, t simTable) {
	from, record := n.index, n.record
	n.sim.carry(n, to, func() { to.hear(from, t, record) })
}

func (n *simNode) hear(from int, t simTable, record wire.Record) {
	me := t.entries[n.index].incarnation
	switch {
	case n.table.cluster == 0:
		if me != uint32(n.id.Incarnation) {
			return
		}
		for i := range n.heard {
			n.heard[i] = n.local()
		}
		n.table.cluster, n.joined = t.cluster, n.sim.now
	case n.table.cluster != t.cluster || me > uint32(n.id.Incarnation):
		return
	}
	if t.entries[from].incarnation >= n.table.entries[from].incarnation {
		n.heard[from] = n.local()
	}
	known, before := n.record, n.table
	n.record = n.record.Merge(record)
	n.table.merge(t)
	for i := range n.table.entries {
		if n.table.entries[i].incarnation != before.entries[i].incarnation {
			n.heard[i], n.silent[i] = n.local(), 0
		}
	}
	if n.table != before || n.record != known {
		n.changed()
	}
}
