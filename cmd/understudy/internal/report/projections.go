package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// A RunningProjection is a projection on the node that runs it.
type RunningProjection struct {
	Node string `json:"node" jsonschema:"the node that runs it"`
	status.Projection
}

// Projections are the projections that nodes run, by name.
type Projections struct {
	Projections []RunningProjection `json:"projections"`
	Silent      []string            `json:"silent" jsonschema:"why other nodes have not answered"`
}

// AskProjections returns the projections that run on the nodes that answer: only those of that
// name, unless it is "". A name that is of no projection is an error.
func AskProjections[N Node](ctx context.Context, nodes []N, name string) (Projections, error) {
	answers, silent, err := askAll(ctx, nodes)
	all := Projections{Projections: []RunningProjection{}, Silent: list(silent)}
	if err != nil {
		return all, err
	}
	seen := map[string]bool{}
	for _, a := range answers {
		if seen[a.Self.ID] {
			continue
		}
		seen[a.Self.ID] = true
		for _, p := range a.details.Projections {
			if name == "" || name == p.Name {
				p.HeldIDs = append([]status.HeldID{}, p.HeldIDs...) // not null in JSON
				all.Projections = append(all.Projections, RunningProjection{a.Self.Name, p})
			}
		}
	}
	slices.SortStableFunc(all.Projections, func(a, b RunningProjection) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Node, b.Node))
	})
	if name != "" && len(all.Projections) == 0 {
		return all, fmt.Errorf("no node that was asked runs a projection %q", name)
	}
	return all, nil
}
