package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/internal/pg"
	"github.com/understudy-go/understudy/singleton/generation"
)

// Where the table is unless [Table] says otherwise.
const (
	DefaultSchema = "public"
	DefaultTable  = "understudy_generation"
)

var _ generation.Source = (*Source)(nil)

// A Source is a [generation.Source] in a table of a PostgreSQL database. Its methods may be
// called from any goroutine, and end when their context does. Make one with [Open] or [New].
type Source struct {
	db         *pg.DB
	statements statements
}

// An Option changes what [Open] and [New] make.
type Option func(*pg.Table)

// Table says where the table is. The names are used as they are, in any case and with any
// characters; they are not looked up in the search path, as two programs with different
// paths would each have generations of their own.
func Table(schema, name string) Option {
	return func(t *pg.Table) { t.Schema, t.Name = schema, name }
}

// Open makes a source with a pool of connections of its own. It does not connect yet; that is
// done, and done again, when there is something to ask. An attempt to connect takes 5 s at
// most, if connString does not set connect_timeout.
//
// connString is what [pgxpool.ParseConfig] takes: a URL or keywords and values.
func Open(connString string, opts ...Option) (*Source, error) {
	db, err := pg.Open(connString, table(opts))
	if err != nil {
		return nil, fmt.Errorf("postgres: open a source of generations: %w", err)
	}
	return &Source{db, prepare(db)}, nil
}

// New makes a source that uses a pool of yours, which is yours to close. Singletons wait
// while all of its connections are taken, and as long as its ConnectTimeout when a server
// does not answer: set that to a few seconds.
func New(pool *pgxpool.Pool, opts ...Option) (*Source, error) {
	db, err := pg.New(pool, table(opts))
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return &Source{db, prepare(db)}, nil
}

func table(opts []Option) pg.Table {
	t := pg.Table{Schema: DefaultSchema, Name: DefaultTable, Columns: columns, Definition: definition, Type: "Source"}
	for _, opt := range opts {
		opt(&t)
	}
	return t
}

// DDL returns the statements that [Source.Migrate] runs, for whoever keeps the schema of the
// database in another way. The schema itself must exist.
func (s *Source) DDL() string { return s.db.DDL() }

// Migrate makes the table, and its schema, if they are not there. When they are it changes
// nothing and needs no privilege but those of using the table. Any number of processes may
// do it at once.
func (s *Source) Migrate(ctx context.Context) error { return s.db.Migrate(ctx) }

// Close closes the connections that [Open] made, and waits for the requests under way.
// After [New] it does nothing.
func (s *Source) Close() { s.db.Close() }
