package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/internal/options"
	"github.com/understudy-go/understudy/internal/pg"
	"github.com/understudy-go/understudy/singleton/lease"
)

// The default schema and name of the table; see [Table].
const (
	DefaultSchema = "public"
	DefaultTable  = "understudy_lease"
)

var _ lease.Store = (*Store)(nil)

// A Store is a [lease.Store], and a source of terms for managed singletons, in a table of a
// PostgreSQL database. Its methods may be called by any goroutine, and return when their context
// ends. Make one with [Open] or [New].
type Store struct {
	db         *pg.DB
	statements statements
}

// An Option configures a [Store].
type Option func(*pg.Table)

// Table sets the schema and the name of the table. The names are used literally, with their case
// and any characters. They are not looked up in the search path, because two programs with
// different paths would then have different leases. The default is public.understudy_lease.
func Table(schema, name string) Option {
	return func(t *pg.Table) { t.Schema, t.Name = schema, name }
}

// Open returns a store with a pool of connections of its own, so that nothing else makes a renewal
// wait. It does not connect: the pool connects, and reconnects, with the first request. An attempt
// to connect takes at most 5 s, unless connString sets connect_timeout.
//
// connString has the format of [pgxpool.ParseConfig]: a URL, or keywords and values.
func Open(connString string, opts ...Option) (*Store, error) {
	t, err := table(opts)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db, err := pg.Open(connString, t)
	if err != nil {
		return nil, fmt.Errorf("postgres: open a store of leases: %w", err)
	}
	return &Store{db, prepare(db)}, nil
}

// New returns a store that uses the caller's pool. Other users of the pool can make a renewal wait
// until the lease is lost. So can its ConnectTimeout when a server does not answer: set it to a few
// seconds. The caller closes the pool.
func New(pool *pgxpool.Pool, opts ...Option) (*Store, error) {
	t, err := table(opts)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db, err := pg.New(pool, t)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return &Store{db, prepare(db)}, nil
}

func table(opts []Option) (pg.Table, error) {
	t := pg.Table{Schema: DefaultSchema, Name: DefaultTable, Columns: columns, Migrations: migrations, Type: "Store"}
	return t, options.Apply(&t, opts)
}

// DDL returns the statement that [Store.Migrate] runs, for migration tools. It may be run again.
func (s *Store) DDL() string { return s.db.DDL() }

// ErrNewerSchema: a later version of this package has made the table. Use a newer build of the
// program.
//
// [Store.Migrate] returns it, and all other methods with a context; the first of them asks for the
// version.
var ErrNewerSchema = pg.ErrNewerSchema

// Migrate creates the table and its schema if they do not exist, and brings an older table up to
// date. If nothing is to be done, it needs only the privileges to use the table. Several processes
// may call it at once.
func (s *Store) Migrate(ctx context.Context) error { return s.db.Migrate(ctx) }

// Close closes the connections that [Open] made, and waits for requests in flight. It releases no
// lease. After [New] it does nothing.
func (s *Store) Close() { s.db.Close() }
