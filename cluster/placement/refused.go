package placement

import (
	"fmt"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// Refused handles a fact that the journal rejects because of its content. The submission of a spec
// fails, and its spec is left out; see journaled.Refuser. No request to start it has been sent.
func (m *planner) Refused(f home.Fact, why error, effects []home.Effect, now time.Time) (facts []home.Fact, left []home.Effect, ok bool) {
	if !submits(f) {
		return nil, effects, false
	}
	_, label, _ := strings.Cut(f.Key, "/")
	why = fmt.Errorf("%w: the journal does not take %q: %w", ErrInvalid, label, why)
	for _, e := range effects {
		switch e := e.(type) {
		case home.Reply:
			if answers(e, label) {
				e.Value, e.Err = nil, why
			}
			left = append(left, e)
		case home.Send:
			if start, starts := e.Msg.(home.StartRequest); !starts || start.Label != label {
				left = append(left, e)
			}
		default:
			left = append(left, e)
		}
	}
	facts, more := m.Step(withdrawn{f}, now)
	return facts, append(left, more...), true
}

// answers reports whether r says where the actor of a label is.
func answers(r home.Reply, label string) bool {
	switch v := r.Value.(type) {
	case Decision:
		return v.Label == label
	case Ownership:
		return v.Label == label
	}
	return false
}
