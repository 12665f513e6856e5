package postgres_test

import (
	"crypto/rand"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

// A ledger is a journal beside a table that its transactions change.
type ledger struct {
	*handle
	t *testing.T
	s *pgtest.Server
}

func newLedger(t *testing.T) ledger {
	s := pgtest.Shared(t)
	l := ledger{openHandle(t, s.URL(), rand.Text()), t, s}
	alter(t, s, l.schema, "CREATE TABLE effect (what text)")
	return l
}

func (l ledger) claim() uint64 {
	l.t.Helper()
	c, err := l.Claim(l.t.Context(), "order|1", journal.WriterID{1}, journal.Bounds{})
	require.NoError(l.t, err)
	return c.Epoch
}

func (l ledger) book(tx pgx.Tx) {
	l.t.Helper()
	_, err := tx.Exec(l.t.Context(), "INSERT INTO "+pgx.Identifier{l.schema, "effect"}.Sanitize()+" VALUES ('a')")
	require.NoError(l.t, err)
}

func (l ledger) effects() string {
	l.t.Helper()
	return l.s.SQL(l.t, "SELECT count(*) FROM "+pgx.Identifier{l.schema, "effect"}.Sanitize())
}

func TestAStepIsCommittedWithItsResult(t *testing.T) {
	l := newLedger(t)
	epoch, in := l.claim(), postgres.TransactionsOf(l.Journal)
	tx, result, err := in.Begin(t.Context(), "order|1", epoch, "order/1/book")
	require.NoError(t, err)
	require.Nil(t, result)
	l.book(tx)
	require.NoError(t, in.Commit(t.Context(), tx, "order|1", epoch, "order/1/book", []byte("done")))

	tx, result, err = in.Begin(t.Context(), "order|1", epoch, "order/1/book")
	require.NoError(t, err)
	require.Equal(t, "done", string(result))
	require.NoError(t, in.Undo(t.Context(), tx))
	require.Equal(t, "1", l.effects())
}

func TestAStepThatIsUndoneLeavesNothing(t *testing.T) {
	l := newLedger(t)
	epoch, in := l.claim(), postgres.TransactionsOf(l.Journal)
	for range 2 {
		tx, result, err := in.Begin(t.Context(), "order|1", epoch, "order/1/book")
		require.NoError(t, err)
		require.Nil(t, result)
		l.book(tx)
		require.NoError(t, in.Undo(t.Context(), tx))
	}
	require.Equal(t, "0", l.effects())
}

func TestAStepOfAWriterThatWasReplacedCommitsNothing(t *testing.T) {
	l := newLedger(t)
	epoch, in := l.claim(), postgres.TransactionsOf(l.Journal)
	tx, _, err := in.Begin(t.Context(), "order|1", epoch, "order/1/book")
	require.NoError(t, err)
	l.book(tx)
	successor := l.claim() // does not wait for the transaction
	require.ErrorIs(t, in.Commit(t.Context(), tx, "order|1", epoch, "order/1/book", []byte("done")), journal.ErrFenced)
	require.Equal(t, "0", l.effects())
	_, _, err = in.Begin(t.Context(), "order|1", epoch, "order/1/book")
	require.ErrorIs(t, err, journal.ErrFenced)

	tx, result, err := in.Begin(t.Context(), "order|1", successor, "order/1/book")
	require.NoError(t, err)
	require.Nil(t, result)
	require.NoError(t, in.Undo(t.Context(), tx))
}

func TestTwoTransactionsOfAStepAtOnceAreOne(t *testing.T) {
	l := newLedger(t)
	epoch, in := l.claim(), postgres.TransactionsOf(l.Journal)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			tx, result, err := in.Begin(t.Context(), "order|1", epoch, "order/1/book")
			if err != nil {
				t.Error(err)
				return
			}
			if result != nil {
				err = in.Undo(t.Context(), tx)
			} else {
				l.book(tx)
				err = in.Commit(t.Context(), tx, "order|1", epoch, "order/1/book", []byte("done"))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, "1", l.effects())
}

func TestAnotherJournalThanThatOfTheRunIsNamedAsTheCause(t *testing.T) {
	_, _, err := postgres.TransactionsOf(newLedger(t).Journal).Begin(t.Context(), "order|1", 1, "order/1/book")
	require.ErrorContains(t, err, "this journal does not have the run order|1: take the journal of its system")
}

func TestAStoppedProcessKeepsItsLocksForABoundedTime(t *testing.T) {
	l := newLedger(t)
	tx, _, err := postgres.TransactionsOf(l.Journal).Begin(t.Context(), "order|1", l.claim(), "order/1/book")
	require.NoError(t, err)
	var bound string
	require.NoError(t, tx.QueryRow(t.Context(), "SELECT current_setting('idle_in_transaction_session_timeout')").Scan(&bound))
	require.Equal(t, "30s", bound)
	require.NoError(t, tx.Rollback(t.Context()))
}
