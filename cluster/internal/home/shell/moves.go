package shell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/history"
)

// A Noun says what has moved: in the names of spans, and in the history of a node.
type Noun struct{ Span, History string }

// ReportMove makes the span of a move that is over, and adds the move to the history of the
// coordinator's node. which says in the span what has moved.
func ReportMove(ctx context.Context, s *actor.System, what Noun, m home.Moved, which ...extension.Detail) {
	noteMove(s, what.History, m)
	traceMove(ctx, s, what.Span, m, which)
}

// traceMove makes a span with the operation "what.move". A report of a node or an agent began the
// move, so it is in no other trace.
func traceMove(ctx context.Context, s *actor.System, what string, m home.Moved, which []extension.Detail) {
	_, end := extension.StartRootSpan(ctx, s, nil, extension.Span{
		Operation: what + ".move", Began: m.Began, Details: func() []extension.Detail {
			return slices.Concat(which, []extension.Detail{
				{Name: what + ".from", Value: m.From},
				{Name: what + ".to", Value: m.To},
				{Name: what + ".cause", Value: string(m.Cause)},
			})
		},
	})
	switch {
	case end == nil:
	case m.Error != "":
		end(errors.New(m.Error))
	default:
		end(nil)
	}
}

func noteMove(s *actor.System, noun string, m home.Moved) {
	events := extension.Ensure(s, history.New)
	if m.Error != "" {
		events.Add(time.Now(), noun+" failed", m.Label, fmt.Sprintf("on %s: %s", m.To, m.Error))
		return
	}
	events.Add(time.Now(), noun+" moved", m.Label, fmt.Sprintf("from %s to %s: %s", m.From, m.To, m.Cause))
}
