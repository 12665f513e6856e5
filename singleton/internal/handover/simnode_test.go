package handover

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// A simNode is one process after another at one address.
type simNode struct {
	sim     *sim
	index   int
	address string
	rate    float64 // of its clock

	proc    int // number of the present process
	runs    bool
	paused  bool
	stalled []func() // what is to happen when the pause ends
	pauses  []simSpan
	id      remote.NodeID // of the present incarnation
	leaving bool
	left    bool          // is about to exit
	back    time.Duration // after a leave

	table  simTable
	heard  [simMax]time.Duration // when, by this node's clock
	silent [simMax]time.Duration // since when; 0 when not
	lonely time.Duration         // since when no majority was heard of; 0 when one is
	gone   [simMax]simGone
	record wire.Record

	machine *Machine
	viewDue bool
	wakeAt  time.Time
	inst    *simInstance
	keeper  *simKeeper
	post    simPost
	ended   time.Duration // when it heard that the singleton has finished; 0 when it has not
	joined  time.Duration // when it became a member
	woken   time.Duration // when the last pause ended
}

type simGone struct {
	incarnation uint32
	since       time.Time
}

type simSpan struct{ from, to time.Duration }

// local is the node's monotonic clock.
func (n *simNode) local() time.Duration {
	return time.Second + time.Duration(float64(n.sim.now)*n.rate)
}

func (n *simNode) clock() time.Time { return simBegin.Add(n.local()) }

// in does something in this process after a time by its clock.
func (n *simNode) in(d time.Duration, do func()) {
	proc := n.proc
	n.sim.in(time.Duration(float64(d)/n.rate)+time.Microsecond, func() {
		if n.proc == proc {
			n.awake(do)
		}
	})
}

// awake does something now, or when the pause of the process ends.
func (n *simNode) awake(do func()) {
	switch {
	case !n.runs:
	case n.paused:
		n.stalled = append(n.stalled, do)
	default:
		do()
	}
}

func (n *simNode) pause() {
	n.paused = true
	n.pauses = append(n.pauses, simSpan{from: n.sim.now, to: -1})
	n.sim.account()
}

// resume lets the process continue: everything that had to wait happens now, in any order.
func (n *simNode) resume(proc int) {
	if n.proc != proc || !n.paused {
		return
	}
	s := n.sim
	s.account()
	n.paused, n.woken = false, s.now
	n.endPause()
	s.note(n, "goes on")
	stalled := n.stalled
	n.stalled = nil
	for _, do := range stalled {
		s.in(s.upTo(5*time.Millisecond), func() {
			if n.proc == proc {
				n.awake(do)
			}
		})
	}
	s.checkOverlap(n)
}

func (n *simNode) endPause() {
	if last := len(n.pauses) - 1; last >= 0 && n.pauses[last].to < 0 {
		n.pauses[last].to = n.sim.now
	}
}

// pausedFor returns how long the process has been paused in the last two minutes.
func (n *simNode) pausedFor() time.Duration {
	total := time.Duration(0)
	for _, p := range n.pauses {
		to := p.to
		if to < 0 {
			to = n.sim.now
		}
		total += max(0, to-max(p.from, n.sim.now-2*time.Minute))
	}
	return total
}

// boot starts a process that looks for a cluster.
func (n *simNode) boot() {
	if n.runs {
		return
	}
	s := n.sim
	n.proc++
	n.runs, n.leaving, n.left, n.paused, n.viewDue = true, false, false, false, false
	n.stalled, n.pauses, n.inst, n.wakeAt = nil, nil, nil, time.Time{}
	n.record, n.ended = wire.Record{}, 0
	n.machine = NewMachine(s.config())
	n.keeper = &simKeeper{node: n}
	n.post = simPost{node: n}
	n.post.relay = NewRelay(&n.post, n.machine, s.plan.buffer)
	n.rejoin()
	n.in(s.upTo(simBeat), n.tick)
	n.in(s.upTo(400*time.Millisecond), n.post.write)
}

func (s *sim) config() Config {
	return Config{
		Name: "x", StopTimeout: simStop, LeaseRetry: time.Second, Margin: s.margin(),
		Restart: actor.Backoff{Min: 50 * time.Millisecond, Max: time.Second},
		Leased:  s.plan.mode.leased(), Sourced: s.plan.sourced,
	}
}

func (s *sim) margin() time.Duration {
	if s.plan.careless {
		return -1
	}
	return 0
}

// rejoin begins a new incarnation, which knows the records of the former one.
func (n *simNode) rejoin() {
	n.id = remote.NodeID{Address: n.address, Incarnation: n.id.Incarnation + 1}
	n.table = simTable{}
	n.table.entries[n.index] = simEntry{incarnation: uint32(n.id.Incarnation)}
	n.heard, n.silent, n.gone = [simMax]time.Duration{}, [simMax]time.Duration{}, [simMax]simGone{}
	n.lonely = 0
	n.changed()
	n.seek()
}

func (n *simNode) self() *simEntry { return &n.table.entries[n.index] }

// changed shows the machine the newest view, a little later.
func (n *simNode) changed() {
	for i, e := range n.table.entries {
		if e.status == simRemoved && !e.clean && n.gone[i].incarnation != e.incarnation {
			n.gone[i] = simGone{e.incarnation, n.clock()}
			n.sim.laws.removed[remote.NodeID{Address: n.sim.nodes[i].address, Incarnation: uint64(e.incarnation)}] = true
		}
	}
	if n.viewDue {
		return
	}
	n.viewDue = true
	n.in(n.sim.upTo(n.sim.plan.lag), func() {
		n.viewDue = false
		topo := n.topology()
		n.post.relay.View(&topo)
		n.happened(Viewed{topo})
		n.afterView()
	})
}

func (n *simNode) topology() directory.Topology {
	s := n.sim
	topo := directory.Topology{Self: n.id, Down: n.self().status >= simDown, Margin: simMargin, Record: n.record}
	for _, i := range n.table.order(s.plan.byAge) {
		e := n.table.entries[i]
		p := directory.Peer{
			ID: remote.NodeID{Address: s.nodes[i].address, Incarnation: uint64(e.incarnation)},
			Up: e.status == simUp, Reachable: n.silent[i] == 0, Advertisement: "x",
		}
		switch {
		case e.status < simRemoved:
			topo.Members = append(topo.Members, p)
		case !e.clean:
			topo.Gone = append(topo.Gone, directory.Gone{Peer: p, Since: n.gone[i].since})
		}
	}
	return topo
}

// afterView ends what the view has ended: a node that is down comes back as another
// incarnation once it runs nothing, in this process or in another.
func (n *simNode) afterView() {
	s := n.sim
	if !n.machine.topo.Down || n.left || n.inst != nil || n.machine.topo.Self != n.id {
		return
	}
	switch {
	case n.leaving:
		n.depart()
	case s.chance(0.5):
		s.note(n, "was down, and joins again")
		n.rejoin()
	default:
		s.note(n, "was down, and starts again")
		n.exit(simClosed)
		s.in(s.upTo(time.Second), n.boot)
	}
}

// leave hands over, and then exits.
func (n *simNode) leave() {
	if n.leaving || n.self().status != simUp {
		return
	}
	n.sim.note(n, "leaves")
	n.leaving = true
	n.set(n.index, simEntry{incarnation: n.self().incarnation, status: simLeaving})
	n.post.relay.BeginDrain()
	n.happened(DrainAsked{})
}

// checkDrained lets a node that leaves go when nothing runs there any more.
func (n *simNode) checkDrained() {
	if !n.leaving || n.left || n.self().status != simLeaving {
		return
	}
	drained := n.post.relay.Drained(n.clock())
	if n.post.plan(); !drained {
		return
	}
	n.left = true
	n.sim.note(n, "has left")
	n.set(n.index, simEntry{incarnation: n.self().incarnation, status: simRemoved, clean: true})
	n.in(time.Second, n.depart)
}

func (n *simNode) depart() {
	back := n.back
	n.post.close()
	n.exit(simClosed)
	n.sim.in(back, n.boot)
}

func (n *simNode) exit(fate simFate) {
	s := n.sim
	s.note(n, "ends")
	n.endPause()
	if n.inst != nil {
		n.post.lose(n.inst.box, fate)
		n.inst.over = true
		n.inst = nil
	}
	n.post.die(fate)
	n.runs, n.paused, n.stalled = false, false, nil
	n.proc++
	n.table = simTable{}
	s.account()
}
