package handover

import (
	"encoding/binary"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// A simPost is the relay of one node, with the connections to the others. Messages are numbers.
type simPost struct {
	node    *simNode
	relay   *Relay
	lanes   [simMax]time.Duration // when the last message to a node arrives: they keep their order
	waiting [simMax][]simArrival  // of each node, while this one is paused
	wakeAt  time.Time
}

// A simMsg is one message that somebody has told.
type simMsg struct {
	fate   simFate
	sender int
	proc   int
}

type simFate uint8

const (
	simWaits     simFate = iota
	simHandled           // by an instance
	simOverflow          // dead letter: no room
	simClosed            // dead letter: the manager has stopped, or the instance with it
	simUnhandled         // dead letter: the instance ended with it in its mailbox
	simUnlinked          // dead letter of a link that is cut, or of one to a process that is gone
	simDied              // on a machine that has crashed
	simFinished          // dead letter: the singleton has finished
)

var simFates = []string{"waits", "handled", "dead letter: no room", "dead letter: stopped", "dead letter: instance ended", "dead letter: no link", "died with its process", "dead letter: finished"}

// fate says what became of a message, once.
func (s *sim) fate(msg int, f simFate) {
	if was := s.told[msg].fate; was != simWaits {
		s.breach("message %d of %s is %q after it was %q", msg, s.nodes[s.told[msg].sender].address, simFates[f], simFates[was])
	}
	s.told[msg].fate = f
	s.found.fates[f]++
	if f == simHandled {
		s.checkOrder(msg)
	}
	if s.plan.graceful && f != simHandled {
		s.breach("message %d is lost in a graceful move: %s", msg, simFates[f])
	}
}

func (p *simPost) write() {
	s := p.node.sim
	if s.quiet {
		return
	}
	p.node.in(s.between(100*time.Millisecond, 500*time.Millisecond), p.write)
	if p.node.left || p.node.table.cluster == 0 || s.now < simFormed {
		return
	}
	s.told = append(s.told, simMsg{sender: p.node.index, proc: p.node.proc})
	p.take(len(s.told) - 1)
}

func (p *simPost) take(msg int) {
	if p.node.machine.phase == Ended {
		p.lose([]int{msg}, simFinished)
		return
	}
	p.relay.Take(simMessage(msg))
}

func (p *simPost) lose(msgs []int, f simFate) {
	for _, msg := range msgs {
		p.node.sim.fate(msg, f)
	}
}

// loseAll loses the messages told here that wait.
func (p *simPost) loseAll(f simFate) {
	for _, w := range p.relay.Drain() {
		p.lose([]int{w.Message.(int)}, f)
	}
}

// The methods of an Outlet.

func (p *simPost) Send(id remote.NodeID, msg wire.Any, _ extension.Metadata) {
	number := -1
	switch msg := msg.(type) {
	case wire.Message[wire.Deliver]:
		number = simUnpack(msg.Body.Payload)
	case wire.Message[wire.Return]:
		number = simUnpack(msg.Body.Payload)
	}
	p.carry(id, number, func(to *simNode, from remote.NodeID) {
		if meant := msg.Head().To; meant == (remote.NodeID{}) || meant == to.id {
			to.post.handle(from, msg)
		}
	})
}

func (p *simPost) handle(from remote.NodeID, msg wire.Any) {
	switch msg := msg.(type) {
	case wire.Message[wire.Deliver]:
		p.relay.Deliver(from, Told{Message: msg.Body.Payload})
		return
	case wire.Message[wire.Return]:
		p.relay.Returned(from, simMessage(simUnpack(msg.Body.Payload)))
	case wire.Message[wire.Barrier]:
		p.relay.Barrier(from, msg.Body)
	case wire.Message[wire.Passed]:
		p.relay.Passed(from, msg.Body)
	}
	p.plan()
	p.node.checkDrained()
}

func simMessage(msg int) Told { return Told{Message: msg} }

func (p *simPost) Deliver(d Told) { p.node.inst.tell(simNumber(d.Message)) }
func (p *simPost) Ready() bool    { return p.node.inst != nil && p.node.inst.ready }
func (p *simPost) Take(d Told)    { p.take(simNumber(d.Message)) }
func (p *simPost) Hold(d Told) Waiting {
	return Waiting{Described: d}
}
func (p *simPost) Pass(Waiting) bool         { return true }
func (p *simPost) Until() time.Time          { return time.Time{} }
func (p *simPost) Overflow(msg any)          { p.lose([]int{simNumber(msg)}, simOverflow) }
func (p *simPost) BeforeDrain(remote.NodeID) {}

func (p *simPost) Follow(remote.NodeID, any)        {}
func (p *simPost) Forward(remote.NodeID, Told) bool { return false } // it would be the same

func (p *simPost) Rerouted() {
	if p.node.machine.phase == Ended {
		p.loseAll(simFinished)
	}
}

func (p *simPost) Pack(msg any) (extension.Payload, bool) { return simPack(simNumber(msg)), true }

// simNumber returns the number of a message, which is encoded if another node has sent it.
func simNumber(msg any) int {
	if p, encoded := msg.(extension.Payload); encoded {
		return simUnpack(p)
	}
	return msg.(int)
}

// carry brings something along a connection: in order, once, or not at all when the link
// is cut or nobody is there. A message, unless it is < 0, is a dead letter then.
func (p *simPost) carry(id remote.NodeID, msg int, arrive func(to *simNode, from remote.NodeID)) {
	n, s := p.node, p.node.sim
	to, from := s.at(id.Address), n.id
	lost := func() {
		if msg >= 0 {
			s.fate(msg, simUnlinked)
		}
	}
	if !s.linked(n, to) || !to.runs {
		lost()
		return
	}
	proc, at := to.proc, max(s.now+s.delay(), p.lanes[to.index]+1)
	p.lanes[to.index] = at
	flying := 0
	if msg >= 0 {
		flying = 1
	}
	s.flying += flying
	s.in(at-s.now, func() {
		s.flying -= flying
		if to.proc != proc || !s.linked(n, to) {
			lost()
			return
		}
		to.post.receive(n.index, simArrival{msg: msg, do: func() { arrive(to, from) }})
	})
}

// A simArrival is what a connection has brought.
type simArrival struct {
	msg int
	do  func()
}

// receive handles what has come, or keeps it in order while the process is paused.
func (p *simPost) receive(from int, a simArrival) {
	n := p.node
	if !n.paused && len(p.waiting[from]) == 0 {
		a.do()
		return
	}
	p.waiting[from] = append(p.waiting[from], a)
	if len(p.waiting[from]) == 1 {
		n.awake(func() {
			all := p.waiting[from]
			p.waiting[from] = nil
			for _, a := range all {
				a.do()
			}
		})
	}
}

func simPack(msg int) extension.Payload {
	return extension.Payload{Data: binary.BigEndian.AppendUint64(nil, uint64(msg))}
}

func simUnpack(p extension.Payload) int { return int(binary.BigEndian.Uint64(p.Data)) }

func (p *simPost) reroute() {
	p.relay.Reroute()
	p.plan()
}

func (p *simPost) plan() {
	n := p.node
	p.relay.Plan(n.clock())
	at := p.relay.Wake()
	if at.IsZero() || at.Equal(p.wakeAt) {
		return
	}
	p.wakeAt = at
	n.in(max(0, at.Sub(n.clock())), func() {
		p.relay.Tick(laterOf(n.clock(), at))
		p.reroute()
		n.checkDrained()
	})
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (p *simPost) close() {
	p.relay.Close()
	p.loseAll(simClosed)
}

// die ends the post with its process.
func (p *simPost) die(f simFate) {
	p.loseAll(f)
	for _, q := range p.relay.remote.takeAll() {
		for _, w := range q.items.Drain() {
			p.lose([]int{simNumber(w.Message)}, f)
		}
	}
	for from, all := range p.waiting {
		for _, a := range all {
			if a.msg >= 0 {
				p.lose([]int{a.msg}, f)
			}
		}
		p.waiting[from] = nil
	}
}
