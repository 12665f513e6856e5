package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/cluster/placement/generation"
)

// How long a connection of [Open] may be silent, where the connection string does not say.
const (
	// connectTimeout bounds an attempt to connect, which goes on after its caller has given
	// up and takes up a place in the pool.
	connectTimeout = 5 * time.Second
	// pingTimeout bounds the look at a connection that was idle, so that one whose server
	// has vanished does not cost a whole operation.
	pingTimeout = 2 * time.Second
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
	pool       *pgxpool.Pool
	owned      bool
	schema     string
	table      string
	statements statements
}

// An Option changes what [Open] and [New] make.
type Option func(*Source)

// Table says where the table is. The names are used as they are, in any case and with any
// characters; they are not looked up in the search path, as two programs with different
// paths would each have generations of their own.
func Table(schema, name string) Option {
	return func(s *Source) { s.schema, s.table = schema, name }
}

// Open makes a source with a pool of connections of its own. It does not connect yet; that is
// done, and done again, when there is something to ask. An attempt to connect takes 5 s at
// most, if connString does not set connect_timeout.
//
// connString is what [pgxpool.ParseConfig] takes: a URL or keywords and values.
func Open(connString string, opts ...Option) (*Source, error) {
	config, err := pgxpool.ParseConfig(connString)
	if err != nil {
		return nil, fmt.Errorf("postgres: open a source of generations: %w", err)
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTimeout)
	config.MinConns, config.MinIdleConns = 0, 0 // so that nothing blocks here
	s, err := build(opts)
	if err != nil {
		return nil, err
	}
	if s.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return nil, fmt.Errorf("postgres: open a source of generations: %w", err)
	}
	s.owned = true
	return s, nil
}

// New makes a source that uses a pool of yours, which is yours to close. Singletons wait
// while all of its connections are taken, and as long as its ConnectTimeout when a server
// does not answer: set that to a few seconds.
func New(pool *pgxpool.Pool, opts ...Option) (*Source, error) {
	if pool == nil {
		return nil, errors.New("postgres: New needs a pool; make one with pgxpool.New, or use Open")
	}
	s, err := build(opts)
	if err != nil {
		return nil, err
	}
	s.pool = pool
	return s, nil
}

func build(opts []Option) (*Source, error) {
	s := &Source{schema: DefaultSchema, table: DefaultTable}
	for _, opt := range opts {
		opt(s)
	}
	if s.schema == "" || s.table == "" {
		return nil, errors.New("postgres: Table needs a schema and a name: without a schema two programs may mean different tables")
	}
	s.statements = prepare(s.schema, s.table)
	return s, nil
}

// Close closes the connections that [Open] made, and waits for the requests under way.
// After [New] it does nothing.
func (s *Source) Close() {
	if s.owned {
		s.pool.Close()
	}
}
