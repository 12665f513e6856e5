package workflow_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
)

// A ledger is a database in memory. Each of its functions may fail, before or after it has
// worked.
type ledger struct {
	results                   map[string][]byte
	effects                   int
	begins, commits, undos    int
	onBegin, onCommit, onUndo func(n int) error
	failsBeforeCommitInstead  bool
	transactions              int // that have not ended
}

type entry struct{ effects int }

func newLedger() *ledger {
	fine := func(int) error { return nil }
	return &ledger{results: map[string][]byte{}, onBegin: fine, onCommit: fine, onUndo: fine}
}

func (l *ledger) Begin(_ context.Context, scope string, token uint64, key string) (*entry, []byte, error) {
	l.begins++
	if err := l.onBegin(l.begins); err != nil {
		return nil, nil, err
	}
	if scope != "order|1" || token == 0 || key != "order/1/book" {
		return nil, nil, errors.New("who is that?")
	}
	l.transactions++
	return &entry{}, l.results[key], nil
}

func (l *ledger) Commit(_ context.Context, tx *entry, _ string, _ uint64, key string, result []byte) error {
	l.commits++
	l.transactions--
	err := l.onCommit(l.commits)
	if err == nil || !l.failsBeforeCommitInstead {
		l.results[key] = result
		l.effects += tx.effects
	}
	return err
}

func (l *ledger) Undo(context.Context, *entry) error {
	l.undos++
	l.transactions--
	return l.onUndo(l.undos)
}

var errLost = errors.New("connection lost")

// failing fails the first n calls.
func failing(n int) func(int) error {
	return func(call int) error {
		if call <= n {
			return errLost
		}
		return nil
	}
}

// booking runs a run that books in the ledger, and returns its result and how often it has tried.
func booking(t *testing.T, l *ledger, f func(ctx context.Context, attempt int) (string, error), opts ...workflow.StepOption) (got string, calls int, err error) {
	t.Helper()
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		orders, bad := workflow.Start(s, "order", func(w *workflow.Run, _ string) (string, error) {
			return workflow.TxIn(w, "book", l, func(ctx context.Context, tx *entry) (string, error) {
				calls++
				tx.effects++
				return f(ctx, calls)
			}, opts...)
		})
		require.NoError(t, bad)
		h, bad := orders.Run(t.Context(), "1", "")
		require.NoError(t, bad)
		got, err = h.Result(t.Context())
	})
	require.Zero(t, l.transactions, "transactions that have not ended")
	return got, calls, err
}

func books(context.Context, int) (string, error) { return "booked", nil }

func TestACommitWithoutAnAnswerIsLookedUp(t *testing.T) {
	l := newLedger()
	l.onCommit = failing(1)
	got, calls, err := booking(t, l, books)
	require.NoError(t, err)
	require.Equal(t, "booked", got)
	require.Equal(t, 1, calls)
	require.Equal(t, 1, l.effects)
}

func TestACommitThatHasFailedIsAnAttempt(t *testing.T) {
	l := newLedger()
	l.onCommit, l.failsBeforeCommitInstead = failing(1), true
	got, calls, err := booking(t, l, books)
	require.NoError(t, err)
	require.Equal(t, "booked", got)
	require.Equal(t, 2, calls)
	require.Equal(t, 1, l.effects)

	l = newLedger()
	l.onCommit, l.failsBeforeCommitInstead = failing(100), true
	_, calls, err = booking(t, l, books)
	require.ErrorContains(t, err, "connection lost")
	require.Equal(t, 5, calls, "the default of Tx")
	require.Zero(t, l.effects)
}

func TestACommitIsAskedForUntilTheDatabaseAnswers(t *testing.T) {
	l := newLedger()
	l.onCommit = failing(1)
	l.onBegin = func(call int) error {
		if call > 1 && call < 40 {
			return errLost
		}
		return nil
	}
	got, calls, err := booking(t, l, books, workflow.Retry(1, actor.Backoff{Min: time.Second, Max: time.Minute}))
	require.NoError(t, err)
	require.Equal(t, "booked", got)
	require.Equal(t, 1, calls)
	require.Equal(t, 1, l.effects)
	require.Equal(t, 40, l.begins)
}

func TestADatabaseThatIsNotThereIsNoOutcome(t *testing.T) {
	l := newLedger()
	l.onBegin = failing(50)
	got, calls, err := booking(t, l, books, workflow.Retry(1, actor.Backoff{Min: time.Second, Max: time.Minute}))
	require.NoError(t, err)
	require.Equal(t, "booked", got)
	require.Equal(t, 1, calls)
}

func TestAnErrorIsAnOutcomeOnceItIsSureThatItUndidEverything(t *testing.T) {
	l := newLedger()
	l.onUndo = failing(3)
	_, calls, err := booking(t, l, func(context.Context, int) (string, error) { return "", workflow.Final(errDeclined) })
	require.ErrorIs(t, err, errDeclined)
	require.Equal(t, 2, calls, "the first could not be undone for sure, and nor could the look after it")
	require.Zero(t, l.effects)
}

func TestAnAttemptThatTakesTooLongIsUndone(t *testing.T) {
	l := newLedger()
	got, calls, err := booking(t, l, func(ctx context.Context, attempt int) (string, error) {
		if attempt == 1 {
			<-ctx.Done()
			return "", context.Cause(ctx)
		}
		return "booked", nil
	}, workflow.Timeout(time.Minute))
	require.NoError(t, err)
	require.Equal(t, "booked", got)
	require.Equal(t, 2, calls)
	require.Equal(t, 1, l.effects)
}

func TestAResultThatCannotBeStoredIsUndone(t *testing.T) {
	l := newLedger()
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ string) (string, error) {
			_, err := workflow.TxIn(w, "book", l, func(_ context.Context, tx *entry) (chan int, error) {
				tx.effects++
				return make(chan int), nil
			})
			return "", err
		})
		require.NoError(t, err)
		_, err = orders.Run(t.Context(), "1", "")
		require.NoError(t, err)
		synctest.Wait()
		st, err := orders.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, workflow.Held, st.State)
		require.Contains(t, st.Error, workflow.ErrNotStorable.Error())
	})
	require.Zero(t, l.effects)
	require.Zero(t, l.transactions)
}

func TestAStoredResultOfAnotherTypeHoldsTheRun(t *testing.T) {
	l := newLedger()
	l.results["order/1/book"] = []byte{0xff}
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ string) (string, error) {
			return workflow.TxIn(w, "book", l, func(context.Context, *entry) (string, error) { return "", nil })
		})
		require.NoError(t, err)
		_, err = orders.Run(t.Context(), "1", "")
		require.NoError(t, err)
		synctest.Wait()
		st, err := orders.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, workflow.Held, st.State)
		require.Contains(t, st.Error, "the result in the database")
	})
	require.Zero(t, l.transactions)
}

func TestATxWithoutADatabaseHoldsTheRun(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ string) (string, error) {
			return workflow.Tx(w, "book", nil, func(context.Context, *sql.Tx) (string, error) { return "", nil })
		})
		require.NoError(t, err)
		_, err = orders.Run(t.Context(), "1", "")
		require.NoError(t, err)
		synctest.Wait()
		st, err := orders.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Contains(t, st.Error, `Tx "book" has no database`)
	})
}
