package postgres_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/testkit"
)

type booked struct{ Cents int }

func init() { actor.RegisterType[booked]("postgres_test.booked") }

// Two projections of a name run by mistake, each with several workers, while the server
// ends their connections now and then: each event is counted once in a table of the
// database.
func TestProjectionsIntoADatabaseThatCutsThemCountEachEventOnce(t *testing.T) {
	s := pgtest.Shared(t)
	j := openHandle(t, s.URL(), rand.Text())
	db, err := sql.Open("pgx", s.URL())
	require.NoError(t, err)
	defer db.Close()
	for _, table := range []string{"projection_offset", "projected"} {
		_, err = db.Exec("DROP TABLE IF EXISTS " + table)
		require.NoError(t, err)
	}
	_, err = db.Exec("CREATE TABLE projected (id TEXT PRIMARY KEY, cents BIGINT NOT NULL, events BIGINT NOT NULL)")
	require.NoError(t, err)
	handler := projection.InTx(db, func(ctx context.Context, tx *sql.Tx, e projection.Event[booked]) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO projected VALUES ($1, $2, 1)
			ON CONFLICT (id) DO UPDATE SET cents = projected.cents + $2, events = projected.events + 1`, e.ID, e.Event.Cents)
		return err
	})
	p := projection.New("booked", j.Journal, journal.Query{}, handler, projection.Workers(3), projection.InBatches(7, time.Second),
		projection.RestartBackoff(actor.Backoff{Min: 5 * time.Millisecond}))
	system := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.NewNop()))
	actor.Spawn(system, p.Behavior(), "one")
	actor.Spawn(system, p.Behavior(), "two")

	killer, err := db.Conn(t.Context()) // of its own: one of the pool may have been ended the last time
	require.NoError(t, err)
	defer killer.Close()
	want := map[string][2]int{}
	for i := range 60 {
		id := fmt.Sprint("account-", i%12)
		var cents []int
		for k := range 10 {
			cents = append(cents, i+k)
			want[id] = [2]int{want[id][0] + i + k, want[id][1] + 1}
		}
		book(t, j.Journal, id, cents...)
		if i%10 == 5 {
			_, err = killer.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%project%' AND pid <> pg_backend_pid()")
			require.NoError(t, err)
		}
	}
	require.Eventually(t, func() bool { //nolint:forbidigo // a real server
		var n int
		return db.QueryRow("SELECT coalesce(sum(events), 0) FROM projected").Scan(&n) == nil && n >= 600
	}, 30*time.Second, 10*time.Millisecond)
	require.NoError(t, system.Shutdown(t.Context()))

	rows, err := db.Query("SELECT id, cents, events FROM projected")
	require.NoError(t, err)
	defer rows.Close()
	got := map[string][2]int{}
	for rows.Next() {
		var id string
		var cents, events int
		require.NoError(t, rows.Scan(&id, &cents, &events))
		got[id] = [2]int{cents, events}
	}
	require.NoError(t, rows.Err())
	require.Equal(t, want, got)
}

func book(t *testing.T, j journal.Journal, id string, cents ...int) {
	t.Helper()
	claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	req := journal.AppendRequest{ID: id, Epoch: claim.Epoch, Prev: claim.LastSeq}
	for i, n := range cents {
		event, err := extension.Pack(booked{n})
		require.NoError(t, err)
		req.Records = append(req.Records, journal.Record{
			Seq: claim.LastSeq + uint64(i) + 1, Epoch: claim.Epoch, Type: event.Type, Payload: event.Data,
		})
	}
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{req})[0])
}

// inSchema opens the server with a schema of its own as the search path.
func inSchema(t *testing.T, s *pgtest.Server, user, schema string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", "postgres://"+user+"@"+s.Addr()+"/postgres?search_path="+schema)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func countBooked(context.Context, *sql.Tx, projection.Event[booked]) error { return nil }

func TestWorkersAndProcessesOnAFreshDatabaseCreateTheOffsetsOnce(t *testing.T) {
	s := pgtest.Shared(t)
	j := openHandle(t, s.URL(), rand.Text())
	for i := range 8 {
		book(t, j.Journal, fmt.Sprint("id-", i), 1)
	}
	for i := range 20 {
		schema := fmt.Sprint("fresh_", i)
		s.SQL(t, "CREATE SCHEMA "+schema)
		var all sync.WaitGroup
		failures := make(chan error, 4)
		for range 2 { // as two processes, each with several workers
			db := inSchema(t, s, "postgres", schema)
			for k := range 2 {
				p := projection.New(fmt.Sprint("fresh-", k), j.Journal, journal.Query{}, projection.InTx(db, countBooked), projection.Workers(4))
				all.Go(func() {
					_, err := p.CatchUp(t.Context())
					if !errors.Is(err, projection.ErrMoved) { // the other process was faster
						failures <- err
					}
				})
			}
		}
		all.Wait()
		close(failures)
		for err := range failures {
			require.NoError(t, err)
		}
	}
}

func TestARoleThatMayNotCreateTablesUsesOffsetsThatExist(t *testing.T) {
	s := pgtest.Shared(t)
	j := openHandle(t, s.URL(), rand.Text())
	book(t, j.Journal, "x", 1)
	s.SQL(t, "CREATE ROLE limited LOGIN; CREATE SCHEMA bounded; GRANT USAGE ON SCHEMA bounded TO limited")
	p := projection.New("limited", j.Journal, journal.Query{}, projection.InTx(inSchema(t, s, "limited", "bounded"), countBooked))
	_, err := p.CatchUp(t.Context())
	require.ErrorContains(t, err, "create the table projection_offset")
	require.ErrorContains(t, err, "permission denied")

	for range 2 {
		s.SQL(t, "SET search_path = bounded; "+projection.DDL())
	}
	s.SQL(t, "GRANT SELECT, INSERT, UPDATE ON bounded.projection_offset TO limited")
	got, err := p.CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(1), got.Workers[0].Handled)
	require.Equal(t, "understudy, version 1", s.SQL(t, "SELECT obj_description('bounded.projection_offset'::regclass)"))
}
