package receivers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
	"github.com/understudy-go/understudy/testkit"
)

// Databases tests transactions of a database. open returns an empty one.
func Databases(t *testing.T, open func(t *testing.T) *sql.DB) {
	laws := map[string]func(t *testing.T, db *sql.DB){
		"TheEffectOfAHandlerIsThereOnce":             handlesOnce,
		"NothingOfAFailedHandlerIsThere":             handlesNothing,
		"AHandlerWhosePanicIsCaughtLeavesNothing":    handlesPanics,
		"AReplacedProcessCommitsNothing":             fences,
		"AFenceWaitsForTheOneBefore":                 fencesInTurn,
		"AStepCommitsOnce":                           commitsOnce,
		"AStepThatWasCommittedIsFoundAfterACrash":    findsAfterCrash,
		"AnErrorUndoesAStep":                         undoes,
		"AFinalErrorEndsTheAttempts":                 endsFinally,
		"APanicUndoesAStep":                          undoesPanics,
		"AStepOfAReplacedProcessIsRefused":           refusesSteps,
		"AFailedStepFences":                          fencesFailedSteps,
		"BranchesCommitEachOnce":                     commitsBranches,
		"OldRowsMayBeDeletedOnceOutcomesAreInTheLog": forgets,
	}
	for name, law := range laws {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			_, err := db.ExecContext(t.Context(), "CREATE TABLE effect (what TEXT NOT NULL)")
			require.NoError(t, err)
			law(t, db)
		})
	}
}

// book is an effect.
func book(ctx context.Context, tx *sql.Tx, what string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO effect (what) VALUES ($1)", what)
	return err
}

func effects(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT what FROM effect ORDER BY what")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var what string
		require.NoError(t, rows.Scan(&what))
		all = append(all, what)
	}
	require.NoError(t, rows.Err())
	return all
}

func handlesOnce(t *testing.T, db *sql.DB) {
	h := outside.Handler(outside.NewSQL(db), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := book(r.Context(), outside.TxOf(r.Context()), "charge"); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	answers := make(chan int)
	for range 8 { // at once
		go func() { answers <- post(h, "/charge", headers{"a", "order|1", "1"}).Code }()
	}
	for range 8 {
		require.Equal(t, http.StatusOK, <-answers)
	}
	require.Equal(t, []string{"charge"}, effects(t, db))
}

func handlesNothing(t *testing.T, db *sql.DB) {
	h := outside.Handler(outside.NewSQL(db), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = book(r.Context(), outside.TxOf(r.Context()), "charge")
		_, err := outside.TxOf(r.Context()).ExecContext(r.Context(), "INSERT INTO nowhere VALUES (1)") // PostgreSQL: ends all but a rollback
		http.Error(w, fmt.Sprint(err), http.StatusInternalServerError)
	}))
	require.Equal(t, http.StatusInternalServerError, post(h, "/charge", headers{"a", "order|1", "1"}).Code)
	require.Empty(t, effects(t, db))
}

func handlesPanics(t *testing.T, db *sql.DB) {
	h := outside.Handler(outside.NewSQL(db), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = book(r.Context(), outside.TxOf(r.Context()), "charge")
		panic("broken")
	}))
	require.Panics(t, func() { post(h, "/charge", headers{"a", "order|1", "1"}) })
	require.Empty(t, effects(t, db))
}

// as returns the context of a caller.
func as(t *testing.T, scope string, token uint64) (ctx context.Context) {
	t.Helper()
	h := outside.Handler(outside.NewMemory(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
	require.Equal(t, http.StatusOK, call(t.Context(), h, http.MethodPost, "/", headers{"", scope, strconv.FormatUint(token, 10)}).Code)
	return ctx
}

// fenced books in a transaction of the caller of ctx.
func fenced(ctx context.Context, db *sql.DB, what string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	err = outside.Fence(ctx, tx)
	if err == nil {
		err = book(ctx, tx, what)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

func fences(t *testing.T, db *sql.DB) {
	require.NoError(t, outside.Migrate(t.Context(), db))
	require.NoError(t, fenced(as(t, "order|1", 7), db, "a"))
	require.NoError(t, fenced(as(t, "order|1", 7), db, "b"))
	require.NoError(t, fenced(as(t, "order|1", 9), db, "c"))
	require.ErrorIs(t, fenced(as(t, "order|1", 8), db, "d"), outside.ErrReplaced)
	require.NoError(t, fenced(as(t, "order|2", 1), db, "e"))
	require.Equal(t, []string{"a", "b", "c", "e"}, effects(t, db))
}

func fencesInTurn(t *testing.T, db *sql.DB) {
	require.NoError(t, outside.Migrate(t.Context(), db))
	old, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, outside.Fence(as(t, "order|1", 1), old))
	successor := as(t, "order|1", 2)
	done := make(chan error)
	go func() { done <- fenced(successor, db, "b") }()
	require.NoError(t, book(t.Context(), old, "a"))
	require.NoError(t, old.Commit())
	require.NoError(t, <-done)
	require.Equal(t, []string{"a", "b"}, effects(t, db))
	require.ErrorIs(t, fenced(as(t, "order|1", 1), db, "c"), outside.ErrReplaced)
}

// fast is between attempts.
var fast = workflow.Retry(3, actor.Backoff{Min: time.Millisecond, Max: time.Millisecond})

// run runs f as run 1 of a type, on a system with that journal.
func run(t *testing.T, j persistence.Journal, f func(w *workflow.Run) (string, error)) workflow.Handle[string] {
	t.Helper()
	s := testkit.NewSystem(t, persistence.WithJournal(j))
	orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ string) (string, error) { return f(w) })
	require.NoError(t, err)
	h, err := orders.Run(t.Context(), "1", "")
	require.NoError(t, err)
	return h
}

func commitsOnce(t *testing.T, db *sql.DB) {
	calls := 0
	h := run(t, journal.NewMemory(), func(w *workflow.Run) (string, error) {
		return workflow.Tx(w, "book", db, func(ctx context.Context, tx *sql.Tx) (string, error) {
			calls++
			return "booked", book(ctx, tx, "a")
		})
	})
	got, err := h.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, "booked", got)
	require.Equal(t, 1, calls)
	require.Equal(t, []string{"a"}, effects(t, db))
}

// The journal is claimed between the commit and the append of the outcome, so that this is
// refused, as if the process had died or another one had taken the run over.
func findsAfterCrash(t *testing.T, db *sql.DB) {
	j := journal.NewMemory()
	var calls, incarnations atomic.Int64
	h := run(t, j, func(w *workflow.Run) (string, error) {
		incarnations.Add(1)
		return workflow.Tx(w, "book", db, func(ctx context.Context, tx *sql.Tx) (string, error) {
			calls.Add(1)
			_, err := j.Claim(ctx, workflow.Scope(ctx), journal.WriterID{1}, journal.Bounds{})
			return "booked", errors.Join(err, book(ctx, tx, "a"))
		})
	})
	got, err := "", context.DeadlineExceeded
	for errors.Is(err, context.DeadlineExceeded) { // the incarnation that was asked first is gone
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		got, err = h.Result(ctx)
		cancel()
	}
	require.NoError(t, err)
	require.Equal(t, "booked", got)
	require.EqualValues(t, 1, calls.Load())
	require.Greater(t, incarnations.Load(), int64(1))
	require.Equal(t, []string{"a"}, effects(t, db))
}

func undoes(t *testing.T, db *sql.DB) {
	calls := 0
	h := run(t, journal.NewMemory(), func(w *workflow.Run) (string, error) {
		return workflow.Tx(w, "book", db, func(ctx context.Context, tx *sql.Tx) (string, error) {
			calls++
			if err := book(ctx, tx, fmt.Sprint("a", calls)); err != nil {
				return "", err
			}
			if calls < 3 {
				_, err := tx.ExecContext(ctx, "INSERT INTO nowhere VALUES (1)")
				return "", err
			}
			return "booked", nil
		}, fast)
	})
	got, err := h.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, "booked", got)
	require.Equal(t, []string{"a3"}, effects(t, db))
}

func endsFinally(t *testing.T, db *sql.DB) {
	calls := 0
	h := run(t, journal.NewMemory(), func(w *workflow.Run) (string, error) {
		return workflow.Tx(w, "book", db, func(ctx context.Context, tx *sql.Tx) (string, error) {
			calls++
			return "", errors.Join(book(ctx, tx, "a"), workflow.Final(errors.New("no funds")))
		})
	})
	_, err := h.Result(t.Context())
	require.ErrorContains(t, err, "no funds")
	require.Equal(t, 1, calls)
	require.Empty(t, effects(t, db))
}

func undoesPanics(t *testing.T, db *sql.DB) {
	h := run(t, journal.NewMemory(), func(w *workflow.Run) (string, error) {
		return workflow.Tx(w, "book", db, func(ctx context.Context, tx *sql.Tx) (string, error) {
			_ = book(ctx, tx, "a")
			panic("broken")
		}, fast)
	})
	_, err := h.Result(t.Context())
	require.ErrorIs(t, err, workflow.ErrPanicked)
	require.Empty(t, effects(t, db))
}

func refusesSteps(t *testing.T, db *sql.DB) {
	require.NoError(t, outside.Migrate(t.Context(), db))
	require.NoError(t, fenced(as(t, "order|1", 1<<60), db, "by the successor"))
	s := testkit.NewSystem(t, persistence.WithJournal(journal.NewMemory()))
	called := make(chan bool, 1)
	orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ string) (string, error) {
		return workflow.Tx(w, "book", db, func(context.Context, *sql.Tx) (string, error) {
			called <- true
			return "", nil
		}, workflow.Retry(1, actor.Backoff{Min: time.Hour, Max: time.Hour}))
	})
	require.NoError(t, err)
	_, err = orders.Run(t.Context(), "1", "")
	require.NoError(t, err)
	var st workflow.Status
	for len(st.Steps) == 0 || st.Steps[0].Doing != "retrying" { // also with Retry(1)
		st, err = orders.Look(t.Context(), "1")
		require.NoError(t, err)
	}
	require.Contains(t, st.Steps[0].Error, outside.ErrReplaced.Error())
	require.Empty(t, called)
	require.Equal(t, []string{"by the successor"}, effects(t, db))
}

func fencesFailedSteps(t *testing.T, db *sql.DB) {
	var token uint64
	h := run(t, journal.NewMemory(), func(w *workflow.Run) (string, error) {
		return workflow.Tx(w, "book", db, func(ctx context.Context, _ *sql.Tx) (string, error) {
			token = workflow.Token(ctx)
			return "", workflow.Final(errors.New("no funds"))
		})
	})
	_, err := h.Result(t.Context())
	require.ErrorContains(t, err, "no funds")
	require.ErrorIs(t, fenced(as(t, "order|1", token-1), db, "late"), outside.ErrReplaced)
}

func commitsBranches(t *testing.T, db *sql.DB) {
	h := run(t, journal.NewMemory(), func(w *workflow.Run) (string, error) {
		var parts []workflow.Part
		for i := range 6 {
			parts = append(parts, func(w *workflow.Run) error {
				_, err := workflow.Tx(w, "book", db, func(ctx context.Context, tx *sql.Tx) (string, error) {
					return "booked", book(ctx, tx, strconv.Itoa(i))
				})
				return err
			})
		}
		return "", workflow.Branch(w, "all", parts...)
	})
	_, err := h.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"0", "1", "2", "3", "4", "5"}, effects(t, db))
}

func forgets(t *testing.T, db *sql.DB) {
	commitsOnce(t, db)
	for _, table := range []string{"understudy_step", "understudy_fence"} {
		result, err := db.ExecContext(t.Context(), "DELETE FROM "+table+" WHERE at < $1", time.Now().Add(time.Minute).Unix())
		require.NoError(t, err)
		n, err := result.RowsAffected()
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
	}
}
