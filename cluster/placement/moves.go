package placement

import (
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/internal/extension"
)

// moved reports a move that is over.
func (c *coordinator) moved(m home.Moved) {
	shell.ReportMove(c.Ctx, c.Ctx.System(), shell.Noun{Span: "placement", History: "placed actor"}, m,
		extension.Detail{Name: "placement.spec", Value: m.Label}, extension.Detail{Name: "placement.instance", Value: m.Request.String()})
}
