package report

import (
	"errors"
	"slices"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Of the whole cluster each problem is there once. It returns an error if none of the nodes knows
// name.
func whyOf(all []answer, name string) (Why, error) {
	merged := Why{Problems: []Problem{}, Silent: []string{}}
	var unknown []error
	for _, a := range all {
		why, err := WhyOf(a.Snapshot, a.actors, name)
		if err != nil {
			unknown = append(unknown, err)
		}
		merged.Nodes = append(merged.Nodes, a.Self.Name)
		for _, p := range why.Problems {
			if !known(merged.Problems, p) && !refuted(all, p) {
				merged.Problems = append(merged.Problems, p)
			}
		}
	}
	if len(unknown) == len(all) {
		return Why{}, errors.Join(unknown...)
	}
	merged.OK = len(merged.Problems) == 0
	return merged, nil
}

// Each node that sees such a problem sees the same.
var ofTheCluster = []string{Waiting, Unreachable, Down, NoLeader, CrashLoop, Nowhere, NotRunning, Unknown, Backlog}

func known(all []Problem, p Problem) bool {
	return slices.Contains(ofTheCluster, p.Kind) && slices.ContainsFunc(all, func(other Problem) bool {
		return other.Kind == p.Kind && other.About == p.About && (p.About != "" || other.Text == p.Text)
	})
}

// One node may know what another one does not: it runs the singleton.
func refuted(all []answer, p Problem) bool {
	return p.Kind == Unknown && slices.ContainsFunc(all, func(a answer) bool {
		return slices.ContainsFunc(a.Singletons, func(one status.Singleton) bool { return one.Name == p.About && one.Here })
	})
}
