package postgres_test

import (
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
	"github.com/understudy-go/understudy/persistence/postgres"
)

func TestJournalObeysTheLaws(t *testing.T) {
	s := pgtest.Start(t, "fsync=off") // no machine crashes, and busy disks delay nothing
	runLaws(t, s, s.URL())
}

// Every request may use another server connection, without the statements prepared on others.
func TestAJournalBehindAPoolerObeysTheLaws(t *testing.T) {
	s := pgtest.Start(t, "fsync=off")
	runLaws(t, s, s.PgBouncer(t, "transaction", 4)+"&default_query_exec_mode=exec")
}

// A handle is a journal with its location.
type handle struct {
	*postgres.Journal
	url, schema string
}

// runLaws reaches the server at url.
func runLaws(t *testing.T, s *pgtest.Server, url string) {
	alter := func(t *testing.T, j journal.Journal, statement string, args ...any) {
		alter(t, s, j.(*handle).schema, statement, args...)
	}
	journaltest.Run(t, func(t *testing.T) journal.Journal { return openHandle(t, url, rand.Text()) }, journaltest.Features{
		MaxPayload: postgres.MaxPayload,
		Skipped: `
			AStoreWithoutTimersRefusesThem: *postgres_test.handle is a timer store
			NoFileHasWhatIsForgotten: Features.Files is not set
		`,
		Reopen: func(t *testing.T, j journal.Journal) journal.Journal {
			require.NoError(t, j.Close())
			return openHandle(t, url, j.(*handle).schema)
		},
		SecondHandle: func(t *testing.T, j journal.Journal) journal.Journal {
			return openHandle(t, url, j.(*handle).schema)
		},
		DamageRecord: func(t *testing.T, j journal.Journal, id string, seq uint64) {
			alter(t, j, "UPDATE understudy_event SET payload = set_byte(payload, 0, get_byte(payload, 0) # 1) WHERE pid = $1 AND seq = $2", id, seq)
		},
		DropRecord: func(t *testing.T, j journal.Journal, id string, seq uint64) {
			alter(t, j, "DELETE FROM understudy_event WHERE pid = $1 AND seq = $2", id, seq)
		},
		DamageSnapshot: func(t *testing.T, j journal.Journal, id string, seq uint64) {
			alter(t, j, "UPDATE understudy_snapshot SET payload = set_byte(payload, 0, get_byte(payload, 0) # 1) WHERE pid = $1 AND seq = $2", id, seq)
		},
		DamageReader: func(t *testing.T, j journal.Journal, name string) {
			alter(t, j, "UPDATE understudy_reader SET ord = ord # 64 WHERE name = $1", name)
		},
		Stall: func(t *testing.T, j journal.Journal) func() {
			tx := begin(t, s, j.(*handle).schema)
			_, err := tx.Exec(t.Context(), "LOCK TABLE understudy_entity IN EXCLUSIVE MODE")
			require.NoError(t, err)
			return func() { require.NoError(t, tx.Rollback(t.Context())) }
		},
		Fill: func(t *testing.T, j journal.Journal) func() {
			alter(t, j, `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`)
			alter(t, j, "CREATE TRIGGER full_disk BEFORE INSERT ON understudy_event FOR EACH STATEMENT EXECUTE FUNCTION full_disk()")
			return func() { alter(t, j, "DROP TRIGGER full_disk ON understudy_event") }
		},
	})
}

func openHandle(t testing.TB, url, schema string) *handle {
	t.Helper()
	return &handle{Journal: openAt(t, url, postgres.Schema(schema)), url: url, schema: schema}
}

func openAt(t testing.TB, url string, opts ...postgres.Option) *postgres.Journal {
	t.Helper()
	j, err := postgres.Open(t.Context(), url, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

// open returns a journal of a schema that no other test uses.
func open(t testing.TB, s *pgtest.Server, opts ...postgres.Option) *handle {
	t.Helper()
	schema := rand.Text()
	return &handle{Journal: openAt(t, s.URL(), append(opts, postgres.Schema(schema))...), url: s.URL(), schema: schema}
}

// begin begins a transaction with a connection of its own, which sees the tables of a schema.
func begin(t testing.TB, s *pgtest.Server, schema string) pgx.Tx {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	_, err = conn.Exec(t.Context(), fmt.Sprintf("SET search_path = %s", pgx.Identifier{schema}.Sanitize()))
	require.NoError(t, err)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	return tx
}

// alter changes the tables of a schema as no journal would.
func alter(t testing.TB, s *pgtest.Server, schema, statement string, args ...any) {
	t.Helper()
	tx := begin(t, s, schema)
	_, err := tx.Exec(t.Context(), statement, args...)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, tx.Conn().Close(t.Context()))
}
