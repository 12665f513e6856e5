package placement_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A requesting sends one request.
type requesting func(ctx context.Context, c *placement.Coordinator) error

func (w *world) submitting(s placement.Spec) requesting {
	return func(ctx context.Context, c *placement.Coordinator) error { return errorOf(c.Submit(ctx, s)) }
}

func removing(label string) requesting {
	return func(ctx context.Context, c *placement.Coordinator) error { return c.Remove(ctx, label) }
}

func (w *world) startingSingleton(label, node string) requesting {
	return func(ctx context.Context, c *placement.Coordinator) error {
		return errorOf(c.StartSingleton(ctx, counters.Singleton(label, origin{Plan: w.name}, placement.OnNode(node))))
	}
}

func moving(label string) requesting {
	return func(ctx context.Context, c *placement.Coordinator) error {
		return errorOf(c.MoveSingleton(ctx, label))
	}
}

func stopping(label string) requesting {
	return func(ctx context.Context, c *placement.Coordinator) error { return c.StopSingleton(ctx, label) }
}

// waits requires that the request from the node of the coordinator, and from another one, ends by
// its deadline, and that its caller reads what the coordinator waits for.
func (w *world) waits(send requesting, why string) {
	w.t.Helper()
	for _, from := range []string{"n1", "n2"} {
		err := errorOf(within(w, time.Second, func(ctx context.Context) (int, error) { return 0, send(ctx, w.client[from]) }))
		require.ErrorIs(w.t, err, context.DeadlineExceeded, from)
		require.ErrorIs(w.t, err, placement.ErrInProgress, from)
		require.NotErrorIs(w.t, err, placement.ErrNotLeader, from)
		require.ErrorContains(w.t, err, "placement: in progress: the coordinator on n1 waits with "+why, from)
	}
}

// hang has factories take so long.
func (w *world) hang(d time.Duration) { w.plan.set(func(p *plan) { p.takes = d }) }

func TestARequestThatWaitsForAnActorThatHangsSaysSo(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.hang(time.Minute)
		w.submit(w.spec("one").WithConstraints(w.on("n2")))
		w.waits(removing("one"), `"one": stopping on n2 since `)
		w.waits(w.submitting(w.spec("one")), `"one": stopping on n2 since `)
		require.NoError(t, w.startingSingleton("two", "n2")(t.Context(), w.client["n1"]))
		err := errorOf(within(w, time.Second, func(ctx context.Context) (int, error) { return 0, stopping("two")(ctx, w.client["n2"]) }))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, placement.ErrInProgress)
		require.ErrorContains(t, err, `the coordinator on n1 waits with "two": stopping on n2 since `)
		err = stopping("two")(t.Context(), w.client["n2"])
		require.ErrorIs(t, err, placement.ErrInProgress)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "it is refused at once")
		w.hang(0)
		time.Sleep(2 * time.Minute)
	})
}

// A hangingSource does not answer while it hangs.
type hangingSource struct {
	moodySource
	mu    sync.Mutex
	hangs bool
}

func (s *hangingSource) set(hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = hangs
}

func (s *hangingSource) ClaimTerm(ctx context.Context, label, owner string, floor uint64) (uint64, error) {
	s.mu.Lock()
	hangs := s.hangs
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return s.moodySource.ClaimTerm(ctx, label, owner, floor)
}

func TestARequestThatWaitsForATermSaysSo(t *testing.T) {
	source := &hangingSource{}
	inWorld(t, 2, func(t *testing.T, w *world) {
		require.NoError(t, w.startingSingleton("two", "n2")(t.Context(), w.client["n1"]))
		settle()
		source.set(true)
		const why = `: it needs a term, and Config.Generations has not answered`
		w.waits(w.startingSingleton("one", "n2"), `"one"`+why)
		w.waits(w.startingSingleton("two", "n1"), `"two"`+why)
		w.waits(moving("two"), `"two"`+why)
		w.waits(stopping("two"), `"two"`+why)
	}, func(cfg *setup) { cfg.Generations = source })
}

func TestASubmissionThatWaitsForANodeSaysSo(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.Add("n3")
		settle()
		w.waits(w.submitting(w.spec("one").WithConstraints(w.on("n3"))), `"one": a member that could run it has not started placement yet`)
	})
}

// The next coordinator does not know yet what runs on a member that has not started placement.
func TestARequestThatWaitsForReportsSaysSo(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(w.on("n3")))
		w.Add("n4")
		settle()
		require.NoError(t, w.Node("n1").Leave(t.Context()))
		for label, send := range map[string]requesting{
			"one": removing("one"), "new": w.submitting(w.spec("new")), "two": w.startingSingleton("two", "n2"),
		} {
			err := errorOf(within(w, time.Second, func(ctx context.Context) (int, error) { return 0, send(ctx, w.client["n3"]) }))
			require.ErrorIs(t, err, placement.ErrInProgress, label)
			require.ErrorContains(t, err, `the coordinator on n2 waits with "`+label+`": not all nodes have reported what they run`)
		}
	})
}

// A hangingJournal does not store while it hangs.
type hangingJournal struct {
	*moodyJournal
	hangs chan struct{}
}

func (j *hangingJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	if j.hangs != nil {
		<-j.hangs
	}
	return j.moodyJournal.Append(ctx, reqs)
}

// Nothing is said of a decision that is not stored.
func TestARequestWhoseDecisionIsNotStoredSaysThatThereIsNoAnswer(t *testing.T) {
	j := &hangingJournal{moodyJournal: newMoodyJournal()}
	inWorld(t, 2, func(t *testing.T, w *world) {
		j.hangs = make(chan struct{})
		defer close(j.hangs)
		for _, from := range []string{"n1", "n2"} {
			_, err := w.submitWithin(from, time.Second, w.spec("one"))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, placement.ErrNotLeader)
			require.ErrorContains(t, err, "placement: coordinator unavailable: it runs on n1, which has not answered: ")
		}
	}, func(cfg *setup) { cfg.Journal = j })
}
