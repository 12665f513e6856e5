package status

import (
	"context"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// Runs are the runs of workflows, for operators. Package workflow adds them to a system.
type Runs interface {
	// List returns the runs of a type in the journal, those that began last first.
	List(ctx context.Context, typ string, only RunFilter) (any, error)
	// Look returns what one run does.
	Look(ctx context.Context, typ, id string) (any, error)
	// Steer changes what a run does, and returns when that is stored.
	Steer(ctx context.Context, typ, id string, by Steering) error
}

// A RunFilter selects runs.
type RunFilter struct {
	State, Tag string // "" for all
	Limit      int    // of runs that are listed
}

// A Steering is the wish of an operator.
type Steering struct {
	Do       string // "cancel", "fail", "retry" or "resume"
	Step     string // from which a run is resumed
	Who, Why string
}

// SetRuns makes the runs of a system known to its status page.
func SetRuns(s *actor.System, r Runs) { extension.Set(s, r) }

// RunsOf returns the runs of a system, or nil.
func RunsOf(s *actor.System) Runs {
	r, _ := extension.Get[Runs](s)
	return r
}
