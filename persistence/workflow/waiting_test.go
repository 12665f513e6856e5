package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit"
)

// A sick journal does what ails says.
type sick struct {
	*journal.Memory
	mu   sync.Mutex // guards ails
	ails func(ctx context.Context) error
}

func (j *sick) set(ails func(context.Context) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ails = ails
}

func (j *sick) call(ctx context.Context) error {
	j.mu.Lock()
	ails := j.ails
	j.mu.Unlock()
	if ails == nil {
		return nil
	}
	return ails(ctx)
}

func (j *sick) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	if err := j.call(ctx); err != nil {
		return journal.Claim{}, err
	}
	return j.Memory.Claim(ctx, id, w, b)
}

func (j *sick) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	if err := j.call(ctx); err != nil {
		return []error{err}
	}
	return j.Memory.Append(ctx, reqs)
}

func hangs(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("%w: %w", persistence.ErrUnknown, context.Cause(ctx))
}

func always(err error) func(context.Context) error { return func(context.Context) error { return err } }

// A caller whose deadline ends while the journal keeps a run from going on learns that, from each
// function that asks runs.
func TestCallersLearnThatTheJournalKeepsARunFromGoingOn(t *testing.T) {
	for name, test := range map[string]struct {
		ails          func(context.Context) error
		appends, read error
	}{
		"full":  {always(persistence.ErrFull), persistence.ErrFull, persistence.ErrFull},
		"down":  {always(persistence.ErrUnavailable), persistence.ErrUnavailable, persistence.ErrUnavailable},
		"hangs": {hangs, persistence.ErrUnknown, persistence.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &sick{Memory: journal.NewMemory()}
				s := testkit.NewSystem(t, persistence.WithJournal(j))
				orders, err := workflow.Start(s, "order", func(w *workflow.Run, o order) (receipt, error) {
					if o.Item == "tea" {
						return receipt{}, workflow.Do(w, "deliver", func(context.Context) error {
							time.Sleep(time.Second)
							return nil
						})
					}
					a, err := workflow.Await[approved](w, "approval", 0)
					return receipt{Charge: a.By}, err
				})
				require.NoError(t, err)
				result := func(ctx context.Context, id string) error {
					_, err := orders.Handle(id).Result(ctx)
					return err
				}
				look := func(ctx context.Context, id string) error {
					_, err := orders.Look(ctx, id)
					return err
				}
				signal := func(ctx context.Context, id string) error {
					return workflow.Signal(ctx, orders, id, "approval", approved{By: "ann"})
				}
				for _, id := range []string{"result", "look", "signal", "cancel", "sleeps"} {
					_, err = orders.Run(t.Context(), id, order{})
					require.NoError(t, err)
				}
				pass(time.Hour)
				for _, id := range []string{"result", "look", "signal", "cancel"} { // they are in memory again
					require.NoError(t, look(t.Context(), id))
				}
				_, err = orders.Run(t.Context(), "step", order{Item: "tea"})
				require.NoError(t, err)
				kept := make(chan error, 1)
				go func() { kept <- within(t, 5*time.Second, "step", result) }() // before the outcome of the step cannot be stored
				synctest.Wait()
				j.set(test.ails)

				asked := map[string]chan error{}
				for id, ask := range map[string]func(context.Context, string) error{
					"signal": signal, "look": look, "result": result, "sleeps": look,
					"cancel": func(ctx context.Context, id string) error { return orders.Cancel(ctx, id, workflow.By{}) },
					"new": func(ctx context.Context, id string) error {
						_, err := orders.Run(ctx, id, order{})
						return err
					},
				} {
					done := make(chan error, 1)
					asked[id] = done
					go func() {
						if id == "look" || id == "result" { // they store nothing themselves
							go func() { _ = within(t, 2*time.Second, id, signal) }()
							time.Sleep(time.Millisecond)
						}
						done <- within(t, 2*time.Second, id, ask)
					}()
				}
				for id, err := range asked {
					err, why := <-err, test.appends
					if id == "sleeps" || id == "new" {
						why = test.read
					}
					require.ErrorIs(t, err, context.DeadlineExceeded, id)
					require.ErrorIs(t, err, why, id)
					require.ErrorContains(t, err, "order|"+id)
				}
				err = <-kept
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, test.appends)
				for range 20 {
					time.Sleep(10 * time.Second)
					err := within(t, 2*time.Second, "step", look)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.ErrorContains(t, err, "order|step")
				}
				j.set(nil)
				pass(10 * time.Minute)
				for _, id := range []string{"signal", "look", "result", "sleeps"} {
					if err := signal(t.Context(), id); !errors.Is(err, workflow.ErrEnded) { // else the first one was stored
						require.NoError(t, err, id)
					}
					require.NoError(t, within(t, 2*time.Second, id, result), id)
				}
				require.NoError(t, within(t, 2*time.Second, "step", result))
				_, err = orders.Run(t.Context(), "later", order{})
				require.NoError(t, err)
				err = within(t, 2*time.Second, "later", result)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, test.appends)
				require.NotErrorIs(t, err, test.read)
			})
		})
	}
}

func within(t *testing.T, d time.Duration, id string, ask func(ctx context.Context, id string) error) error {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return ask(ctx, id)
}
