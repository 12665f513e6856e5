package singleton

import (
	"encoding/binary"
	"time"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
)

// A simPost is the mail of one node, as a manager drives it; see delivery.go. Messages are
// numbers. What is decided is decided by the code of the manager.
type simPost struct {
	node    *simNode
	mail    mail[int]
	guests  guests
	look    look
	lanes   [simMax]time.Duration // when the last message to a node arrives: they keep their order
	waiting [simMax][]simArrival  // of each node, while this one is paused
	wakeAt  time.Time

	hosted   node.ID
	farewell farewell
	goodbyes look
	parted   map[node.ID]bool
	settlers map[node.ID]uint64
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

// write tells the singleton something from time to time.
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
	if p.mail.clear() {
		p.send(msg)
		return
	}
	p.lose(p.mail.hold(msg), simOverflow)
}

func (p *simPost) lose(msgs []int, f simFate) {
	for _, msg := range msgs {
		p.node.sim.fate(msg, f)
	}
}

func (p *simPost) send(msg int) {
	if p.mail.route.kind == toInstance {
		p.node.inst.tell(msg)
		return
	}
	p.mail.sent()
	p.carry(p.mail.route.peer, msg, func(to *simNode, from node.ID) { to.post.onDeliver(from, simPack(msg)) })
}

// carry brings something along a connection: in order, once, or not at all when the link
// is cut or nobody is there. A message, unless it is < 0, is a dead letter then.
func (p *simPost) carry(id node.ID, msg int, arrive func(to *simNode, from node.ID)) {
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

func (p *simPost) onDeliver(from node.ID, load extension.Payload) {
	msg := simUnpack(load)
	switch p.mail.route.kind {
	case toInstance:
		p.node.inst.tell(msg)
	case toSelf:
		if over, overflow := p.guests.lodge(from, load, time.Time{}); overflow {
			p.lose([]int{simUnpack(over)}, simOverflow)
		}
	case toNobody, toPeer:
		if p.node.machine.phase == Ended {
			p.lose([]int{msg}, simFinished)
			return
		}
		if !p.guests.hasLeft(from) {
			p.giveBack(from, load)
		} else {
			p.take(msg)
		}
	}
}

func (p *simPost) giveBack(to node.ID, load extension.Payload) {
	msg := simUnpack(load)
	p.carry(to, msg, func(to *simNode, from node.ID) {
		over, recall := to.post.mail.gaveBack(msg, from)
		to.post.lose(over, simOverflow)
		if recall {
			to.post.sendRecall()
		}
		to.post.flush()
		to.post.plan()
	})
}

func (p *simPost) sendRecall() {
	peer, number := p.mail.sentTo, p.mail.recall
	p.carry(peer, -1, func(to *simNode, from node.ID) {
		if to.id == peer {
			to.post.onRecall(from, number)
		}
	})
}

func (p *simPost) onRecall(from node.ID, number uint64) {
	for _, load := range p.guests.takeFrom(from.Address) {
		p.giveBack(from, load)
	}
	p.answerSettlers()
	p.carry(from, -1, func(to *simNode, _ node.ID) {
		if to.id == from {
			to.post.mail.recalled(number)
			to.post.flush()
			to.post.plan()
			to.checkDrained()
		}
	})
}

func (p *simPost) reroute() {
	if p.node.machine.phase == Ended {
		p.lose(p.mail.drain(), simFinished)
	}
	if p.mail.redirect(p.route()) {
		p.sendRecall()
	}
	p.flush()
	p.plan()
}

func (p *simPost) route() route {
	return p.node.machine.route(p.node.inst != nil && p.node.inst.ready, p.parted)
}

func (p *simPost) flush() {
	if p.mail.route.kind != toSelf {
		for _, box := range p.guests.takeAll() {
			for _, load := range box.drain() {
				p.onDeliver(box.from, load)
			}
		}
	}
	p.answerSettlers()
	for msg, ok := p.mail.next(); ok; msg, ok = p.mail.next() {
		p.send(msg)
	}
}

// plan looks after what is held up, in a while.
func (p *simPost) plan() {
	n := p.node
	p.look.plan(n.clock(), p.mail.closed || p.mail.refused)
	at := p.look.at
	if g := p.goodbyes.at; at.IsZero() || !g.IsZero() && g.Before(at) {
		at = g
	}
	if at.IsZero() || at.Equal(p.wakeAt) {
		return
	}
	p.wakeAt = at
	n.in(max(0, at.Sub(n.clock())), func() {
		now := laterOf(n.clock(), at)
		if p.look.due(now) && p.mail.lookAfter(now.Sub(p.look.since), &n.machine.topo) {
			p.sendRecall()
		}
		if p.goodbyes.due(now) {
			p.sayFarewell()
			p.askSettled()
		}
		p.flush()
		p.plan()
		n.checkDrained()
	})
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// waitsToLeave is that of the manager.
func (p *simPost) waitsToLeave() bool {
	n := p.node
	waits := false
	if !n.machine.topo.Down {
		if p.farewell.say(p.hosted == n.id) {
			p.sayFarewell()
		}
		var ask bool
		if ask, waits = waitsToLeave(&p.farewell, n.machine, &p.mail); ask {
			p.askSettled()
		}
	}
	p.goodbyes.plan(n.clock(), waits)
	p.plan()
	return waits || p.mail.closed
}

func (p *simPost) sayFarewell() {
	for _, id := range p.farewell.unaware(p.node.machine.topo) {
		p.carry(id, -1, func(to *simNode, from node.ID) {
			if to.id == id {
				to.post.onFarewell(from)
			}
		})
	}
}

func (p *simPost) onFarewell(from node.ID) {
	p.parted[from] = true
	p.reroute()
	if p.mail.part(from) {
		p.sendRecall()
	}
	p.carry(from, -1, func(to *simNode, heard node.ID) {
		if to.id == from {
			to.post.farewell.heard(heard)
			to.checkDrained()
		}
	})
	p.plan()
}

func (p *simPost) askSettled() {
	peer, number := p.farewell.to, p.farewell.number
	if peer == (node.ID{}) {
		return
	}
	p.carry(peer, -1, func(to *simNode, from node.ID) {
		if to.id == peer {
			to.post.settlers[from] = number
			to.post.answerSettlers()
		}
	})
}

func (p *simPost) answerSettlers() {
	for _, n := range p.node.sim.nodes { // in order, as a schedule is to be played again
		number, asks := p.settlers[n.id]
		if !asks || p.guests.has(n.id) {
			continue
		}
		delete(p.settlers, n.id)
		p.carry(n.id, -1, func(to *simNode, _ node.ID) {
			to.post.farewell.settled(number)
			to.checkDrained()
		})
	}
}

// close gives up what waits; what other nodes have sent goes back to them.
func (p *simPost) close() {
	p.mail.redirect(route{kind: toNobody})
	p.flush()
	p.lose(p.mail.drain(), simClosed)
}

// die ends the post with its process.
func (p *simPost) die(f simFate) {
	p.lose(p.mail.drain(), f)
	for _, box := range p.guests.takeAll() {
		for _, load := range box.drain() {
			p.lose([]int{simUnpack(load)}, f)
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
