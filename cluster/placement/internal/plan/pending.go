package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/persistence"
)

// maxAppend is about how many bytes one append to the journal has, unless one fact has more.
const MaxAppend = 4 << 20

// An unsaved is what a step of the machine has led to, on its way into the journal: the
// facts, in as many appends as it takes, and the effects, which are carried out when all
// facts are durable. Any part of the facts, without the effects, is what a coordinator may
// leave behind that ends in between: each is about another label, and says where that may be
// already, or where it was. The zero value is empty.
type PendingFacts struct {
	Facts   []Fact
	effects []Effect
	singly  bool // the journal has refused several at once, one of which may be to blame
}

// add adds what a step has led to.
func (u *PendingFacts) Add(facts []Fact, effects []Effect) {
	u.Facts, u.effects = append(u.Facts, facts...), append(u.effects, effects...)
}

// any reports whether something waits.
func (u *PendingFacts) Any() bool { return len(u.Facts) > 0 || len(u.effects) > 0 }

// batch returns the facts to be stored next, in one append of about so many bytes.
func (u *PendingFacts) Batch(maxBytes int) []Fact {
	size := 0
	for i, f := range u.Facts {
		size += f.size()
		if i > 0 && (u.singly || size > maxBytes) {
			return u.Facts[:i]
		}
	}
	return u.Facts
}

// stored takes note that the first n facts are durable. When there are no others it returns
// the effects, to be carried out.
func (u *PendingFacts) Stored(n int) (effects []Effect, done bool) {
	if u.Facts = u.Facts[n:]; len(u.Facts) > 0 {
		return nil, false
	}
	effects = u.effects
	*u = PendingFacts{}
	return effects, true
}

// refused does what can be done when the journal does not take the next n facts because of
// what they are: it takes them one at a time, or without a spec that has been submitted. That
// submission fails. It reports whether it is worth trying again.
func (u *PendingFacts) Refused(n int, why error, m *Planner, now time.Time) bool {
	switch {
	case errors.Is(why, persistence.ErrConflict) || n == 0:
		return false
	case n > 1:
		u.singly = true
		return true
	case !u.Facts[0].submits():
		return false
	}
	f := u.Facts[0]
	u.Facts = slices.Clone(u.Facts[1:])
	u.withdraw(f, fmt.Errorf("%w: the journal does not take %q: %w", ErrInvalid, f.Label, why))
	u.Add(m.Step(withdrawn{f.Label}, now))
	return true
}

// withdraw has nothing asked of any node for a submission, which fails.
func (u *PendingFacts) withdraw(f Fact, why error) {
	var left []Effect
	for _, e := range u.effects {
		switch e := e.(type) {
		case Reply:
			if d, ok := e.Value.(Decision); ok && d.Label == f.Label {
				e.Value, e.Err = nil, why
			}
			left = append(left, e)
		case Send:
			if e.request() != f.Record.Request {
				left = append(left, e)
			}
		default:
			left = append(left, e)
		}
	}
	u.effects = left
}

// request returns the number of what is to be started or stopped; zero when nothing is.
func (s Send) request() RequestID {
	switch msg := s.Msg.(type) {
	case StartRequest:
		return msg.ID
	case StopRequest:
		return msg.ID
	}
	return RequestID{}
}
