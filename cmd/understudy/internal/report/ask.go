package report

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// A Node answers what reports need.
type Node interface {
	Status(ctx context.Context) (status.Snapshot, error)
	Actors(ctx context.Context) (status.Actors, error)
	Details(ctx context.Context) (status.Details, error)

	// Failed returns an error of the others with the place of the node in its text.
	Failed(err error) error
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

// AskSafe asks whether the first of some nodes that answers may be restarted now, and the others
// what is wrong; see [SafeOf].
func AskSafe[N Node](ctx context.Context, nodes []N) (Safe, error) {
	all, silent, err := askAll(ctx, nodes)
	if err != nil {
		return Safe{}, err
	}
	safe := safeOf(all[0].Snapshot, all[0].details, all[1:])
	own, _ := WhyOf(all[0].Snapshot, all[0].actors, "") // no name, no error
	for _, p := range own.Problems {
		if refuted(all, p) {
			safe.Reasons = slices.DeleteFunc(safe.Reasons, func(text string) bool { return text == p.Text })
		}
	}
	why, _ := whyOf(all, "") // likewise
	for _, p := range why.Problems {
		if !slices.Contains(own.Problems, p) && !slices.Contains([]string{Circle, Slow, Backlog, Workflow}, p.Kind) {
			safe.Reasons = append(safe.Reasons, p.Node+" says: "+p.Text)
		}
	}
	for _, text := range silent {
		safe.Notes = append(safe.Notes, "Not asked: "+text+".")
	}
	safe.Safe = len(safe.Reasons) == 0
	return safe, nil
}

// Explain asks nodes what is wrong; see [WhyOf]. Some of them may be silent.
func Explain[N Node](ctx context.Context, nodes []N, name string) (Why, error) {
	all, silent, err := askAll(ctx, nodes)
	if err != nil {
		return Why{}, err
	}
	why, err := whyOf(all, name)
	why.Silent = append(why.Silent, silent...)
	return why, err
}

type answer struct {
	status.Snapshot
	actors  status.Actors
	details status.Details
}

// silent says why some have not answered. It returns an error if none has.
func askAll[N Node](ctx context.Context, nodes []N) (all []answer, silent []string, err error) {
	answers, failures := make([]answer, len(nodes)), make([]error, len(nodes))
	var asks sync.WaitGroup
	for i, n := range nodes {
		asks.Go(func() { answers[i], failures[i] = ask(ctx, n) })
	}
	asks.Wait()
	for i, failure := range failures {
		switch {
		case failure == nil:
			all = append(all, answers[i])
			continue
		case err == nil:
			err = failure
		default:
			err = fmt.Errorf("%w; %w", err, failure)
		}
		silent = append(silent, nodes[i].Failed(failure).Error())
	}
	if len(all) > 0 {
		err = nil
	}
	return all, silent, err
}

func ask(ctx context.Context, n Node) (a answer, err error) {
	if a.Snapshot, err = n.Status(ctx); err != nil {
		return a, err
	}
	if a.actors, err = n.Actors(ctx); err != nil {
		return a, err
	}
	a.details, err = n.Details(ctx)
	return a, err
}
