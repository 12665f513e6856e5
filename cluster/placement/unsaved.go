package placement

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/persistence"
)

// maxAppend is about how many bytes one append to the journal has, unless one fact has more.
const maxAppend = 4 << 20

// An unsaved is what a step of the machine has led to, on its way into the journal: the
// facts, in as many appends as it takes, and the effects, which are carried out when all
// facts are durable. Any part of the facts, without the effects, is what a coordinator may
// leave behind that ends in between: each is about another label, and says where that may be
// already, or where it was. The zero value is empty.
type unsaved struct {
	facts   []fact
	effects []effect
	singly  bool // the journal has refused several at once, one of which may be to blame
}

// add adds what a step has led to.
func (u *unsaved) add(facts []fact, effects []effect) {
	u.facts, u.effects = append(u.facts, facts...), append(u.effects, effects...)
}

// any reports whether something waits.
func (u *unsaved) any() bool { return len(u.facts) > 0 || len(u.effects) > 0 }

// batch returns the facts to be stored next, in one append of about so many bytes.
func (u *unsaved) batch(maxBytes int) []fact {
	size := 0
	for i, f := range u.facts {
		size += f.size()
		if i > 0 && (u.singly || size > maxBytes) {
			return u.facts[:i]
		}
	}
	return u.facts
}

// stored takes note that the first n facts are durable. When there are no others it returns
// the effects, to be carried out.
func (u *unsaved) stored(n int) (effects []effect, done bool) {
	if u.facts = u.facts[n:]; len(u.facts) > 0 {
		return nil, false
	}
	effects = u.effects
	*u = unsaved{}
	return effects, true
}

// refused does what can be done when the journal does not take the next n facts because of
// what they are: it takes them one at a time, or without a spec that has been submitted. That
// submission fails. It reports whether it is worth trying again.
func (u *unsaved) refused(n int, why error, m *machine, now time.Time) bool {
	switch {
	case errors.Is(why, persistence.ErrConflict) || n == 0:
		return false
	case n > 1:
		u.singly = true
		return true
	case !u.facts[0].submits():
		return false
	}
	f := u.facts[0]
	u.facts = slices.Clone(u.facts[1:])
	u.withdraw(f, fmt.Errorf("%w: the journal does not take %q: %w", ErrInvalid, f.Label, why))
	u.add(m.step(withdrawn{f.Label}, now))
	return true
}

// withdraw has nothing asked of any node for a submission, which fails.
func (u *unsaved) withdraw(f fact, why error) {
	var left []effect
	for _, e := range u.effects {
		switch e := e.(type) {
		case reply:
			if d, ok := e.value.(Decision); ok && d.Label == f.Label {
				e.value, e.err = nil, why
			}
			left = append(left, e)
		case send:
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
func (s send) request() requestID {
	switch msg := s.msg.(type) {
	case startRequest:
		return msg.ID
	case stopRequest:
		return msg.ID
	}
	return requestID{}
}
