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

// claimLease asks for the lease, for one side of a split.
func (r *splitResolver) claimLease(here []downing.Member, ask downing.Ask) {
	r.claim = claim{
		number: r.claim.number + 1,
		since:  r.calm.since,
		side:   settledOf(here),
		by:     r.now.Add(ask.Timeout),
		answer: downing.Asked,
	}
	r.do(Note{Text: "asking for the lease of downing", Address: r.self.Address, Reason: "members are unreachable"})
	r.do(AcquireLease{Number: r.claim.number, Ask: ask})
}

// claimed returns what became of the question, if it was asked in this situation.
func (r *splitResolver) claimed(here []downing.Member) downing.Answer {
	c := r.claim
	switch {
	case c.number == 0 || !c.since.Equal(r.calm.since) || !slices.Equal(c.side, settledOf(here)):
		return downing.NotAsked
	case c.answer == downing.Asked && !r.now.Before(c.by):
		return downing.Denied
	}
	return c.answer
}

// leased takes the answer to a question, and decides at once: a grant does not last.
func (r *splitResolver) leased(ev LeaseAnswered) {
	if r.phase != member || ev.Number != r.claim.number || r.claim.answer != downing.Asked || !r.now.Before(r.claim.by) {
		return
	}
	r.claim.answer = downing.Denied
	if ev.Held {
		r.claim.answer = downing.Granted
	}
	r.judge()
}
