package singleton

import (
	"time"

	"github.com/understudy-go/understudy/actor"
)

// A simNode is one process after another at one address.
type simNode struct {
	sim     *sim
	address string
	id      PeerID // of the present incarnation
	runs    bool
	cut     bool
	leaving bool
	clean   bool // has left, is about to exit

	table   simTable
	gone    map[PeerID]time.Time // when a removal without a sign of the end was seen
	records Record

	machine  *machine
	instance Generation // what runs here; zero when nothing does
	dying    bool       // it has been told to stop at once
	viewDue  bool
}

// boot starts a process that joins the cluster, or founds it.
func (n *simNode) boot() {
	if n.runs {
		return
	}
	set := newSettings([]Option{
		StopTimeout(simStop), RestartBackoff(actor.Backoff{Min: 50 * time.Millisecond, Max: 400 * time.Millisecond}),
	})
	n.runs, n.leaving, n.clean = true, false, false
	n.machine = newMachine("x", set)
	n.instance = Generation{}
	n.rejoin()
	n.pulse(n.id.Address, n.machine)
}

// rejoin begins a new incarnation and looks for somebody to join.
func (n *simNode) rejoin() {
	n.id = PeerID{Address: n.address, Incarnation: n.id.Incarnation + 1}
	n.table = simTable{n.id: {status: simJoining}}
	n.gone = map[PeerID]time.Time{}
	n.dying = false
	n.join()
}

func (n *simNode) join() {
	s := n.sim
	id := n.id
	contact := s.leader()
	switch {
	case contact == nil && !s.founded():
		n.table[n.id] = simEntry{status: simUp, up: 1}
		s.note(n, "founds")
		n.changed()
		return
	case contact != nil && contact.cut == n.cut:
		contact.welcome(n)
	}
	s.in(200*time.Millisecond, func() {
		if n.runs && n.id == id && n.table[id].status == simJoining && len(n.table) == 1 {
			n.join()
		}
	})
}

// welcome takes a new incarnation in, which is proof that the former one has ended.
func (n *simNode) welcome(joiner *simNode) {
	for id := range n.table {
		if id.Address == joiner.address && id != joiner.id {
			n.table.merge(id, simEntry{status: simRemoved, clean: true})
		}
	}
	n.table.merge(joiner.id, simEntry{status: simJoining})
	n.changed()
	joiner.hear(n.table.clone(), n.records)
	n.sim.note(joiner, "joins by %s", n.id.short())
}

// pulse gossips the whole table, for as long as the process lives.
func (n *simNode) pulse(address string, process *machine) {
	n.sim.in(20*time.Millisecond+n.sim.upTo(60*time.Millisecond), func() {
		if !n.runs || n.machine != process {
			return
		}
		to := n.sim.nodes[n.sim.rng.IntN(len(n.sim.nodes))]
		n.tell(to, n.table.clone())
		n.pulse(address, process)
	})
}

func (n *simNode) tell(to *simNode, t simTable) {
	records := n.records
	n.sim.carry(n, to, func() {
		if _, member := t[to.id]; to.runs && (member || len(to.table) > 1) {
			to.hear(t, records)
		}
	})
}

// hear merges what another node knows.
func (n *simNode) hear(t simTable, records Record) {
	before := n.table.clone()
	for id, e := range t {
		n.table.merge(id, e)
	}
	known := n.records
	n.records = n.records.Merge(records)
	if !n.table.equal(before) || n.records != known {
		n.changed()
	}
}

// set changes an entry, and tells everybody about that one alone.
func (n *simNode) set(id PeerID, e simEntry) {
	n.table.merge(id, e)
	n.changed()
	for _, other := range n.sim.nodes {
		n.tell(other, simTable{id: n.table[id]})
	}
}

// changed shows the machine the newest view, a little later.
func (n *simNode) changed() {
	for id, e := range n.table {
		if _, seen := n.gone[id]; e.status == simRemoved && !e.clean && !seen {
			n.gone[id] = n.sim.now
		}
	}
	if n.viewDue {
		return
	}
	n.viewDue = true
	process := n.machine
	n.sim.in(n.sim.upTo(n.sim.rules.lag), func() {
		n.viewDue = false
		if n.runs && n.machine == process {
			n.happened(viewed{n.topology()})
			n.afterView()
		}
	})
}

func (n *simNode) topology() Topology {
	topo := Topology{Self: n.id, Down: n.table[n.id].status >= simDown, Margin: simMargin, Records: map[string]Record{"x": n.records}}
	if n.sim.rules.fenced {
		topo.Margin = 0
	}
	for _, id := range n.table.order(n.sim.rules.byAge) {
		e := n.table[id]
		p := Peer{ID: id, Up: e.status == simUp, Reachable: true, Offers: []string{"x"}}
		switch {
		case e.status < simRemoved:
			topo.Members = append(topo.Members, p)
		case !e.clean:
			topo.Gone = append(topo.Gone, Gone{Peer: p, Since: n.gone[id]})
		}
	}
	return topo
}

// afterView ends what the view has ended: a node that is down comes back as another
// incarnation once it runs nothing.
func (n *simNode) afterView() {
	if !n.machine.topo.Down || n.clean || n.instance != (Generation{}) {
		return
	}
	if n.leaving {
		n.exit()
		return
	}
	n.sim.note(n, "was down")
	n.rejoin()
}

func (n *simNode) noticeCut() {
	if n.runs && n.cut && n.table[n.id].status < simDown {
		n.set(n.id, simEntry{status: simDown})
	}
}

// leave hands over, and then exits.
func (n *simNode) leave() {
	n.sim.note(n, "leaves")
	n.leaving = true
	n.set(n.id, simEntry{status: simLeaving})
	n.happened(drainAsked{})
}

func (n *simNode) crash() {
	n.sim.note(n, "crashes")
	n.exit()
}

func (n *simNode) exit() {
	n.runs, n.instance, n.viewDue = false, Generation{}, false
	n.sim.in(n.sim.upTo(3*time.Second), n.boot)
}

// well reports whether the node is up, and nothing has been done to it.
func (n *simNode) well() bool {
	return n.runs && !n.cut && !n.leaving && n.table[n.id].status == simUp
}
