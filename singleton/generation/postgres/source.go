package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/internal/pg"
	"github.com/understudy-go/understudy/singleton/generation"
)

// The default schema and name of the table; see [Table].
const (
	DefaultSchema = "public"
	DefaultTable  = "understudy_generation"
)

var _ generation.Source = (*Source)(nil)

// A Source is a [generation.Source] in a table of a PostgreSQL database. Its methods may be called
// from any goroutine, and return soon after their context ends. Make one with [Open] or [New].
type Source struct {
	db         *pg.DB
	statements statements
}

// An Option changes the source that [Open] or [New] makes.
type Option func(*pg.Table)

// Table sets the schema and the name of the table. The default is public.understudy_generation.
// Names are used literally, in any case and with any characters. They are not looked up in the
// search path, because two programs with different paths would use different tables.
func Table(schema, name string) Option {
	return func(t *pg.Table) { t.Schema, t.Name = schema, name }
}

// Open returns a source with its own pool of connections. It does not connect yet: the source
// connects when it is used, and again after a failure. An attempt takes up to 5 s, unless
// connString sets connect_timeout. connString is a URL or keywords and values, as for
// [pgxpool.ParseConfig].
func Open(connString string, opts ...Option) (*Source, error) {
	t, err := table(opts)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db, err := pg.Open(connString, t)
	if err != nil {
		return nil, fmt.Errorf("postgres: open a source of generations: %w", err)
	}
	return &Source{db, prepare(db)}, nil
}

// New returns a source that uses the caller's pool, which the caller closes. A singleton waits
// while all connections of the pool are in use, and up to the pool's ConnectTimeout if a server
// does not answer: set that to a few seconds.
func New(pool *pgxpool.Pool, opts ...Option) (*Source, error) {
	t, err := table(opts)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db, err := pg.New(pool, t)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return &Source{db, prepare(db)}, nil
}

func table(opts []Option) (pg.Table, error) {
	t := pg.Table{Schema: DefaultSchema, Name: DefaultTable, Columns: columns, Migrations: migrations, Type: "Source"}
	for i, o := range opts {
		if o == nil {
			return pg.Table{}, fmt.Errorf("option %d is nil", i+1)
		}
		o(&t)
	}
	return t, nil
}

// DDL returns the statement that [Source.Migrate] runs, for migration tools. It may be run again.
func (s *Source) DDL() string { return s.db.DDL() }

// ErrNewerSchema: a later version of this package has made the table. Use a newer build of the
// program.
//
// [Source.Migrate] returns it, and all other methods with a context; the first of them asks for the
// version.
var ErrNewerSchema = pg.ErrNewerSchema

// Migrate creates the table and its schema if they do not exist, and brings an older table up to
// date. If nothing is to be done, it needs only the privileges to use the table. Several processes
// may call it at once.
func (s *Source) Migrate(ctx context.Context) error { return s.db.Migrate(ctx) }

// Close closes the connections that [Open] has made, after the requests under way have ended. After
// [New] it does nothing.
func (s *Source) Close() { s.db.Close() }
