package postgres_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/lab/receivers"
	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
	"github.com/understudy-go/understudy/testkit"
)

// openSchema returns a database with an empty schema.
func openSchema(t *testing.T) *sql.DB {
	t.Helper()
	s, schema := pgtest.Shared(t), strings.ToLower(rand.Text())
	s.SQL(t, `CREATE SCHEMA "`+schema+`"`)
	db, err := sql.Open("pgx", s.URL()+"?search_path="+schema)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestPostgreSQLObeysTheLawsOfStores(t *testing.T) {
	receivers.Stores(t, func(t *testing.T) outside.Store { return outside.NewSQL(openSchema(t)) })
}

func TestPostgreSQLObeysTheLawsOfDatabases(t *testing.T) { receivers.Databases(t, openSchema) }

// The journal is claimed during the transaction, as if another process had taken the run over: it
// commits nothing, and the next incarnation of the run does it.
func TestAStepInTheDatabaseOfItsJournalCommitsOnceForTheNewestClaim(t *testing.T) {
	schema := rand.Text()
	j, err := postgres.Open(t.Context(), pgtest.Shared(t).URL(), postgres.Schema(schema))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	pgtest.Shared(t).SQL(t, `CREATE TABLE "`+schema+`".effect (token bigint)`)
	s := testkit.NewSystem(t, persistence.WithJournal(j))
	calls := 0
	orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ string) (string, error) {
		return workflow.TxIn(w, "book", postgres.TransactionsOf(j), func(ctx context.Context, tx pgx.Tx) (string, error) {
			if calls++; calls == 1 {
				if _, err := j.Claim(ctx, workflow.Scope(ctx), journal.WriterID{1}, journal.Bounds{}); err != nil {
					return "", err
				}
			}
			_, err := tx.Exec(ctx, `INSERT INTO "`+schema+`".effect VALUES ($1)`, int64(workflow.Token(ctx)))
			return "booked", err
		})
	})
	require.NoError(t, err)
	h, err := orders.Run(t.Context(), "1", "")
	require.NoError(t, err)
	got, err := "", context.DeadlineExceeded
	for errors.Is(err, context.DeadlineExceeded) { // the incarnation that was asked first is gone
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		got, err = h.Result(ctx)
		cancel()
	}
	require.NoError(t, err)
	require.Equal(t, "booked", got)
	require.Equal(t, 2, calls)
	require.Equal(t, "1", pgtest.Shared(t).SQL(t, `SELECT count(*) FROM "`+schema+`".effect`))
	require.Equal(t, "t", pgtest.Shared(t).SQL(t, `SELECT token = (SELECT epoch FROM "`+schema+`".understudy_entity WHERE pid = 'order|1') FROM "`+schema+`".effect`))
}

// The server is killed three times while runs book. What becomes of a commit without an answer is
// found out, so each booking is there once.
func TestStepsAreCommittedOnceAlthoughTheServerCrashes(t *testing.T) {
	server := pgtest.Start(t)
	db, err := sql.Open("pgx", server.URL())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.ExecContext(t.Context(), "CREATE TABLE effect (run text)")
	require.NoError(t, err)

	s := testkit.NewSystem(t, persistence.WithJournal(journal.NewMemory()))
	const runs, steps = 20, 10
	orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ string) (int, error) {
		for i := range steps {
			if _, err := workflow.Tx(w, strconv.Itoa(i), db, func(ctx context.Context, tx *sql.Tx) (string, error) {
				_, err := tx.ExecContext(ctx, "INSERT INTO effect VALUES ($1)", workflow.Key(ctx))
				return "", err
			}, workflow.Retry(5, actor.Backoff{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond})); err != nil {
				return i, err
			}
		}
		return steps, nil
	})
	require.NoError(t, err)
	for i := range runs {
		_, err := orders.Run(t.Context(), strconv.Itoa(i), "")
		require.NoError(t, err)
	}
	booked := func() (n int) {
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM effect").Scan(&n))
		return n
	}
	for crash := range 3 {
		for booked() < (crash+1)*runs*steps/5 {
		}
		server.Kill(t)
		server.Run(t)
	}
	for i := range runs {
		got, err := orders.Handle(strconv.Itoa(i)).Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, steps, got)
	}
	require.Equal(t, runs*steps, booked())
	require.Equal(t, strconv.Itoa(runs*steps), server.SQL(t, "SELECT count(DISTINCT run) FROM effect"))
}
