package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit"
)

func nothing(context.Context) error { return nil }

var retrySoon = actor.Backoff{Min: time.Second}

// started starts a type without input and with a text as result, and begins the run "1" of it.
func started(t *testing.T, s *actor.System, f func(w *workflow.Run) (string, error)) (*workflow.Type[int, string], workflow.Handle[string]) {
	t.Helper()
	typ, err := workflow.Start(s, "job", func(w *workflow.Run, _ int) (string, error) { return f(w) })
	require.NoError(t, err)
	h, err := typ.Run(t.Context(), "1", 0)
	require.NoError(t, err)
	return typ, h
}

func TestASecondRunOfAnIDFindsTheFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		calls := 0
		typ, h := started(t, s, func(*workflow.Run) (string, error) { calls++; return "done", nil })
		got, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "done", got)
		again, err := typ.Run(t.Context(), "1", 7)
		require.NoError(t, err)
		got, err = again.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "done", got)
		require.Equal(t, 1, calls)
		_, err = typ.Handle("2").Result(t.Context())
		require.ErrorIs(t, err, workflow.ErrNotFound)
	})
}

func TestAThousandBranchesRunAtTheSameTimeAndTheirErrorsAreJoined(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		var sum, calls atomic.Int64
		begun := time.Now()
		_, h := started(t, s, func(w *workflow.Run) (string, error) {
			parts := make([]workflow.Part, 1000)
			for i := range parts {
				parts[i] = func(w *workflow.Run) error {
					n, err := workflow.Step(w, "count", func(context.Context) (int, error) { calls.Add(1); return i, nil })
					if err != nil {
						return err
					}
					if err := workflow.Sleep(w, time.Hour); err != nil {
						return err
					}
					sum.Add(int64(n))
					if i%500 == 1 {
						return fmt.Errorf("part %d", i)
					}
					return nil
				}
			}
			return "", workflow.Branch(w, "all", parts...)
		})
		_, err := h.Result(t.Context())
		require.EqualError(t, err, "part 1\npart 501")
		require.EqualValues(t, 999*1000/2, sum.Load())
		require.EqualValues(t, 1000, calls.Load())
		require.Less(t, time.Since(begun), time.Hour+time.Minute)
	})
}

func TestARunIsCancelledInWhateverItDoes(t *testing.T) {
	for name, wait := range map[string]func(w *workflow.Run) error{
		"sleep": func(w *workflow.Run) error { return workflow.Sleep(w, 100*time.Hour) },
		"await": func(w *workflow.Run) error { _, err := workflow.Await[string](w, "never", 0); return err },
		"step": func(w *workflow.Run) error {
			return workflow.Do(w, "long", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
		},
		"retry": func(w *workflow.Run) error {
			return workflow.Do(w, "bad", func(context.Context) error { return errDeclined }, workflow.Retry(0, actor.Backoff{Min: time.Hour}))
		},
		"branch": func(w *workflow.Run) error {
			return workflow.Branch(w, "b", func(w *workflow.Run) error { return workflow.Sleep(w, 100*time.Hour) }, func(w *workflow.Run) error { return workflow.Do(w, "x", nothing) })
		},
	} {
		for _, after := range []time.Duration{time.Second, time.Hour} { // in memory, and not
			t.Run(fmt.Sprint(name, after), func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
					undone := 0
					typ, h := started(t, s, func(w *workflow.Run) (string, error) {
						w.Compensate("undo", func(context.Context) error { undone++; return nil })
						err := wait(w)
						if !errors.Is(err, workflow.ErrCancelled) {
							return "", fmt.Errorf("no cancellation: %w", err)
						}
						return "", errors.Join(err, workflow.Do(w, "further", func(context.Context) error { undone = 100; return nil }))
					})
					pass(after)
					require.NoError(t, typ.Cancel(t.Context(), "1", workflow.By{Who: "ann"}))
					_, err := h.Result(t.Context())
					require.ErrorIs(t, err, workflow.ErrCancelled)
					require.Equal(t, 1, undone)
					require.ErrorIs(t, typ.Cancel(t.Context(), "1", workflow.By{}), workflow.ErrEnded)
				})
			})
		}
	}
}

func TestARunIsHeldWhileItsProgramIsWrongAndGoesOnWithAnother(t *testing.T) {
	type other struct{ N int }
	for name, wrong := range map[string]func(w *workflow.Run) (string, error){
		"panic": func(*workflow.Run) (string, error) { panic("wrong") },
		"panic in a branch": func(w *workflow.Run) (string, error) {
			return "", workflow.Branch(w, "b", func(*workflow.Run) error { panic("wrong") }, func(w *workflow.Run) error { return workflow.Sleep(w, time.Minute) })
		},
		"a name twice": func(w *workflow.Run) (string, error) {
			return "", errors.Join(workflow.Do(w, "x", nothing), workflow.Do(w, "x", nothing))
		},
		"another type": func(w *workflow.Run) (string, error) {
			_, err := workflow.Step(w, "first", func(context.Context) (other, error) { return other{}, nil })
			return "", err
		},
		"a type that cannot be stored": func(w *workflow.Run) (string, error) {
			_, err := workflow.Step(w, "second", func(context.Context) (struct{ n int }, error) { return struct{ n int }{1}, nil })
			return "", err
		},
		"no name": func(w *workflow.Run) (string, error) { return "", workflow.Do(w, "", nothing) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
				steps, right := 0, false
				typ, h := started(t, s, func(w *workflow.Run) (string, error) {
					if name != "another type" || right {
						if _, err := workflow.Step(w, "first", func(context.Context) (string, error) { steps++; return "a", nil }); err != nil {
							return "", err
						}
					} else if steps == 0 {
						steps++
						_, _ = workflow.Step(w, "first", func(context.Context) (string, error) { return "a", nil })
						panic("once")
					}
					if !right {
						return wrong(w)
					}
					return "done", nil
				})
				pass(time.Hour)
				st, err := typ.Look(t.Context(), "1")
				require.NoError(t, err)
				require.Equal(t, workflow.Held, st.State, st)
				require.NotEmpty(t, st.Error)
				require.Positive(t, time.Until(st.Next))
				right = true
				got, err := h.Result(t.Context())
				require.NoError(t, err)
				require.Equal(t, "done", got)
				require.Equal(t, 1, steps)
			})
		})
	}
}

func TestAStepGoesOnUnderItsFormerName(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		var keys []string
		renamed := false
		_, h := started(t, s, func(w *workflow.Run) (string, error) {
			first, second := "charge", "ship"
			if renamed {
				first, second = "bill", "send"
			}
			note := func(ctx context.Context) error {
				keys = append(keys, workflow.Key(ctx))
				if !renamed && second == "ship" && len(keys) > 1 {
					return errDeclined
				}
				return nil
			}
			if err := workflow.Do(w, first, note, workflow.Formerly("charge")); err != nil {
				return "", err
			}
			if err := workflow.Do(w, second, note, workflow.Formerly("ship"), workflow.Retry(0, actor.Backoff{Min: time.Hour})); err != nil {
				return "", err
			}
			return "", workflow.Do(w, "notify", note, workflow.Formerly("call"))
		})
		pass(time.Minute) // it sleeps before the second attempt
		renamed = true
		_, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"job/1/charge", "job/1/ship", "job/1/ship", "job/1/notify"}, keys)
	})
}

func TestAStepWithoutAResultIsNoneWithAnEmptyOne(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		var changed atomic.Bool // a timer reads it
		typ, _ := started(t, s, func(w *workflow.Run) (string, error) {
			if !changed.Load() {
				if err := workflow.Do(w, "reserve", nothing); err != nil {
					return "", err
				}
				return "", workflow.Sleep(w, time.Hour)
			}
			return workflow.Step(w, "reserve", func(context.Context) (string, error) { return "shelf 7", nil })
		})
		pass(time.Minute)
		changed.Store(true)
		pass(time.Hour)
		st, err := typ.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, workflow.Held, st.State)
		require.Contains(t, st.Error, "the step had no result")
	})
}

func TestAnOperatorRetriesFailsAndResumes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		reserved, up := 0, false
		typ, h := started(t, s, func(w *workflow.Run) (string, error) {
			if err := workflow.Do(w, "reserve", func(context.Context) error { reserved++; return nil }); err != nil {
				return "", err
			}
			w.Compensate("release", func(context.Context) error { reserved--; return nil })
			return workflow.Step(w, "charge", func(context.Context) (string, error) {
				if !up {
					return "", errDeclined
				}
				return "charged", nil
			}, workflow.Retry(0, actor.Backoff{Min: 100 * time.Hour}))
		})
		pass(time.Hour)
		st, err := typ.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, workflow.Waiting, st.State)
		require.Equal(t, []workflow.StepStatus{{Name: "charge", Doing: "retrying", Attempt: 2, Error: "declined", Next: st.Steps[0].Next}}, st.Steps)
		require.NoError(t, typ.Retry(t.Context(), "1", workflow.By{Who: "ann"}))
		pass(time.Second)
		st, err = typ.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, 3, st.Steps[0].Attempt)

		require.NoError(t, typ.Fail(t.Context(), "1", workflow.By{Who: "ann", Why: "the bank is closed"}))
		_, err = h.Result(t.Context())
		require.ErrorIs(t, err, workflow.ErrFailed)
		require.ErrorContains(t, err, "by ann: the bank is closed")
		require.Zero(t, reserved)

		require.ErrorIs(t, typ.Retry(t.Context(), "1", workflow.By{}), workflow.ErrEnded)
		require.ErrorIs(t, typ.Resume(t.Context(), "1", "nowhere", workflow.By{}), workflow.ErrInvalid)
		up = true
		require.NoError(t, typ.Resume(t.Context(), "1", "reserve", workflow.By{Who: "ben"}))
		got, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "charged", got)
		require.Equal(t, 1, reserved)
	})
}

func TestAParentSleepsUntilItsChildHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		children, err := workflow.Start(s, "child", func(w *workflow.Run, n int) (int, error) {
			if err := workflow.Sleep(w, 10*time.Hour); err != nil {
				return 0, err
			}
			if n < 0 {
				return 0, errDeclined
			}
			return 2 * n, nil
		})
		require.NoError(t, err)
		_, h := started(t, s, func(w *workflow.Run) (string, error) {
			n, err := workflow.Child(w, "double", children, "c1", 21, 0)
			if err != nil {
				return "", err
			}
			if _, err := workflow.Child(w, "bad", children, "c2", -1, 0); !errors.Is(err, errDeclined) {
				return "", fmt.Errorf("not declined: %w", err)
			}
			if _, err := workflow.Child(w, "late", children, "c3", 1, time.Hour); !errors.Is(err, workflow.ErrTimedOut) {
				return "", fmt.Errorf("not late: %w", err)
			}
			return fmt.Sprint(n), nil
		})
		got, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "42", got)
		pass(20 * time.Hour)
	})
}

func TestAStepAsksAnActor(t *testing.T) {
	type question struct{ ReplyTo actor.ActorRef[string] }
	actor.RegisterType[question]("workflow-test.question")
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		echo := actor.Spawn(s, func(_ *actor.Context[question], next *actor.Next[question]) {
			next.OnMessage = func(_ *actor.Context[question], q question) actor.Behavior[question] {
				q.ReplyTo.Tell("yes")
				return nil
			}
		}, "")
		_, h := started(t, s, func(w *workflow.Run) (string, error) {
			return workflow.Ask(w, "ask", echo, func(_ context.Context, to actor.ActorRef[string]) question { return question{to} })
		})
		got, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "yes", got)
	})
}

func TestTheKeyOfAStepStaysAndItsTokenRises(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		var keys []string
		var tokens []uint64
		_, h := started(t, s, func(w *workflow.Run) (string, error) {
			return "", workflow.Do(w, "call", func(ctx context.Context) error {
				keys, tokens = append(keys, workflow.Key(ctx)), append(tokens, workflow.Token(ctx))
				if len(keys) < 3 {
					return errDeclined
				}
				return nil
			}, workflow.Retry(0, actor.Backoff{Min: time.Hour}))
		})
		pass(4 * time.Hour) // it leaves memory before each attempt but the first
		_, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"job/1/call", "job/1/call", "job/1/call"}, keys)
		require.Less(t, tokens[0], tokens[1])
		require.Less(t, tokens[1], tokens[2])
		require.Empty(t, workflow.Key(t.Context()))
		require.Zero(t, workflow.Token(t.Context()))
	})
}

func TestAResumedRunHasNewKeysForStepsThatHadSucceeded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		var keys []string
		up := false
		note := func(ctx context.Context) error {
			keys = append(keys, workflow.Key(ctx))
			return ctx.Err()
		}
		typ, h := started(t, s, func(w *workflow.Run) (string, error) {
			if err := workflow.Do(w, "reserve", note); err != nil {
				return "", err
			}
			w.Compensate("release", note)
			return "", workflow.Do(w, "charge", func(ctx context.Context) error {
				_ = note(ctx)
				if !up {
					return errDeclined
				}
				return nil
			})
		})
		_, err := h.Result(t.Context())
		require.ErrorIs(t, err, errDeclined)
		require.NoError(t, typ.Resume(t.Context(), "1", "reserve", workflow.By{}))
		_, err = h.Result(t.Context())
		require.ErrorIs(t, err, errDeclined)
		up = true
		require.NoError(t, typ.Resume(t.Context(), "1", "reserve", workflow.By{}))
		_, err = h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{
			"job/1/reserve", "job/1/charge", "job/1/compensate/release",
			"job/1/reserve~2", "job/1/charge", "job/1/compensate/release~2",
			"job/1/reserve~3", "job/1/charge",
		}, keys)
	})
}

func TestAStepWithAFinalErrorOrATimeoutEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		attempts := 0
		_, h := started(t, s, func(w *workflow.Run) (string, error) {
			late := workflow.Do(w, "late", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, workflow.Timeout(time.Minute), workflow.Retry(2, actor.Backoff{Min: time.Second}))
			if !errors.Is(late, context.DeadlineExceeded) {
				return "", fmt.Errorf("no deadline: %w", late)
			}
			return "", workflow.Do(w, "bad", func(context.Context) error { attempts++; return workflow.Final(errDeclined) }, workflow.Retry(0, actor.Backoff{Min: time.Second}))
		})
		_, err := h.Result(t.Context())
		require.ErrorIs(t, err, errDeclined)
		require.Equal(t, 1, attempts)
	})
}

// withoutTimers is a journal that keeps no timers, as JetStream.
type withoutTimers struct {
	journal.Journal
}

func TestARunSleepsWithAJournalThatKeepsNoTimers(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System, j *journal.Memory) {
		f := func(w *workflow.Run, _ int) (string, error) {
			if err := workflow.Sleep(w, time.Hour); err != nil {
				return "", err
			}
			return "slept", nil
		}
		first := testkit.NewSystem(t, persistence.WithJournal(withoutTimers{j}))
		typ, err := workflow.Start(first, "job", f)
		require.NoError(t, err)
		_, err = typ.Run(t.Context(), "1", 0)
		require.NoError(t, err)
		pass(time.Minute)
		require.NoError(t, first.Shutdown(t.Context()))
		again := testkit.NewSystem(t, persistence.WithJournal(withoutTimers{j}))
		typ, err = workflow.Start(again, "job", f)
		require.NoError(t, err)
		pass(2 * time.Hour)
		st, err := typ.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, workflow.Done, st.State)
		require.WithinDuration(t, st.Began.Add(time.Hour), st.Ended, time.Second)
	})
}

func TestATypeNeedsAJournalAndValuesThatCanBeStored(t *testing.T) {
	s := testkit.NewSystem(t)
	_, err := workflow.Start(s, "job", func(*workflow.Run, int) (string, error) { return "", nil })
	require.ErrorIs(t, err, persistence.ErrNoJournal)
	s = testkit.NewSystem(t, persistence.WithJournal(journal.NewMemory()))
	_, err = workflow.Start(s, "job", func(*workflow.Run, struct{ n int }) (string, error) { return "", nil })
	require.ErrorIs(t, err, workflow.ErrNotStorable)
}
