package placement

import (
	"context"

	"github.com/understudy-go/understudy/internal/status"
)

// section is what the page of a node shows: what the coordinator knows.
func (c *Coordinator) section() status.Section {
	look := &status.Coordinator[overview]{Ask: c.overview}
	return status.Section{Level: status.Homes, Refresh: look.Refresh, Read: func() (map[string]any, []status.Problem) {
		o, failure := look.Read()
		return map[string]any{"placement": o, "placementFailure": failure}, problemsOf(o, failure)
	}}
}

func problemsOf(o *overview, failure string) []status.Problem {
	switch {
	case failure != "":
		return []status.Problem{{Kind: "placement", Text: "The coordinator of placement does not answer: " + failure + "."}}
	case o == nil:
		return nil
	}
	return o.Trouble()
}

func (c *Coordinator) overview(ctx context.Context) (overview, error) {
	a, err := c.ask(ctx, request{Op: opOverview})
	if err != nil || a.Overview == nil {
		return overview{}, err
	}
	return *a.Overview, nil
}
