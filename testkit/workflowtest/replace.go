package workflowtest

import (
	"context"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/workflowhook"
)

// Replace lets functions run in place of steps, by the full name of the step. The name of a
// branch's step begins with the branch, as in "ship/0/pack", and a compensation's with
// "compensate/". A function returns what the step would return, as the same type, and nil for a
// step of workflow.Do and for a compensation.
//
//	system := testkit.NewSystem(t, persistence.WithJournal(journal.NewMemory()), workflowtest.Replace(workflowtest.Steps{
//		"charge": func(context.Context) (any, error) { return Charge{}, errDeclined },
//	}))
func Replace(steps Steps) actor.Option {
	return replace(func(_, _, step string) func(context.Context) (any, error) { return steps[step] })
}

// Steps are functions by the names of steps.
type Steps map[string]func(ctx context.Context) (any, error)

func replace(r workflowhook.Replacement) actor.Option {
	return func(s *actor.System) { extension.Set(s, r) }
}
