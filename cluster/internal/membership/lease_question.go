package membership

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
)

// A leaseQuestion is the latest request for the lease of the downing strategy. It is valid only
// while the situation in which it was asked lasts; a later answer does not count.
type leaseQuestion struct {
	number uint64    // 0 before the first request
	since  time.Time // when the situation became stable
	side   []ID      // the side that it was asked for, without joining members
	by     time.Time // no answer by then counts as no
	answer downing.Answer
}

func idsOf(members []downing.Member) []ID {
	ids := make([]ID, len(members))
	for i, each := range members {
		ids[i] = ID{Address: each.Address, Incarnation: each.Incarnation}
	}
	return ids
}

func settledOf(members []downing.Member) []ID {
	return idsOf(slices.DeleteFunc(slices.Clone(members), func(each downing.Member) bool { return each.Joining }))
}

func (r *splitResolver) askForLease(here []downing.Member, ask downing.Ask) {
	r.question = leaseQuestion{
		number: r.question.number + 1,
		since:  r.stability.since,
		side:   settledOf(here),
		by:     r.now.Add(ask.Timeout),
		answer: downing.Asked,
	}
	r.do(Note{Text: "asking for the lease of downing", Address: r.self.Address, Reason: "members are unreachable"})
	r.do(AcquireLease{Number: r.question.number, Ask: ask})
}

// leaseAnswer returns the state of the request, if it was made in this situation.
func (r *splitResolver) leaseAnswer(here []downing.Member) downing.Answer {
	c := r.question
	switch {
	case c.number == 0 || !c.since.Equal(r.stability.since) || !slices.Equal(c.side, settledOf(here)):
		return downing.NotAsked
	case c.answer == downing.Asked && !r.now.Before(c.by):
		return downing.Denied
	}
	return c.answer
}

// leaseAnswered stores the answer to a request, and decides at once, because a grant does not
// last.
func (r *splitResolver) leaseAnswered(ev LeaseAnswered) {
	if r.phase != phaseMember || ev.Number != r.question.number || r.question.answer != downing.Asked || !r.now.Before(r.question.by) {
		return
	}
	r.question.answer = downing.Denied
	if ev.Held {
		r.question.answer = downing.Granted
	}
	r.judge()
}
