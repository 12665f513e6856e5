package workflow_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit/workflowtest"
)

func TestAnAttemptThatHasFailedIsFollowedByTheNextWhereverTheProcessDies(t *testing.T) {
	workflowtest.CrashEverywhere(t, func(testing.TB) workflowtest.Story {
		attempts, done := 0, false
		var jobs *workflow.Type[string, string]
		return workflowtest.Story{
			Start: func(s *actor.System) (err error) {
				jobs, err = workflow.Start(s, "job", func(w *workflow.Run, _ string) (string, error) {
					return "done", workflow.Do(w, "step", func(context.Context) error {
						if attempts++; attempts < 3 {
							return errDeclined
						}
						return nil
					}, workflow.Retry(0, actor.Backoff{Min: time.Hour}))
				})
				return err
			},
			Drive: func(ctx context.Context, _ *actor.System) error {
				h, err := jobs.Run(ctx, "1", "")
				if err != nil {
					return err
				}
				_, err = h.Result(ctx)
				done = err == nil
				return err
			},
			Check: func(t testing.TB) { require.True(t, done) },
		}
	})
}
