package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/internal/pg"
	"github.com/understudy-go/understudy/persistence/internal/group"
	"github.com/understudy-go/understudy/persistence/journal"
)

// How long a server may be silent.
const (
	// cancelPatience is how much longer than its context a call may take to learn what
	// has become of the statement that it calls off.
	cancelPatience = 500 * time.Millisecond
	// commitPatience bounds the commit of a group: a connection that says nothing for so
	// long is given up.
	commitPatience = 30 * time.Second
	// closePatience is how long Close waits for what is under way.
	closePatience = 5 * time.Second
)

// DefaultSchema is where the tables are unless [Schema] says otherwise.
const DefaultSchema = "public"

var (
	_ journal.Journal       = (*Journal)(nil)
	_ journal.SnapshotStore = (*Journal)(nil)
	_ journal.EventReader   = (*Journal)(nil)
)

// A Journal is a [journal.Journal], [journal.SnapshotStore] and
// [journal.EventReader] in tables of a PostgreSQL database. Make one with [Open] or
// [New].
type Journal struct {
	journal.Notifier

	pool       *pgxpool.Pool
	owned      bool
	schema     string
	relaxed    bool
	statements statements

	queue     *group.Queue[request]
	committer sync.WaitGroup
	calls     calls
	closing   sync.Once
}

// An Option changes what [Open] and [New] make.
type Option func(*Journal)

// Schema says in which schema of the database the tables are. The name is used as it is,
// in any case and with any characters. The search path does not matter, as two programs
// with different paths would each have a journal of their own.
func Schema(name string) Option {
	return func(j *Journal) { j.schema = name }
}

// ProcessSafe gives up durability for speed: an append is answered before the server has
// written it to its disk (synchronous_commit=off). It survives the death of this process,
// but of the last ones some are lost when the server dies. Claims, deletions and snapshots
// are durable still, and so is every append that came before one of those. Without this
// option nothing that was acknowledged gets lost.
func ProcessSafe() Option {
	return func(j *Journal) { j.relaxed = true }
}

// Open opens the journal in the database at connString with a pool of connections of its
// own, and makes the tables when there are none, or brings them up to date. When they are
// up to date it needs no privilege but those of using them. Any number of processes may
// open the same journal, also at the same time.
//
// connString is what [pgxpool.ParseConfig] takes: a URL or keywords and values. An attempt
// to connect takes 5 s at most, if it does not set connect_timeout; the pool has 8
// connections or more, if it does not set pool_max_conns.
//
// It fails with [ErrNewerSchema] when a later version of this package has made the tables,
// and with [journal.ErrUnavailable] when the database cannot be used now.
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

// connect makes a pool, which connects when there is something to ask.
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
	// A statement that is called off is cancelled at the server, whose answer says whether
	// it came to anything. The default is to hang up, and nobody knows.
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelPatience}
	}
	return pgxpool.NewWithConfig(context.Background(), config)
}

// hasMaxConns reports whether connString sets pool_max_conns, which pgxpool takes out of
// what it parses.
func hasMaxConns(connString string) (bool, error) {
	config, err := pgconn.ParseConfig(connString)
	if err != nil {
		return false, err
	}
	_, set := config.RuntimeParams["pool_max_conns"]
	return set, nil
}

// New is Open with a pool of yours: whatever else takes connections from it makes the
// journal wait. The pool is yours to close, after the journal.
func New(ctx context.Context, pool *pgxpool.Pool, opts ...Option) (*Journal, error) {
	if pool == nil {
		return nil, errors.New("postgres: New needs a pool; make one with pgxpool.New, or use Open")
	}
	j := &Journal{pool: pool, schema: DefaultSchema, queue: group.NewQueue[request]()}
	for _, opt := range opts {
		opt(j)
	}
	if j.schema == "" {
		return nil, errors.New("postgres: Schema needs a name: without one two programs may mean different tables")
	}
	j.statements = prepare(j.schema, j.relaxed)
	if err := j.migrate(ctx); err != nil {
		return nil, fmt.Errorf("postgres: open a journal: %w", err)
	}
	j.calls.start()
	j.committer.Go(func() { j.queue.Serve(groupWeight, j.commitGroup) })
	return j, nil
}

// Close implements [journal.Journal]. What waits for its commit fails with
// [journal.ErrClosed]; what is under way has five seconds to end, and is
// [journal.ErrUnknown] if it does not.
func (j *Journal) Close() error {
	j.closing.Do(func() {
		j.queue.Close()
		j.calls.end(closePatience)
		j.committer.Wait()
		if j.owned {
			j.pool.Close()
		}
		j.Notify()
	})
	return nil
}
