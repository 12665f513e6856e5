package handover

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/remote"
)

// simLaws are the laws of every run:
//
//   - No generation is used twice. Terms strictly increase, and within a term the sequence number
//     increases by one. With a lease this always holds. Without one it holds while a member lives
//     that has heard of them, except for a node that may run an instance by mistake, see below.
//     With a source of terms no term is used twice, even after the whole cluster has stopped.
//   - After a journal with epochs has accepted a write of an instance, it accepts none of an
//     instance with a lower generation.
//   - With a lease two instances never run at once, that is, neither paused and both with a valid
//     lease.
//   - Without a lease two instances run at once only if the node of one has removed the other's
//     node without a sign that it has ended, or if a journal fences them and the earlier one was
//     given up because it did not stop. Unless they are fenced, that process must also have been
//     paused for longer than the margin allows. The overlap lasts at most as long as a node needs
//     to notice that it is down and to stop its instance.
//   - After the last fault there is exactly one instance, and it works.
//   - When the singleton has finished, a member that has known it for long enough to tell another
//     starts no instance. After the last fault, if one node knows it all do, no instance runs, and
//     the lease is free.
//   - A message is handled at most once, or becomes a dead letter, or was in a process that has
//     crashed; none is forgotten. If nodes only leave, all messages are handled, those of one
//     sender in order.
type simLaws struct {
	broken  string
	last    tenure.Generation // the latest that began a term
	lastOn  remote.NodeID
	started tenure.Generation // the latest of all
	seqs    map[uint64]uint64
	lifted  map[tenure.Generation]bool // to which the journal has raised another
	removed map[remote.NodeID]bool     // by somebody, without a sign of the end
	since   time.Duration              // since when account has counted
	running int                        // how many instances then ran
	length  time.Duration              // of the present overlap
	handled [simMax]int                // the last message of each sender
}

// newCluster forgets what nobody can remember.
func (l *simLaws) newCluster(p simPlan) {
	if !p.mode.leased() && !p.sourced {
		l.last, l.started, l.seqs, l.lifted = tenure.Generation{}, tenure.Generation{}, map[uint64]uint64{}, map[tenure.Generation]bool{}
	}
}

func (s *sim) checkGeneration(i *simInstance) {
	l, gen := &s.laws, i.gen
	s.checkFinished(i.node)
	again := gen.Seq == 1 && gen.Term <= l.last.Term && (s.outdated(i.node) || s.forgotten(i.node, gen.Term))
	// An instance that is started under a generation to which another was raised cannot know that
	// yet, and is raised itself.
	if next := l.seqs[gen.Term] + 1; gen.Seq != next && !again && !l.lifted[gen] {
		s.breach("%s starts %v, which is not number %d of its term", short(i.node.id), gen, next)
	}
	if s.plan.sourced && gen.Seq == 1 && l.seqs[gen.Term] > 0 {
		s.breach("%s starts %v, whose term has been used", short(i.node.id), gen)
	}
	if !l.lifted[gen] {
		l.seqs[gen.Term] = gen.Seq
	}
	if s.plan.mode.leased() {
		if !l.started.Less(gen) {
			s.breach("%s starts %v after %v", short(i.node.id), gen, l.started)
		}
		l.started = gen
	}
	if gen.Seq > 1 {
		return
	}
	if gen.Term <= l.last.Term && !again {
		s.breach("%s starts %v after %v of %s", short(i.node.id), gen, l.last, short(l.lastOn))
	}
	l.last, l.lastOn = gen, i.node.id
}

// raised notes that an instance goes on under the generation that its journal says.
func (s *sim) raised(i *simInstance) {
	l := &s.laws
	if !i.asked.Less(i.gen) {
		return
	}
	s.note(i.node, "%v goes on as %v", i.asked, i.gen)
	// Another node may have begun later ones that it could not claim.
	l.seqs[i.gen.Term] = max(l.seqs[i.gen.Term], i.gen.Seq)
	l.lifted[i.gen] = true
	if l.last.Term < i.gen.Term {
		l.last, l.lastOn = i.gen, i.node.id
	}
	l.started = newerOf(l.started, i.gen)
}

// outdated reports whether a node that begins a term may not know of later ones: it has been
// removed and could not notice.
func (s *sim) outdated(n *simNode) bool {
	return s.laws.removed[n.id] && !s.plan.mode.leased() && (s.plan.mode.fenced() || n.pausedFor() > s.sparePause())
}

// forgotten reports whether none of the members that n knows has heard of a term: those
// who had have ended, or have been removed.
func (s *sim) forgotten(n *simNode, term uint64) bool {
	for i, o := range s.nodes {
		e := n.table.entries[i]
		if o != n && o.runs && e.member() && uint64(e.incarnation) == o.id.Incarnation && o.machine.terms.known.Term >= term {
			return false
		}
	}
	return !s.plan.mode.leased() && !s.plan.sourced
}

// noteFinish notes when a node has heard that the singleton has finished.
func (s *sim) noteFinish(n *simNode) {
	if n.ended == 0 && n.machine.terms.known.Finished {
		s.note(n, "knows that the singleton has finished")
		n.ended = s.now
	}
}

// simTelling is how long members that know each other, and run, may take to tell: else they
// lose sight of each other.
const simTelling = 2 * (simDetection + simStable + time.Second)

// checkFinished looks whether a node that starts an instance should know better.
func (s *sim) checkFinished(n *simNode) {
	sees := func(by, who *simNode) bool {
		e := by.table.entries[who.index]
		return by.table.cluster != 0 && e.member() && uint64(e.incarnation) == who.id.Incarnation
	}
	for _, o := range s.nodes {
		since := o.ended
		if o != n {
			since = max(since, o.joined, n.joined, n.woken)
		}
		if o.runs && o.ended > 0 && s.now-since > simTelling && (o == n || sees(n, o) && sees(o, n)) {
			s.breach("%s starts an instance, though %s knows since %.3fs that the singleton has finished", short(n.id), short(o.id), o.ended.Seconds())
		}
	}
}

// checkOverlap looks whether others may run while an instance of n begins to.
func (s *sim) checkOverlap(n *simNode) {
	if n.inst == nil || !n.inst.runs() {
		return
	}
	for _, o := range s.nodes {
		if o == n || o.inst == nil || !o.inst.runs() {
			continue
		}
		later, earlier := n, o
		if n.inst.before(o.inst) {
			later, earlier = o, n
		}
		if why := s.forbidden(later, earlier); why != "" {
			s.breach("%s runs %v and %s runs %v: %s", short(later.id), later.inst.gen, short(earlier.id), earlier.inst.gen, why)
		}
	}
}

// forbidden says why an instance may not run while an earlier one does.
func (s *sim) forbidden(later, earlier *simNode) string {
	removed := func(by, who *simNode) bool {
		e := by.table.entries[who.index]
		return e.status == simRemoved && uint64(e.incarnation) == who.id.Incarnation
	}
	gone := earlier // or the later one, which has begun only now, woken up with the answer of a source
	if removed(earlier, later) {
		gone = later
	}
	switch {
	case s.plan.mode.leased():
		return "both leases are valid"
	case s.plan.mode.fenced() && earlier.machine.stopping.step == givenUp:
		return ""
	case !removed(later, earlier) && !removed(earlier, later):
		return "neither has removed the other"
	case !s.plan.mode.fenced() && gone.pausedFor() <= s.sparePause():
		return "the margin should have kept them apart"
	}
	return ""
}

// noticing is how long a node that is cut off needs to know, and to end its instance.
func (s *sim) noticing() time.Duration {
	d := simDetection + simStable + 3*simBeat + s.plan.lag + simStop + simLastStop + simAct
	return time.Duration(float64(d) / (1 - s.plan.drift))
}

// simAct is how long an act under way may hold up the end of an instance.
const simAct = 1100 * time.Millisecond

// sparePause is how long a pause the margin bears.
func (s *sim) sparePause() time.Duration {
	return time.Duration(float64(simMargin)/(1+s.plan.drift)) - s.noticing()
}

// account counts how long more than one instance has been running.
func (s *sim) account() {
	l := &s.laws
	if l.running > 1 {
		d := s.now - l.since
		s.found.overlap += d
		l.length += d
		if most := s.noticing() + 2*time.Second; l.length > most && !s.plan.mode.leased() {
			s.breach("%d instances have been running for %v, at most %v are explained", l.running, l.length, most)
		}
	}
	l.since, l.running = s.now, 0
	for _, n := range s.nodes {
		if n.inst != nil && n.inst.runs() {
			l.running++
		}
	}
	if l.running < 2 {
		l.length = 0
	}
}

// unrest says what is not as it should be in the end.
func (s *sim) unrest() string {
	hosts := 0
	finished := slices.ContainsFunc(s.nodes, func(n *simNode) bool { return n.runs && n.ended > 0 })
	for _, n := range s.nodes {
		switch {
		case !n.runs || n.paused:
			return n.address + " does not run"
		case n.self().status != simUp:
			return short(n.id) + " is not up"
		case finished && (n.machine.phase != Ended || n.inst != nil):
			return short(n.id) + " is " + string(n.machine.phase) + ", and the singleton has finished"
		case finished:
		case n.inst != nil:
			hosts++
			if n.machine.phase != Host || !n.inst.ready || !n.inst.acted || s.journal.writer != n.inst || s.now-s.journal.wrote > time.Second {
				return short(n.id) + " does not work"
			}
		case n.machine.phase != Standby:
			return short(n.id) + " is " + string(n.machine.phase)
		}
	}
	switch {
	case finished && s.store.holder != nil && s.storeTime() < s.store.expires:
		return "somebody holds the lease"
	case finished:
		return ""
	}
	if hosts != 1 {
		return "not one host, but " + string(rune('0'+hosts))
	}
	return ""
}

func (s *sim) checkOrder(msg int) {
	sender := s.told[msg].sender
	if s.plan.graceful && msg < s.laws.handled[sender] {
		s.breach("message %d of %s is handled after %d", msg, s.nodes[sender].address, s.laws.handled[sender])
	}
	s.laws.handled[sender] = msg
}

// checkMessages is the end: what has no fate must be waiting somewhere.
func (s *sim) checkMessages() {
	waits := s.flying
	for _, n := range s.nodes {
		waits += n.post.relay.Waiting()
		if n.inst != nil {
			waits += len(n.inst.box)
		}
	}
	forgotten := -waits
	for _, m := range s.told {
		if m.fate == simWaits {
			forgotten++
		}
	}
	if forgotten != 0 {
		s.breach("%d messages have been forgotten", forgotten)
	}
}
