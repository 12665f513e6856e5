package plan

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/hosting"
)

// Refused handles a fact that the journal rejects because of its content. The submission of a spec
// fails, and its spec is left out; see journaled.Refuser.
func (m *Planner) Refused(f Fact, why error, effects []hosting.Effect, now time.Time) (facts []Fact, left []hosting.Effect, ok bool) {
	if !f.submits() {
		return nil, effects, false
	}
	left = withdraw(f, fmt.Errorf("%w: the journal does not take %q: %w", ErrInvalid, f.Label, why), effects)
	facts, more := m.Step(withdrawn{f.Label}, now)
	return facts, append(left, more...), true
}

// withdraw removes the requests of a submission, and makes its reply an error.
func withdraw(f Fact, why error, effects []hosting.Effect) (left []hosting.Effect) {
	for _, e := range effects {
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
	return left
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
