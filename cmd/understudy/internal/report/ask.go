package report

import (
	"context"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// A Node answers what reports need.
type Node interface {
	Status(ctx context.Context) (status.Snapshot, error)
	Actors(ctx context.Context) (status.Actors, error)
	Details(ctx context.Context) (status.Details, error)
}

// Summarize asks a node for its summary.
func Summarize(ctx context.Context, n Node) (Summary, error) {
	s, err := n.Status(ctx)
	if err != nil {
		return Summary{}, err
	}
	a, err := n.Actors(ctx)
	if err != nil {
		return Summary{}, err
	}
	d, err := n.Details(ctx)
	if err != nil {
		return Summary{}, err
	}
	return SummaryOf(s, a, d), nil
}

// AskSafe asks a node whether it may be restarted now; see [SafeOf].
func AskSafe(ctx context.Context, n Node) (Safe, error) {
	s, err := n.Status(ctx)
	if err != nil {
		return Safe{}, err
	}
	d, err := n.Details(ctx)
	if err != nil {
		return Safe{}, err
	}
	return SafeOf(s, d), nil
}

// Explain asks a node what is wrong; see [WhyOf].
func Explain(ctx context.Context, n Node, name string) (Why, error) {
	s, err := n.Status(ctx)
	if err != nil {
		return Why{}, err
	}
	a, err := n.Actors(ctx)
	if err != nil {
		return Why{}, err
	}
	return WhyOf(s, a, name)
}
