package workflowtest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit/workflowtest"
)

// Wherever the process dies, each letter is printed, and a printer that looks at the key prints it
// once.
func ExampleCrashEverywhere() {
	test := func(t *testing.T) {
		workflowtest.CrashEverywhere(t, func(testing.TB) workflowtest.Story {
			printed := map[string]string{} // by key
			var letters *workflow.Type[string, string]
			return workflowtest.Story{
				Start: func(s *actor.System) (err error) {
					letters, err = workflow.Start(s, "letter", func(w *workflow.Run, text string) (string, error) {
						return text, workflow.Do(w, "print", func(ctx context.Context) error {
							printed[workflow.Key(ctx)] = text
							return nil
						})
					})
					return err
				},
				Drive: func(ctx context.Context, _ *actor.System) error {
					letter, err := letters.Run(ctx, "1", "dear Ada")
					if err != nil {
						return err
					}
					_, err = letter.Result(ctx)
					return err
				},
				Check: func(t testing.TB) { require.Equal(t, map[string]string{"letter/1/print": "dear Ada"}, printed) },
			}
		})
	}
	_ = test // go test calls such a function
}
