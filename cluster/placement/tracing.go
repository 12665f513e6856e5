package placement

import (
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/cluster/internal/hosting/shell"
)

// traceMove makes the span of a move that is over.
func (c *coordinator) traceMove(m hosting.Moved) {
	shell.TraceMove(c.ctx, c.ctx.System(), "placement", m,
		extension.Detail{Name: "placement.spec", Value: m.Label}, extension.Detail{Name: "placement.instance", Value: m.Request.String()})
}
