//go:build !race

package outside_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/lab/receivers"
	_ "github.com/understudy-go/understudy/persistence/sqlite" // registers the driver "sqlite"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
	"github.com/understudy-go/understudy/testkit/workflowtest"
)

func openSQLite(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "data.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestSQLiteObeysTheLawsOfStores(t *testing.T) {
	receivers.Stores(t, func(t *testing.T) outside.Store { return outside.NewSQL(openSQLite(t)) })
}

func TestSQLiteObeysTheLawsOfDatabases(t *testing.T) {
	receivers.Databases(t, func(t *testing.T) *sql.DB { return openSQLite(t) })
}

func TestAFenceNeedsAStep(t *testing.T) {
	db := openSQLite(t)
	require.NoError(t, outside.Migrate(t.Context(), db))
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.ErrorIs(t, outside.Fence(context.Background(), tx), outside.ErrNoStep)
	require.NoError(t, tx.Rollback())
}

// The process dies at each point. The bank has a database of its own.
func TestEffectsAreThereOnceWhereverTheProcessDies(t *testing.T) {
	workflowtest.CrashEverywhere(t, func(t testing.TB) workflowtest.Story {
		own, bank := newBooks(t), newBooks(t)
		charge := outside.Handler(outside.NewSQL(bank), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := write(r.Context(), outside.TxOf(r.Context())); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		}))
		client := &http.Client{Transport: outside.Transport{Base: base{charge}}}
		var orders *workflow.Type[string, string]
		return workflowtest.Story{
			Start: func(s *actor.System) (err error) {
				orders, err = workflow.Start(s, "order", func(w *workflow.Run, _ string) (string, error) {
					if err := workflow.Do(w, "charge", func(ctx context.Context) error { return pay(ctx, client) }); err != nil {
						return "", err
					}
					return workflow.Tx(w, "book", own, func(ctx context.Context, tx *sql.Tx) (string, error) { return "booked", write(ctx, tx) })
				})
				return err
			},
			Drive: func(ctx context.Context, _ *actor.System) error {
				h, err := orders.Run(ctx, "1", "")
				if err != nil {
					return err
				}
				_, err = h.Result(ctx)
				return err
			},
			Check: func(t testing.TB) {
				for _, db := range []*sql.DB{own, bank} {
					var n int
					require.NoError(t, db.QueryRow("SELECT count(*) FROM effect").Scan(&n))
					require.Equal(t, 1, n)
				}
			},
		}
	})
}

func newBooks(t testing.TB) *sql.DB {
	t.Helper()
	db := openSQLite(t)
	_, err := db.Exec("CREATE TABLE effect (what TEXT NOT NULL)")
	require.NoError(t, err)
	return db
}

func write(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO effect VALUES ('a')")
	return err
}

func pay(ctx context.Context, client *http.Client) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://bank.example/charge", http.NoBody)
	if err != nil {
		return err
	}
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return nil
}
