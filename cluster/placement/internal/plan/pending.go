package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/persistence"
)

// MaxAppend is about how many bytes one append to the journal has, unless one fact has more.
const MaxAppend = 4 << 20

// PendingFacts has the results of the planner's steps until they are durable. The facts take one
// append or several. The effects are carried out when all facts are durable. A coordinator that
// ends in between has stored some of the facts, and has carried out no effects. That is harmless,
// because each fact is about a different label, and says where its actor may be already, or was.
// The zero value is empty.
type PendingFacts struct {
	Facts   []Fact
	effects []hosting.Effect
	singly  bool // the journal has rejected several facts at once, one of which may be the cause
}

// Add adds the result of a step.
func (u *PendingFacts) Add(facts []Fact, effects []hosting.Effect) {
	u.Facts, u.effects = append(u.Facts, facts...), append(u.effects, effects...)
}

// Any reports whether something is pending.
func (u *PendingFacts) Any() bool { return len(u.Facts) > 0 || len(u.effects) > 0 }

// Batch returns the facts for the next append, of about maxBytes bytes.
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

// Stored removes the first n facts, which are durable. When no others are left it returns the
// effects, to be carried out.
func (u *PendingFacts) Stored(n int) (effects []hosting.Effect, done bool) {
	if u.Facts = u.Facts[n:]; len(u.Facts) > 0 {
		return nil, false
	}
	effects = u.effects
	*u = PendingFacts{}
	return effects, true
}

// Refused handles the rejection of the next n facts because of their content. From now on they are
// stored one at a time. If a single fact is rejected, its submission fails and its spec is left
// out. Refused reports whether it makes sense to try again.
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

// withdraw removes the requests of a submission, and makes its reply an error.
func (u *PendingFacts) withdraw(f Fact, why error) {
	var left []hosting.Effect
	for _, e := range u.effects {
		switch e := e.(type) {
		case hosting.Reply:
			if d, ok := e.Value.(Decision); ok && d.Label == f.Label {
				e.Value, e.Err = nil, why
			}
			left = append(left, e)
		case hosting.Send:
			if requestOf(e) != f.Record.Request {
				left = append(left, e)
			}
		default:
			left = append(left, e)
		}
	}
	u.effects = left
}

// requestOf returns the number of the request that s sends; zero for a report request.
func requestOf(s hosting.Send) hosting.RequestID {
	switch msg := s.Msg.(type) {
	case hosting.StartRequest:
		return msg.ID
	case hosting.StopRequest:
		return msg.ID
	}
	return hosting.RequestID{}
}
