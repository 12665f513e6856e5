package handover

import (
	"time"

	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/remote"
)

// stopping is how far this node is with an instance that is to end. An instance that stops neither
// by its stop message nor when its context is cancelled is in a handler that does not return.
// Nothing can end that handler, but the instance handles no other message. So it is given up after
// a while, like one on a node that was removed: requests of others are granted, and no instance
// starts on this node until it has ended.
type stopping struct {
	step  stoppingStep
	since time.Time // when the instance was told to stop
	at    time.Time // of the next step; zero without a next step
}

type stoppingStep uint8

const (
	notStopping stoppingStep = iota
	told                     // to stop by itself
	forced                   // to stop after the message that it is handling
	stuck                    // it has not stopped
	givenUp                  // it counts as ended
)

// forcedPatience is how long an instance may take to end after the message that it is handling,
// before it is called stuck. Most instances are handling none at this time.
const forcedPatience = 500 * time.Millisecond

func (m *Machine) pressOn(now time.Time) []Action {
	s := &m.stopping
	if s.at.IsZero() || now.Before(s.at) {
		return nil
	}
	s.step++
	switch s.step {
	case forced:
		s.at = now.Add(forcedPatience)
		return []Action{StopInstance{AtOnce: true}}
	case stuck:
		s.at = now
		if !m.terms.known.Fenced { // otherwise the journal refuses what it writes
			s.at = now.Add(m.cfg.removalMargin(&m.topo))
		}
		out := []Action{ReportStuck{Host: m.topo.Self, Since: s.since, Until: s.at}}
		for _, r := range m.waiters {
			out = append(out, m.holdUp(r, now))
		}
		if now.Before(s.at) {
			return out
		}
		return append(out, m.pressOn(now)...)
	case givenUp:
		s.at = time.Time{}
		return m.afterInstance(now)
	case notStopping, told:
	}
	return nil
}

// stuckSince returns when the instance here was told to stop, if it is stuck or given up; zero
// otherwise.
func (s *stopping) stuckSince() time.Time {
	if s.step < stuck {
		return time.Time{}
	}
	return s.since
}

// A drain is the work of a manager before its node leaves, so that leaving loses no message. First
// all members confirm that they no longer send messages here. Messages between two nodes stay in
// order, so a member that has confirmed has no message in flight to this node. Then the next host
// confirms that none of the messages sent to it waits.
type drain struct {
	begun     bool                   // the members are to confirm
	confirmed map[remote.NodeID]bool // those that have

	settle recall.Barrier // to the next host
	sends  uint64         // how many messages had been sent when it was asked
	rounds int            // how many times it has answered
}

// maxRounds bounds the questions to the next host, because actors here may go on sending.
const maxRounds = 10

// begin begins to drain. hosted means that other nodes may send messages here. It reports whether
// the members must be told.
func (d *drain) begin(hosted bool) (tell bool) {
	if d.begun || !hosted {
		return false
	}
	d.begun, d.confirmed = true, make(map[remote.NodeID]bool)
	return true
}

func (d *drain) confirm(from remote.NodeID) {
	if d.begun {
		d.confirmed[from] = true
	}
}

// unconfirmed returns the members that have not confirmed yet and can be reached.
func (d *drain) unconfirmed(topo *directory.Topology) []remote.NodeID {
	var ids []remote.NodeID
	for _, p := range topo.Members {
		if d.begun && p.ID != topo.Self && p.Reachable && !d.confirmed[p.ID] {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// askHost returns whether to ask host about the messages sent there, and whether there is something
// to wait for. sends counts the messages sent so far.
func (d *drain) askHost(host remote.NodeID, sends uint64) (ask, waits bool) {
	switch {
	case host == remote.NodeID{} || d.rounds >= maxRounds:
		return false, false
	case d.settle.To() == host:
		return false, true
	case d.rounds > 0 && d.sends == sends: // nothing was sent since it has answered
		return false, false
	}
	d.settle.Raise(host)
	d.sends = sends
	return true, true
}

func (d *drain) settled(number uint64) {
	if d.settle.Pass(number) {
		d.rounds++
	}
}
