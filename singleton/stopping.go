package singleton

import (
	"time"

	"github.com/understudy-go/understudy/internal/node"
)

// stopping is how far this node is with an instance that is to end. One that ends neither by
// its stop message nor at once is in a handler that does not return; nothing can end that. It
// handles no other message, and its context has ended. So it is given up after a while, as one
// on a node that was removed is: others get permission, and nothing starts on this node until
// it has ended after all.
type stopping struct {
	step  stoppingStep
	since time.Time // when the instance was told to stop
	at    time.Time // of the next step; zero when there is none
}

type stoppingStep uint8

const (
	notStopping stoppingStep = iota
	told                     // to stop by itself
	forced                   // to stop after the message that it is at
	stuck                    // has not
	givenUp                  // counts as ended
)

// forcedPatience is how long an instance may take to end after the message that it is at,
// before it is called stuck: at this time it is mostly handling none.
const forcedPatience = 500 * time.Millisecond

// pressOn takes the next step, when its time has come.
func (m *machine) pressOn(now time.Time) []action {
	s := &m.stopping
	if s.at.IsZero() || now.Before(s.at) {
		return nil
	}
	s.step++
	switch s.step {
	case forced:
		s.at = now.Add(forcedPatience)
		return []action{stopInstance{now: true}}
	case stuck:
		s.at = now.Add(m.stuckFor())
		out := []action{reportStuck{since: s.since, until: s.at}}
		for _, w := range m.waiters {
			out = append(out, m.holdUp(w))
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

// stuckFor is how long a stuck instance counts as one that may do something: where a journal
// fences its writes, no time.
func (m *machine) stuckFor() time.Duration {
	if m.known.Fenced {
		return 0
	}
	return m.removalMargin()
}

// holdUp says why r gets no answer yet.
func (m *machine) holdUp(r requested) action {
	return sendHeldUp{to: r.from, attempt: r.attempt, since: m.stopping.since, until: m.stopping.at}
}

// occupied reports whether an instance runs here that counts.
func (m *machine) occupied() bool { return m.alive && m.stopping.step != givenUp }

// onHeldUp notes why there is no answer from a member that was asked.
func (m *machine) onHeldUp(h heldUp) {
	if m.phase != Asking || h.attempt != m.attempt || m.grants[h.from] || m.heldUpBy(h.from) != nil {
		return
	}
	m.heldUps = append(m.heldUps, h)
}

func (m *machine) heldUpBy(id node.ID) *heldUp {
	for i, h := range m.heldUps {
		if h.from == id {
			return &m.heldUps[i]
		}
	}
	return nil
}
