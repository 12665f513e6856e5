package singleton

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	simSeed  = flag.Uint64("sim.seed", 0, "run the simulation of this seed only")
	simCount = flag.Uint64("sim.count", 48, "how many simulations to run")
)

// Laws: two instances never run at once, unless they are fenced and the node of one has
// been removed by that of the other; terms strictly grow, and within a term the sequence
// number, by one; once quiet there is exactly one, and
// nobody waits.
func TestSimulatedClustersKeepTheLaws(t *testing.T) {
	first, last := uint64(1), *simCount
	if *simSeed != 0 {
		first, last = *simSeed, *simSeed
	}
	for seed := first; seed <= last; seed++ {
		s := newSim(seed, rulesOf(seed))
		require.Empty(t, s.run(), "go test ./singleton -run Simulated -sim.seed=%d (%+v)\n%s", seed, s.rules, s.story())
	}
}

func TestASimulationDependsOnItsSeedAlone(t *testing.T) {
	once, again := newSim(7, rulesOf(7)), newSim(7, rulesOf(7))
	once.run()
	again.run()
	require.Equal(t, once.log, again.log)
}

func rulesOf(seed uint64) simRules {
	return simRules{
		nodes: 2 + int(seed%4), byAge: seed/4%2 == 0, fenced: seed/8%2 == 0,
		faults: 1 + int(seed/16%12), loss: float64(seed/3%4) * 0.1,
		lag: []time.Duration{10 * time.Millisecond, 200 * time.Millisecond, time.Second}[seed%3],
	}
}

// happened gives ev to the machine and does what it says.
func (n *simNode) happened(ev event) {
	s := n.sim
	for _, a := range n.machine.step(ev, s.now) {
		n.do(a)
	}
	if at := n.machine.wake(); !at.IsZero() {
		process := n.machine
		s.in(max(0, at.Sub(s.now)), func() {
			if n.runs && n.machine == process && !n.machine.wake().IsZero() && !n.machine.wake().After(s.now) {
				n.happened(ticked{})
			}
		})
	}
	n.checkDrained()
}

func (n *simNode) do(a action) {
	switch a := a.(type) {
	case sendRequest:
		n.send(a.to, requested{from: n.id, attempt: a.attempt, term: a.term})
	case sendGrant:
		n.send(a.to, granted{from: n.id, attempt: a.attempt, record: a.record, taken: a.taken})
	case startInstance:
		n.start(a.gen)
	case stopInstance:
		n.stop(a.now)
	case saveRecord:
		n.records = n.records.Merge(a.record)
	}
}

// send carries a message of the protocol to one incarnation.
func (n *simNode) send(id PeerID, ev event) {
	to := n.sim.at(id.Address)
	n.sim.carry(n, to, func() {
		if to.runs && to.id == id {
			to.happened(ev)
		}
	})
}

func (n *simNode) start(gen Generation) {
	s := n.sim
	s.note(n, "starts %v", gen)
	for _, other := range s.nodes {
		if other != n && other.instance != (Generation{}) {
			n.checkOverlap(other)
		}
	}
	n.checkGeneration(gen)
	n.instance, n.dying = gen, false
	if s.rules.fenced {
		s.in(s.upTo(20*time.Millisecond), func() { n.ifStill(gen, func() { n.happened(fenceHeld{gen: gen, raised: gen}) }) })
	}
	if !s.quiet && s.chance(0.3) {
		s.in(s.upTo(4*time.Second), func() { n.end(gen, s.rules.fenced && s.chance(0.3)) })
	}
}

func (n *simNode) checkOverlap(other *simNode) {
	removed := n.table[other.id].status == simRemoved || other.table[n.id].status == simRemoved
	if !n.sim.rules.fenced || !removed {
		n.sim.breach(n, "starts while %s runs %v", other.id.short(), other.instance)
	}
}

func (n *simNode) checkGeneration(gen Generation) {
	s := n.sim
	if next := s.seqs[gen.Term] + 1; gen.Seq != next {
		s.breach(n, "%v is not number %d of its term", gen, next)
	}
	s.seqs[gen.Term] = gen.Seq
	if gen.Seq > 1 {
		if s.terms[gen.Term] != n.id {
			s.breach(n, "%v goes on with a term of %v", gen, s.terms[gen.Term])
		}
		return
	}
	if !s.last.Less(gen) || gen.Term == s.last.Term {
		s.breach(n, "%v is not after %v", gen, s.last)
	}
	s.last, s.terms[gen.Term] = gen, n.id
}

// stop ends the instance in its time; one in ten ignores the request.
func (n *simNode) stop(now bool) {
	s, gen := n.sim, n.instance
	if now && !n.dying {
		n.dying = true
		s.in(s.upTo(400*time.Millisecond), func() { n.end(gen, false) })
	} else if !now && s.chance(0.9) {
		s.in(s.upTo(100*time.Millisecond), func() { n.end(gen, false) })
	}
}

func (n *simNode) ifStill(gen Generation, do func()) {
	if n.runs && n.instance == gen && gen != (Generation{}) {
		do()
	}
}

func (n *simNode) end(gen Generation, fenced bool) {
	n.ifStill(gen, func() {
		n.sim.note(n, "%v has ended", gen)
		n.instance = Generation{}
		n.happened(instanceEnded{fenced: fenced})
		n.afterView()
	})
}

// checkDrained lets a node that leaves go when nothing runs there any more.
func (n *simNode) checkDrained() {
	if !n.leaving || n.clean || n.machine.alive || n.machine.phase == Host || n.table[n.id].status != simLeaving {
		return
	}
	n.clean = true
	n.sim.note(n, "has left")
	n.set(n.id, simEntry{status: simRemoved, clean: true})
	n.sim.in(300*time.Millisecond, n.exit)
}

// checkQuiet is the end of the schedule, long after the last fault.
func (s *sim) checkQuiet() {
	running, hosts := 0, 0
	for _, n := range s.nodes {
		if n.instance != (Generation{}) {
			running++
		}
		switch n.machine.phase {
		case Host:
			hosts++
		case Standby:
		case Pending, Asking, HandingOver, Stopping:
			s.breach(n, "is still %s: %s", n.machine.phase, describeWait(n.machine))
		}
	}
	if running != 1 || hosts != 1 {
		s.breach(s.nodes[0], "%d run and %d host in the end", running, hosts)
	}
}

func describeWait(m *machine) string {
	return fmt.Sprintf("missing %v, not before %v, members %+v", m.missing(), m.notBefore(), m.topo.Members)
}
