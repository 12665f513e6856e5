package placement

import (
	"context"

	"github.com/understudy-go/understudy/cluster/placement/internal/plan"
	"github.com/understudy-go/understudy/internal/status"
)

// section is what the page of a node shows: what the coordinator knows.
func (c *Coordinator) section() status.Section {
	look := &status.Coordinator[plan.Overview]{Ask: c.overview}
	return status.Section{Level: status.Homes, Refresh: look.Refresh, Read: func() (map[string]any, []status.Problem) {
		overview, failure := look.Read()
		return map[string]any{"placement": overview, "placementFailure": failure}, problemsOf(overview, failure)
	}}
}

func problemsOf(overview *plan.Overview, failure string) []status.Problem {
	switch {
	case failure != "":
		return []status.Problem{{Kind: "placement", Text: "The coordinator of placement does not answer: " + failure + "."}}
	case overview == nil:
		return nil
	}
	return overview.Trouble()
}

func (c *Coordinator) overview(ctx context.Context) (plan.Overview, error) {
	a, err := c.ask(ctx, request{Op: opOverview})
	if err != nil || a.Overview == nil {
		return plan.Overview{}, err
	}
	return *a.Overview, nil
}
