package placement

import (
	"errors"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/cluster/internal/hosting"
)

// traceMove makes the span of a move that is over. A report of a node or an agent began the move,
// so it is in no other trace.
func (c *coordinator) traceMove(m hosting.Moved) {
	_, end := extension.StartRootSpan(c.ctx, c.ctx.System(), nil, extension.Span{
		Operation: "placement.move", Began: m.Began, Details: func() []extension.Detail {
			return []extension.Detail{
				{Name: "placement.spec", Value: m.Label},
				{Name: "placement.instance", Value: m.Request.String()},
				{Name: "placement.from", Value: m.From},
				{Name: "placement.to", Value: m.To},
				{Name: "placement.cause", Value: string(m.Cause)},
			}
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
