package placement_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/persistence"
)

// What is no UTF-8 goes to CBOR, and does not come back.
func TestASpecThatIsNoUTF8DoesNotEndAllCoordinators(t *testing.T) {
	odd := "\xff\xfe"
	for name, change := range map[string]func(*placement.Spec){
		"label":        func(s *placement.Spec) { s.Label = odd },
		"type":         func(s *placement.Spec) { s.Type = odd },
		"affinity":     func(s *placement.Spec) { s.Constraints.AntiAffinity = []string{odd} },
		"role besides": func(s *placement.Spec) { s.Constraints.Roles = []string{"role-n2", odd} },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(t *testing.T, w *world) {
				w.submit(w.spec("good").WithConstraints(w.on("n2")))
				s := w.spec("odd")
				change(&s)
				_, err := w.submitWithin("n1", 10*time.Second, s)
				t.Log("through the leader:", err)
				_, err = w.submitWithin("n2", 10*time.Second, s)
				t.Log("through another node:", err)
				settle()
				w.Kill("n1")
				time.Sleep(2 * time.Minute)
				states, err := w.specsSoon("n2")
				require.NoError(t, err, "no coordinator can ever begin again")
				require.Contains(t, states, "good running n2")
			})
		})
	}
}

// Labels are anything that is UTF-8.
func TestOddLabelsRunAnywhere(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		for _, label := range []string{".", "..", "/", "//", "a b", "ü", "$x", "\x00", "\n", "~", "~2F", ":", "@", "%", "placement-agent", strings.Repeat("ü", 127), strings.Repeat("/", 255)} {
			_, err := w.submitWithin("n2", 10*time.Second, w.spec(label).WithConstraints(w.on("n2")))
			require.NoError(t, err, "%q", label)
			require.Equal(t, 1, w.add("n1", label).Sum, "%q", label)
			_, err = within(w, 10*time.Second, func(ctx context.Context) (any, error) { return nil, w.client["n2"].Remove(ctx, label) })
			require.NoError(t, err, "%q", label)
		}
	})
}

type rudeStrategy struct{ bad string }

func (s *rudeStrategy) Name() string {
	if s.bad != "" {
		panic("no name")
	}
	return "rude"
}

func (s *rudeStrategy) Score(placement.Node, placement.Spec, placement.View) float64 {
	if s.bad == "both" {
		panic("no score")
	}
	return 1
}

// A strategy that panics anywhere fails the submission, not the coordinator.
func TestAStrategyWithoutANameFailsTheSubmissionOnly(t *testing.T) {
	for _, bad := range []string{"name", "both"} {
		t.Run(bad, func(t *testing.T) {
			rude := &rudeStrategy{}
			inWorld(t, 2, func(t *testing.T, w *world) {
				rude.bad = bad
				took, err := w.submitWithin("n2", 20*time.Second, w.spec("one"))
				require.NotErrorIs(t, err, placement.ErrNotLeader)
				require.Equal(t, bad == "both", errors.Is(err, placement.ErrStrategy), "%v", err)
				require.Less(t, took, 5*time.Second)
			}, func(cfg *setup) { cfg.Strategy = rude })
		})
	}
}

// A state of 5 MiB does not fit into a message of 4 MiB: the submitter must get an error.
func TestAStateThatNoMessageHoldsIsRefused(t *testing.T) {
	for _, through := range []string{"n1", "n2"} {
		t.Run(through, func(t *testing.T) {
			inWorld(t, 2, func(t *testing.T, w *world) {
				s := slow.Spec("big", slowness{Plan: w.name, Data: make([]byte, 5<<20)}).WithConstraints(w.on("n2"))
				took, err := w.submitWithin(through, 30*time.Second, s)
				if err == nil {
					time.Sleep(5 * time.Minute)
					x, err := w.client["n1"].Explain(t.Context(), "big")
					require.NoError(t, err)
					require.NotEmpty(t, x.Status.LastError, "%v for ever, and nobody says why", x.Status.State)
					return
				}
				require.ErrorIs(t, err, placement.ErrInvalid, "after %v", took)
			})
		})
	}
}

// While the journal fails nothing is accepted, and when it works again all is as before.
func TestAfterAnOutageOfTheJournalAllIsAsBefore(t *testing.T) {
	journal := newMoodyJournal()
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(w.on("n2")))
		settle()
		journal.set(0, "placement/coordinator", persistence.ErrUnavailable)
		took, err := w.submitWithin("n2", 20*time.Second, w.spec("lost"))
		t.Log("submit during the outage:", took, err)
		require.Error(t, err)
		counters.Ref(w.Node("n2").System, "one").Tell(crash{})
		time.Sleep(30 * time.Second)
		journal.set(0, "", nil)
		time.Sleep(2 * time.Minute)
		states, err := w.specsSoon("n2")
		require.NoError(t, err)
		t.Log(states)
		require.Equal(t, 1, w.add("n1", "one").Sum)
		_, peak := w.plan.alive()
		require.LessOrEqual(t, peak, 2)
	}, func(cfg *setup) { cfg.Journal = journal })
}

// All specs together are larger than a message.
func TestSpecsAreListedFromAnyNodeHoweverManyThereAre(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		for i := range 5 {
			w.submit(slow.Spec(fmt.Sprint("big", i), slowness{Plan: w.name, Data: make([]byte, 1<<20)}))
		}
		settle()
		states, err := w.specsSoon("n2")
		require.NoError(t, err)
		require.Len(t, states, 5)
	})
}

// Every client that starts a singleton while the source fails gets an error, also the second one.
func TestAllWhoStartASingletonOfASourceThatFailsAreToldSo(t *testing.T) {
	source := &moodySource{}
	inWorld(t, 2, func(t *testing.T, w *world) {
		source.set(persistence.ErrUnavailable)
		start := func(through string) error {
			_, err := within(w, 2*time.Minute, func(ctx context.Context) (placement.Ownership, error) {
				return w.client[through].StartSingleton(ctx, counters.Singleton("single", origin{Plan: w.name}, placement.Leader()))
			})
			return err
		}
		errs := make(chan error, 4)
		for i := range 4 {
			go func() { errs <- start(fmt.Sprint("n", 1+i%2)) }()
		}
		for range 4 {
			require.ErrorIs(t, <-errs, placement.ErrSource)
		}
		source.set(nil)
		require.NoError(t, start("n2"))
		require.Equal(t, 1, w.add("n1", "single").Sum)
	}, func(cfg *setup) { cfg.Generations = source })
}
