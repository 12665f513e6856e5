package workflowtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/workflowtest"
)

// A bank charges an order once for each key.
type bank struct{ charged, refunded map[string]int }

func (b *bank) charge(ctx context.Context) error {
	b.charged[workflow.Key(ctx)] = 1
	return ctx.Err()
}

type world struct {
	bank    bank
	stock   int
	results []string
}

func fulfil(world *world, alone func(w *workflow.Run) error) func(*workflow.Run, string) (string, error) {
	return func(w *workflow.Run, order string) (string, error) {
		stock, err := workflow.Step(w, "reserve", func(context.Context) (string, error) { return "shelf 7", nil })
		if err != nil {
			return "", err
		}
		if err := workflow.Sleep(w, time.Hour); err != nil {
			return "", err
		}
		approval, err := workflow.Await[string](w, "approval", 24*time.Hour)
		if err != nil {
			return "", err
		}
		if err := workflow.Do(w, "charge", world.bank.charge, workflow.Retry(3, actor.Backoff{Min: time.Minute})); err != nil {
			return "", err
		}
		parts := []workflow.Part{}
		for i := range 3 {
			parts = append(parts, func(w *workflow.Run) error {
				return workflow.Do(w, fmt.Sprintf("pack %d", i), func(context.Context) error { return nil })
			})
		}
		if err := workflow.Branch(w, "ship", parts...); err != nil {
			return "", err
		}
		if alone != nil {
			if err := alone(w); err != nil {
				return "", err
			}
		}
		return order + " from " + stock + ", approved by " + approval, nil
	}
}

func story(alone func(w *workflow.Run) error, check func(t testing.TB, w *world)) func(testing.TB) workflowtest.Story {
	return func(testing.TB) workflowtest.Story {
		w := &world{bank: bank{charged: map[string]int{}, refunded: map[string]int{}}}
		var orders *workflow.Type[string, string]
		return workflowtest.Story{
			Start: func(s *actor.System) (err error) {
				orders, err = workflow.Start(s, "order", fulfil(w, alone))
				return err
			},
			Drive: func(ctx context.Context, s *actor.System) error {
				order, err := orders.Run(ctx, "1", "tea")
				if err != nil {
					return err
				}
				if err := workflow.Signal(ctx, orders, "1", "approval", "ann"); err != nil && !errors.Is(err, workflow.ErrEnded) {
					return err
				}
				result, err := order.Result(ctx)
				if err == nil {
					w.results = append(w.results, result)
				}
				return err
			},
			Check: func(t testing.TB) { check(t, w) },
		}
	}
}

func TestARunComesToItsEndWhereverItsProcessDies(t *testing.T) {
	workflowtest.CrashEverywhere(t, story(nil, func(t testing.TB, w *world) {
		require.Equal(t, map[string]int{"order/1/charge": 1}, w.bank.charged)
		require.Equal(t, []string{"tea from shelf 7, approved by ann"}, w.results)
	}))
}

func TestStepsCanBeReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		declined := errors.New("declined")
		s := testkit.NewSystem(t, persistence.WithJournal(journal.NewMemory()), workflowtest.Replace(workflowtest.Steps{
			"charge": func(context.Context) (any, error) { return nil, declined },
		}))
		orders, err := workflow.Start(s, "order", fulfil(&world{}, nil))
		require.NoError(t, err)
		order, err := orders.Run(t.Context(), "1", "tea")
		require.NoError(t, err)
		require.NoError(t, workflow.Signal(t.Context(), orders, "1", "approval", "ann"))
		_, err = order.Result(t.Context())
		require.EqualError(t, err, "charge: declined")
	})
}

// plantedFaults are programs that are wrong, and what CrashEverywhere must find.
var plantedFaults = map[string]struct {
	alone func(world *world) func(w *workflow.Run) error
	check func(t testing.TB, w *world)
}{
	"an effect outside of a step": {
		alone: func(world *world) func(*workflow.Run) error {
			return func(w *workflow.Run) error {
				world.stock++
				return workflow.Do(w, "count", func(context.Context) error { return nil })
			}
		},
		check: func(t testing.TB, w *world) { require.Equal(t, 1, w.stock) },
	},
	"a receiver that does not look at the key": {
		alone: func(world *world) func(*workflow.Run) error {
			return func(w *workflow.Run) error {
				return workflow.Do(w, "count", func(context.Context) error { world.stock++; return nil })
			}
		},
		check: func(t testing.TB, w *world) { require.Equal(t, 1, w.stock) },
	},
	"a result that is kept in memory": {
		alone: func(world *world) func(*workflow.Run) error {
			return func(w *workflow.Run) error {
				label := ""
				if err := workflow.Do(w, "label", func(context.Context) error { label = "fragile"; return nil }); err != nil {
					return err
				}
				return workflow.Do(w, "print", func(ctx context.Context) error { world.bank.refunded[label] = 1; return nil })
			}
		},
		check: func(t testing.TB, w *world) { require.Equal(t, map[string]int{"fragile": 1}, w.bank.refunded) },
	},
}

const planted = "UNDERSTUDY_PLANTED_FAULT"

// TestPlantedFault is run by the next test, and must fail.
func TestPlantedFault(t *testing.T) {
	fault, ok := plantedFaults[os.Getenv(planted)]
	if !ok {
		t.Skip("the fault is named by " + planted)
	}
	workflowtest.CrashEverywhere(t, func(tb testing.TB) workflowtest.Story {
		w := &world{bank: bank{charged: map[string]int{}, refunded: map[string]int{}}}
		return story(fault.alone(w), func(t testing.TB, _ *world) { fault.check(t, w) })(tb)
	})
}

func TestCrashEverywhereFindsFaults(t *testing.T) {
	for name := range plantedFaults {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPlantedFault$")
			cmd.Env = append(os.Environ(), planted+"="+name)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s", out)
			require.Regexp(t, `--- FAIL: TestPlantedFault/point_\d+`, string(out))
			require.Regexp(t, `crashed (before|after) the append of order\|1: finished (count|label)`, string(out))
		})
	}
}

func TestReplayFindsWhatChangedInTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		s := testkit.NewSystem(t, persistence.WithJournal(j))
		orders, err := workflow.Start(s, "order", fulfil(&world{bank: bank{charged: map[string]int{}}}, nil))
		require.NoError(t, err)
		for i := range 3 {
			_, err := orders.Run(t.Context(), fmt.Sprint(i), "tea")
			require.NoError(t, err)
		}
		time.Sleep(2 * time.Hour)
		require.NoError(t, s.Shutdown(t.Context()))

		require.Equal(t, 3, workflowtest.Replay(t, j, "order", fulfil(&world{}, nil)))
		f := &recording{TB: t}
		workflowtest.Replay(f, j, "order", func(w *workflow.Run, _ string) (string, error) {
			return workflow.Step(w, "take", func(context.Context) (string, error) { return "", nil })
		})
		require.Len(t, f.errors, 3)
		require.Equal(t, `run 0 of type order does not ask for outcomes that are stored: ["reserve"]`, f.errors[0])
		f.errors = nil
		workflowtest.Replay(f, j, "order", func(w *workflow.Run, _ string) (int, error) {
			return workflow.Step(w, "reserve", func(context.Context) (int, error) { return 0, nil })
		})
		require.Len(t, f.errors, 3)
		require.Equal(t, `run 0 of type order would be held: "reserve": workflow: a stored value has another type: it is a string, and the program asks for a int: accept it at its step with workflow.Was("string"), register the type under that name, or run the former program`, f.errors[0])
	})
}

// A recording keeps errors in place of failing.
type recording struct {
	testing.TB
	errors []string
}

func (r *recording) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
