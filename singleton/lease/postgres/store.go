package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/internal/pg"
	"github.com/understudy-go/understudy/singleton/generation"
	"github.com/understudy-go/understudy/singleton/lease"
)

// Where the table is unless [Table] says otherwise.
const (
	DefaultSchema = "public"
	DefaultTable  = "understudy_lease"
)

var (
	_ lease.Store           = (*Store)(nil)
	_ generation.TermSource = (*Store)(nil)
)

// A Store is a [lease.Store] and a [generation.TermSource] in a table of a PostgreSQL
// database. Its methods may be called from any goroutine, and end when their context does.
// Make one with [Open] or [New].
type Store struct {
	db         *pg.DB
	statements statements
}

// An Option changes what [Open] and [New] make.
type Option func(*pg.Table)

// Table says where the table is. The names are used as they are, in any case and with any
// characters; they are not looked up in the search path, as two programs with different
// paths would each have a lease of their own.
func Table(schema, name string) Option {
	return func(t *pg.Table) { t.Schema, t.Name = schema, name }
}

// Open makes a store with a pool of connections of its own, as leases should have: nothing
// else then makes a renewal wait. It does not connect yet; that is done, and done again,
// when there is something to ask. An attempt to connect takes 5 s at most, if connString
// does not set connect_timeout.
//
// connString is what [pgxpool.ParseConfig] takes: a URL or keywords and values.
func Open(connString string, opts ...Option) (*Store, error) {
	db, err := pg.Open(connString, table(opts))
	if err != nil {
		return nil, fmt.Errorf("postgres: open a store of leases: %w", err)
	}
	return &Store{db, prepare(db)}, nil
}

// New makes a store that uses a pool of yours. Whatever else takes connections from it can
// make a renewal wait until the lease is lost, and so can its ConnectTimeout when a server
// does not answer: set that to a few seconds. The pool is yours to close.
func New(pool *pgxpool.Pool, opts ...Option) (*Store, error) {
	db, err := pg.New(pool, table(opts))
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return &Store{db, prepare(db)}, nil
}

func table(opts []Option) pg.Table {
	t := pg.Table{Schema: DefaultSchema, Name: DefaultTable, Columns: columns, Definition: definition, Type: "Store"}
	for _, opt := range opts {
		opt(&t)
	}
	return t
}

// DDL returns the statements that [Store.Migrate] runs, for whoever keeps the schema of the
// database in another way. The schema itself must exist.
func (s *Store) DDL() string { return s.db.DDL() }

// Migrate makes the table, and its schema, if they are not there. When they are it changes
// nothing and needs no privilege but those of using the table. Any number of processes may
// do it at once.
func (s *Store) Migrate(ctx context.Context) error { return s.db.Migrate(ctx) }

// Close closes the connections that [Open] made, and waits for the requests under way. It
// does not release any lease. After [New] it does nothing.
func (s *Store) Close() { s.db.Close() }
