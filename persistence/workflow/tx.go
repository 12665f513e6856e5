package workflow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
)

// Tx is [Step] with the effect of f and its result in one transaction of db, an SQLite or
// PostgreSQL database. Both are there, exactly once, or neither is. f has its effect through tx
// alone, and does not commit or roll back. If the process dies after the commit, and before the
// result is in the journal, the next attempt finds the result in db and does not call f. If the
// run has been taken over meanwhile, nothing is committed for the former process.
//
// An error of f undoes the transaction. A Tx makes up to 5 attempts unless [Retry] says
// otherwise, since errors of tx may pass; f returns a [Final] error if another attempt is of no
// use. Until an attempt has learned from db whether one before it was committed, attempts go on
// without a limit. If the run is cancelled, a Tx may have been committed although its error is
// [ErrCancelled], as with every step: register the compensation before, and let it look.
//
// Results are rows of the table understudy_step, and the tokens of runs rows of understudy_fence,
// which Tx creates on demand, in PostgreSQL in the first schema of the search path. [TxDDL]
// creates them for roles that may not. The rows of a run are of no use once its outcomes are in
// the journal. So delete old ones, say those of last month, from time to time:
//
//	DELETE FROM understudy_step WHERE at < $1 -- seconds since 1970
//	DELETE FROM understudy_fence WHERE at < $1
//
// Both belong to the journal of the runs: empty them if you begin with a new journal.
//
// Transactions of one run, in its branches, wait for one another. In PostgreSQL set
// idle_in_transaction_session_timeout, because a process that is stopped keeps its locks, for
// which its successor would wait. Open an SQLite database with a busy_timeout, as
// "file:PATH?_pragma=busy_timeout(5000)". The file of a journal is refused, because its writers
// would wait.
func Tx[T any](w *Run, name string, db *sql.DB, f func(ctx context.Context, tx *sql.Tx) (T, error), opts ...StepOption) (T, error) {
	if db == nil {
		w.live.hold(fmt.Errorf("%w: Tx %q has no database", ErrInvalid, name))
	}
	return TxIn(w, name, sqlTransactions{db}, f, opts...)
}

// Transactions are those of a database that keeps the results of steps; X is what f of [TxIn]
// works with. postgres.TransactionsOf returns those of a journal. Methods are called by any
// goroutine.
//
// scope, token and key are those of the step, see [Scope], [Token] and [Key].
type Transactions[X any] interface {
	// Begin begins a transaction, which the end of ctx does not end. It waits for any other one
	// with the same key to end, and returns the result that this has stored, or nil. It returns
	// an error if there has been a higher token in the scope.
	Begin(ctx context.Context, scope string, token uint64, key string) (tx X, result []byte, err error)

	// Commit stores the result, and commits. It commits nothing once there has been a higher
	// token.
	Commit(ctx context.Context, tx X, scope string, token uint64, key string, result []byte) error

	// Undo rolls back. When it has returned nil, no lower token commits any more.
	Undo(ctx context.Context, tx X) error
}

// TxIn is [Tx] in other transactions than those of database/sql.
func TxIn[X, T any](w *Run, name string, in Transactions[X], f func(ctx context.Context, tx X) (T, error), opts ...StepOption) (T, error) {
	opts = append([]StepOption{Retry(5, actor.Backoff{Min: 100 * time.Millisecond, Max: 5 * time.Second})}, opts...)
	t := transaction[X, T]{in: in, live: w.live, was: optionsOf(opts).was}
	return Step(w, name, func(ctx context.Context) (T, error) { return t.attempt(ctx, f) }, opts...)
}

// A transaction is a step of [TxIn].
type transaction[X, T any] struct {
	in   Transactions[X]
	live *live
	was  []string
}

// unsettled is the error of an attempt that does not know whether one before it, or itself, was
// committed. It is never an outcome.
type unsettled struct{ error }

func (u unsettled) Unwrap() error { return u.error }

func (t transaction[X, T]) attempt(ctx context.Context, f func(ctx context.Context, tx X) (T, error)) (v T, err error) {
	tx, stored, err := t.begin(ctx)
	if err != nil {
		return v, unsettled{err}
	}
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	ended := false
	defer func() {
		if !ended { // f has panicked, there is nothing to do, or the goroutine ends
			_ = t.in.Undo(lasting, tx)
		}
	}()
	if stored != nil {
		return t.decode(stored), nil
	}
	v, err = f(ctx, tx)
	var result []byte
	if err == nil {
		result, err = codec.Marshal(sealed(t.live, v, nil))
	}
	ended = true
	if err == nil {
		err = t.in.Commit(lasting, tx, Scope(ctx), Token(ctx), Key(ctx), result)
	} else if t.in.Undo(lasting, tx) == nil {
		return v, err
	}
	if err == nil {
		return v, nil
	}
	return t.settle(ctx, err)
}

// settle follows an attempt that may or may not have been committed. It returns what was stored,
// or the error of the attempt once it is sure that nothing was.
func (t transaction[X, T]) settle(ctx context.Context, why error) (v T, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	tx, stored, err := t.begin(ctx)
	if err != nil {
		return v, unsettled{errors.Join(why, err)}
	}
	if err := t.in.Undo(ctx, tx); err != nil && stored == nil {
		return v, unsettled{errors.Join(why, err)}
	}
	if stored == nil {
		return v, why
	}
	return t.decode(stored), nil
}

func (t transaction[X, T]) begin(ctx context.Context) (X, []byte, error) {
	return t.in.Begin(ctx, Scope(ctx), Token(ctx), Key(ctx))
}

// decode returns a stored result, or holds the run.
func (t transaction[X, T]) decode(stored []byte) (v T) {
	var of value
	bad := codec.Unmarshal(stored, &of)
	if bad == nil {
		v, _, bad = open[T](of, t.was...)
	}
	if bad != nil {
		t.live.hold(fmt.Errorf("the result in the database: %w", bad))
	}
	return v
}
