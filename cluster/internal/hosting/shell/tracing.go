package shell

import (
	"context"
	"errors"
	"slices"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/cluster/internal/hosting"
)

// TraceMove makes the span of a move that is over, with the operation "what.move". A report of a
// node or an agent began the move, so it is in no other trace. which says what has moved.
func TraceMove(ctx context.Context, s *actor.System, what string, m hosting.Moved, which ...extension.Detail) {
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
