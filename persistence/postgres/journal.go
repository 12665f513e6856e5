package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/persistence/internal/group"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

// The time limits for answers of the server.
const (
	// cancelPatience is how much longer than its context a call may take to learn the outcome of
	// the statement that it cancels.
	cancelPatience = 500 * time.Millisecond
	// patience bounds the commit of a group, and each page that is read: a connection that is
	// silent for this long is closed. A server that vanishes does not close its connections.
	patience      = 30 * time.Second
	closePatience = 5 * time.Second
)

// DefaultSchema is the schema of the tables unless [Schema] sets another one.
const DefaultSchema = "public"

var (
	_ journal.Journal       = (*Journal)(nil)
	_ journal.SnapshotStore = (*Journal)(nil)
	_ journal.EventReader   = (*Journal)(nil)
	_ journal.TimerStore    = (*Journal)(nil)
	_ journal.Forgetter     = (*Journal)(nil)
	_ journal.Retainer      = (*Journal)(nil)
)

// A Journal is a [journal.Journal], [journal.SnapshotStore], [journal.EventReader],
// [journal.TimerStore], [journal.Forgetter] and [journal.Retainer] in tables of a PostgreSQL
// database. Make one with [Open] or [New].
type Journal struct {
	journal.Notifier

	pool       *pgxpool.Pool
	owned      bool
	schema     string
	relaxed    bool
	log        *zap.Logger
	migrations []string
	statements statements
	patience   time.Duration

	queue      *group.Queue[request]
	claims     *group.Queue[claim]
	claiming   atomic.Int64 // calls of Claim under way
	committers sync.WaitGroup
	calls      calls
	closing    sync.Once
}

// An Option changes how [Open] and [New] make a journal.
type Option func(*Journal)

// Schema sets the schema of the tables. The name is used literally: case matters, and any
// characters are allowed. The search path is ignored, because otherwise two programs with different
// paths would use two journals. The default is [DefaultSchema].
func Schema(name string) Option {
	return func(j *Journal) { j.schema = name }
}

// ProcessSafe gives up durability for speed: an append is acknowledged before the server has
// written it to its disk (synchronous_commit=off). Appends survive a crash of this process, but a
// crash of the server may lose the last ones. Claims, deletions and snapshots are still durable, as
// are all appends before them. Without this option no acknowledged append is lost.
func ProcessSafe() Option {
	return func(j *Journal) { j.relaxed = true }
}

// Logger sets the logger. [Open] and [New] log when they create the tables or migrate them to the
// version of this package. Without this option, and with nil, nothing is logged.
func Logger(log *zap.Logger) Option {
	return func(j *Journal) {
		if log != nil {
			j.log = log
		}
	}
}

// Open opens the journal in the database at connString, with a separate pool of connections. It
// creates the tables if they do not exist, or brings them up to date. If they are up to date, it
// needs only the privileges to use them. Any number of processes may open the same journal, also at
// the same time.
//
// ctx bounds all of this. If it ends during a migration, the migration is rolled back, so leave
// time for one that changes large tables.
//
// connString has the format of [pgxpool.ParseConfig]: a URL, or keywords and values. If it does not
// set connect_timeout, an attempt to connect takes at most 5 s. If it does not set pool_max_conns,
// the pool has at least 8 connections.
//
// Open fails with [ErrNewerSchema] if a later version of this package has made the tables, and with
// [journal.ErrUnavailable] if the database cannot be used now.
func Open(ctx context.Context, connString string, opts ...Option) (*Journal, error) {
	pool, err := connect(connString) //nolint:contextcheck // the connections outlive the call that opens them
	if err != nil {
		return nil, fmt.Errorf("postgres: open a journal: %w", err)
	}
	j, err := New(ctx, pool, opts...)
	if err != nil {
		pool.Close()
		return nil, err
	}
	j.owned = true
	return j, nil
}

func connect(connString string) (*pgxpool.Pool, error) {
	config, err := pg.ParseConfig(connString)
	if err != nil {
		return nil, err
	}
	explicit, err := hasMaxConns(connString)
	if err != nil {
		return nil, err
	}
	if !explicit {
		config.MaxConns = int32(max(8, 2*runtime.GOMAXPROCS(0)))
	}
	// A statement whose context is done is cancelled at the server, whose answer says whether it
	// took effect. The default of pgx closes the connection, which leaves the outcome unknown.
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelPatience}
	}
	return pgxpool.NewWithConfig(context.Background(), config)
}

// hasMaxConns reports whether connString sets pool_max_conns, which pgxpool removes from the parsed
// settings.
func hasMaxConns(connString string) (bool, error) {
	config, err := pgconn.ParseConfig(connString)
	if err != nil {
		return false, err
	}
	_, set := config.RuntimeParams["pool_max_conns"]
	return set, nil
}

// New is Open with the caller's pool. If other users take all its connections, the journal waits.
// The caller closes the pool, after the journal.
func New(ctx context.Context, pool *pgxpool.Pool, opts ...Option) (*Journal, error) {
	if pool == nil {
		return nil, errors.New("postgres: New needs a pool; make one with pgxpool.New, or use Open")
	}
	j := &Journal{pool: pool, schema: DefaultSchema, log: zap.NewNop(), migrations: migrations, patience: patience, queue: group.NewQueue[request](), claims: group.NewQueue[claim]()}
	for i, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("postgres: option %d is nil", i+1)
		}
		o(j)
	}
	if j.schema == "" {
		return nil, errors.New("postgres: Schema needs a name: without one two programs may mean different tables")
	}
	j.statements = prepare(j.schema, j.relaxed)
	if err := migrate(ctx, j); err != nil {
		return nil, fmt.Errorf("postgres: open a journal: %w", err)
	}
	j.calls.start()
	for range committers {
		j.committers.Go(func() { serve(j, j.queue, j.insert) }) //nolint:contextcheck // until the journal is closed
	}
	j.committers.Go(func() { serve(j, j.claims, j.claimAll) }) //nolint:contextcheck // likewise
	return j, nil
}

// Close implements [journal.Journal]. Queued requests fail with [journal.ErrClosed]. Requests in
// progress have 5 s to end, and fail with [journal.ErrUnknown] if they do not.
func (j *Journal) Close() error {
	j.closing.Do(func() {
		j.queue.Close()
		j.claims.Close()
		j.calls.end(closePatience)
		j.committers.Wait()
		if j.owned {
			j.pool.Close()
		}
		j.Notify()
	})
	return nil
}
