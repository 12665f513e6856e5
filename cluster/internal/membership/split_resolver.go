package membership

import (
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/internal/guard"
)

type splitResolver struct {
	*core
	stability stability
	question  leaseQuestion
	ours      string // why this node has taken itself down
}

const askedTo = "asked to" // the reason of a downing on behalf of an operator

// noteOurs records why this node takes a member down, if the member is this node.
func (r *splitResolver) noteOurs(id ID, reason string) {
	if id == r.self {
		r.ours = reason
	}
}

// whyDown returns why this node is down, as far as it knows. Another node of its side may have
// decided: then all members that this node hears are down as well.
func (r *splitResolver) whyDown() string {
	if r.ours != "" {
		return r.ours
	}
	unreachable := map[ID]bool{} // to members that are down now, too
	for _, each := range r.table.rows {
		for _, id := range each.Unreachable {
			unreachable[id] = true
		}
	}
	heard := slices.DeleteFunc(r.table.ids(), func(id ID) bool { return unreachable[id] })
	others := slices.ContainsFunc(heard, func(id ID) bool { return r.table.status(id) < Down })
	if all := len(r.table.ids()); !others && len(heard) < all {
		return fmt.Sprintf("this side of a partition has given up: it had %d of %d members", len(heard), all)
	}
	return "the cluster has given this node up"
}

func (r *splitResolver) down(name string) {
	if r.phase != phaseMember {
		return
	}
	change := r.change()
	for _, id := range r.table.ids() {
		if r.table.members[id].Name == name {
			r.do(Note{Warn: true, Text: "downing", Address: id.Address, Reason: askedTo})
			r.noteOurs(id, askedTo)
			r.markDown(change, id)
		}
	}
	r.downed(change, DownAsOperatorAsks)
}

// DelayOf returns the Delay of a downing strategy; "never" if that panics.
func DelayOf(s downing.Strategy) time.Duration {
	delay, err := guard.Value(s.Delay)
	if err != nil {
		return -1
	}
	return delay
}

// judge asks the downing strategy for a decision if a member is unreachable and this node
// decides for its side.
func (r *splitResolver) judge() {
	r.stability.settleDown(r.now, DelayOf(r.set.Downing))
	unreachable := r.table.unreachable()
	if len(unreachable) == 0 {
		return
	}
	s := r.situation(unreachable)
	here, _ := s.Split()
	if !r.actsFor(here) {
		return
	}
	s.Lease = r.leaseAnswer(here)
	d := r.decision(s)
	if d.Ask.Lease != nil && s.Lease == downing.NotAsked {
		r.askForLease(here, d.Ask)
	}
	r.execute(d)
}

// decision asks the strategy. A strategy that panics takes no member down, and is asked again
// later.
func (r *splitResolver) decision(s downing.Situation) (d downing.Decision) {
	if err := guard.Apart(func() { d = r.set.Downing.Decide(s) }); err != nil {
		r.do(Note{Warn: true, Text: "downing strategy failed; it decides nothing", Reason: guard.Text(err)})
		return downing.Decision{}
	}
	return d
}

func (r *splitResolver) execute(d downing.Decision) {
	change := r.change()
	for _, id := range idsOf(d.Down) {
		r.do(Note{Warn: true, Text: "downing", Address: id.Address, Reason: d.Reason})
		r.noteOurs(id, d.Reason)
		r.markDown(change, id)
	}
	if _, self := change.members[r.self]; self {
		r.downed(change, DownOurs)
	} else {
		r.downed(change, DownOthers)
	}
}

func (r *splitResolver) downed(change table, d Decision) {
	if len(change.members) > 0 {
		r.do(Decided{d})
	}
	r.decide(change)
}

func (r *splitResolver) markDown(change table, id ID) {
	if each, known := r.table.members[id]; known && each.Status < Down {
		each.Status = Down
		change.members[id] = each
	}
}

// situation returns the input of the strategy. Exiting members are left out, as if they were
// removed.
func (r *splitResolver) situation(unreachable map[ID][]ID) downing.Situation {
	s := downing.Situation{Stable: r.now.Sub(r.stability.since)}
	s.Unstable, s.Spread = r.stability.unstableFor(r.now)
	observers := r.table.observers()
	for _, id := range r.table.ids() {
		each := r.table.members[id]
		if each.Status >= Exiting {
			continue
		}
		x := downing.Member{
			Name:        each.Name,
			Address:     id.Address,
			Incarnation: id.Incarnation,
			UpNumber:    each.UpNumber,
			Roles:       each.Roles,
			Joining:     each.UpNumber == 0,
			Leaving:     each.Status == Leaving,
			Self:        id == r.self,
		}
		for _, observer := range unreachable[id] {
			x.UnreachableBy = append(x.UnreachableBy, observer.Address)
		}
		for _, observer := range observers[id] {
			x.ObservedBy = append(x.ObservedBy, observer.Address)
		}
		s.Members = append(s.Members, x)
	}
	return s
}

func (r *splitResolver) actsFor(here []downing.Member) bool {
	side := idsOf(here)
	decider, ok := first(r.table.candidates(r.set.Leader), func(each Member) bool {
		return slices.Contains(side, each.ID())
	})
	return ok && decider.ID() == r.self
}

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
