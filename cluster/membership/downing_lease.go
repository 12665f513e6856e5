package membership

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
)

// A claim is the last question for the lease of the downing strategy. It stands for as
// long as the situation lasts in which it was asked; later its answer does not count.
type claim struct {
	number uint64    // 0 before the first
	since  time.Time // of the calm
	side   []ID      // that it was asked for, but for those that join
	by     time.Time // no answer by then is a no
	answer downing.Answer
}

// claimLease asks for the lease, for one side of a split.
func (m *Machine) claimLease(here []downing.Member, ask downing.Ask) {
	m.claim = claim{
		number: m.claim.number + 1,
		since:  m.calm.since,
		side:   settledOf(here),
		by:     m.now.Add(ask.Timeout),
		answer: downing.Asked,
	}
	m.do(Note{Text: "asking for the lease of downing", Address: m.self.Address, Reason: "members are unreachable"})
	m.do(AcquireLease{Number: m.claim.number, Ask: ask})
}

// claimed returns what became of the question, if it was asked in this situation.
func (m *Machine) claimed(here []downing.Member) downing.Answer {
	c := m.claim
	switch {
	case c.number == 0 || !c.since.Equal(m.calm.since) || !slices.Equal(c.side, settledOf(here)):
		return downing.NotAsked
	case c.answer == downing.Asked && !m.now.Before(c.by):
		return downing.Denied
	}
	return c.answer
}

// leased takes the answer to a question, and decides at once: a grant does not last.
func (m *Machine) leased(ev LeaseAnswered) {
	if m.phase != member || ev.Number != m.claim.number || m.claim.answer != downing.Asked || !m.now.Before(m.claim.by) {
		return
	}
	m.claim.answer = downing.Denied
	if ev.Held {
		m.claim.answer = downing.Granted
	}
	m.judge()
}

func idsOf(members []downing.Member) []ID {
	ids := make([]ID, len(members))
	for i, each := range members {
		ids[i] = ID{Address: each.Address, Incarnation: each.Incarnation}
	}
	return ids
}

// settledOf returns those that have been up. Who comes and joins changes no question.
func settledOf(members []downing.Member) []ID {
	return idsOf(slices.DeleteFunc(slices.Clone(members), func(each downing.Member) bool { return each.Joining }))
}
