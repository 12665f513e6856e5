package placement

import (
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/cluster/internal/hosting/shell"
)

// traceMove makes the span of a move that is over, and adds it to the history of the node.
func (c *coordinator) traceMove(m hosting.Moved) {
	shell.NoteMove(c.ctx.System(), "placed actor", m)
	shell.TraceMove(c.ctx, c.ctx.System(), "placement", m,
		extension.Detail{Name: "placement.spec", Value: m.Label}, extension.Detail{Name: "placement.instance", Value: m.Request.String()})
}
