package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
	"github.com/understudy-go/understudy/singleton/lease"
)

// DefaultLeasesTable is the name of the table of [Leases] unless [LeasesTable] sets another one.
const DefaultLeasesTable = "understudy_lease"

var _ lease.Store = (*Leases)(nil)

// Leases is a [lease.Store], and a source of terms for managed singletons, in a table of a
// PostgreSQL database. Its methods may be called by any goroutine, and return when their context
// ends. Make one with [OpenLeases] or [NewLeases].
//
// A name is one row, which is never deleted. The clock of the server decides whether a lease has
// expired. It must be slewed, not stepped: a jump ahead makes leases expire early by as much. Every
// acquisition gets the token greatest(token, floor) + 1, and a release keeps the token.
//
// Leases works behind PgBouncer in each of its pool modes, statement included: nothing is kept in a
// session. When all server connections of a pooler are taken, requests wait; a lease is lost when
// they wait longer than its TTL. What the package says of fsync, failover and backups holds for
// leases too: a server that loses commits may grant a name twice, with the same token.
type Leases struct {
	db         *pg.DB
	statements leaseStatements
}

// A LeasesOption configures [Leases].
type LeasesOption func(*pg.Table)

// LeasesTable sets the schema and the name of the table. The names are used literally, with their
// case and any characters. They are not looked up in the search path, because two programs with
// different paths would then have different leases. The default is public.understudy_lease.
func LeasesTable(schema, name string) LeasesOption {
	return func(t *pg.Table) { t.Schema, t.Name = schema, name }
}

// OpenLeases returns a store with a pool of connections of its own, so that nothing else makes a
// renewal wait. It does not connect: the pool connects, and reconnects, with the first request. An
// attempt to connect takes at most 5 s, unless connString sets connect_timeout.
//
// connString has the format of [pgxpool.ParseConfig]: a URL, or keywords and values.
func OpenLeases(connString string, opts ...LeasesOption) (*Leases, error) {
	t, err := leasesTable(opts)
	if err != nil {
		return nil, fmt.Errorf("postgres: leases: %w", err)
	}
	db, err := pg.Open(connString, t)
	if err != nil {
		return nil, fmt.Errorf("postgres: open a store of leases: %w", err)
	}
	return &Leases{db, prepareLeases(db)}, nil
}

// NewLeases returns a store that uses the caller's pool. Other users of the pool can make a renewal
// wait until the lease is lost. So can its ConnectTimeout when a server does not answer: set it to
// a few seconds. The caller closes the pool.
func NewLeases(pool *pgxpool.Pool, opts ...LeasesOption) (*Leases, error) {
	t, err := leasesTable(opts)
	if err != nil {
		return nil, fmt.Errorf("postgres: leases: %w", err)
	}
	db, err := pg.New(pool, t)
	if err != nil {
		return nil, fmt.Errorf("postgres: leases: %w", err)
	}
	return &Leases{db, prepareLeases(db)}, nil
}

func leasesTable(opts []LeasesOption) (pg.Table, error) {
	t := pg.Table{Schema: DefaultSchema, Name: DefaultLeasesTable, Columns: leaseColumns, Migrations: leaseMigrations, Type: "Leases"}
	for i, o := range opts {
		if o == nil {
			return pg.Table{}, fmt.Errorf("option %d is nil", i+1)
		}
		o(&t)
	}
	return t, nil
}

// DDL returns the statement that [Leases.Migrate] runs, for migration tools. It may be run again.
func (s *Leases) DDL() string { return s.db.DDL() }

// Migrate creates the table and its schema if they do not exist, and brings an older table up to
// date. If nothing is to be done, it needs only the privileges to use the table. Several processes
// may call it at once.
func (s *Leases) Migrate(ctx context.Context) error { return s.db.Migrate(ctx) }

// Close closes the connections that [OpenLeases] made, and waits for requests in flight. It
// releases no lease. After [NewLeases] it does nothing.
func (s *Leases) Close() { s.db.Close() }

// Take implements [lease.Store]. It returns [ErrOverflow] for a Floor that does not fit into a
// bigint.
func (s *Leases) Take(ctx context.Context, c lease.Claim) (lease.Grant, error) {
	floor, err := least(c.Floor)
	if err != nil {
		return lease.Grant{}, fmt.Errorf("postgres: take lease %q: %w", c.Name, err)
	}
	token, err := s.one(ctx, s.statements.take, pg.Escape(c.Name), pg.Escape(c.Holder), c.TTL.Microseconds(), floor)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return lease.Grant{}, s.whose(ctx, lease.ErrHeld, c)
	case err != nil:
		return lease.Grant{}, fmt.Errorf("postgres: take lease %q: %w", c.Name, err)
	}
	return lease.Grant{Claim: c, Token: token}, nil
}

// Renew implements [lease.Store].
func (s *Leases) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	_, err := s.one(ctx, s.statements.renew, pg.Escape(g.Name), pg.Escape(g.Holder), g.TTL.Microseconds(), int64(g.Token))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return lease.Grant{}, s.whose(ctx, lease.ErrLost, g.Claim)
	case err != nil:
		return lease.Grant{}, fmt.Errorf("postgres: renew lease %q: %w", g.Name, err)
	}
	return g, nil
}

func (s *Leases) whose(ctx context.Context, reason error, c lease.Claim) error {
	var holder string
	err := s.db.QueryRow(ctx, s.statements.holder, pg.Escape(c.Name)).Scan(&holder)
	if err != nil || holder == pg.Escape(c.Holder) {
		return reason
	}
	return fmt.Errorf("%w: %s has it", reason, holder)
}

// Release implements [lease.Store]. A grant without a token stands for any lease that its holder
// may have.
func (s *Leases) Release(ctx context.Context, g lease.Grant) error {
	sql, args := s.statements.release, []any{pg.Escape(g.Name), pg.Escape(g.Holder), int64(g.Token)}
	if g.Token == 0 {
		sql, args = s.statements.abandon, args[:2]
	}
	_, err := s.one(ctx, sql, args...)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("postgres: release lease %q: %w", g.Name, err)
	}
	return nil
}

// ClaimTerm implements placement.GenerationSource. It does not store the owner. The terms of a
// label are the tokens of the lease of that name, so a singleton may change from one to the other
// and its numbers continue.
func (s *Leases) ClaimTerm(ctx context.Context, label, _ string, floor uint64) (term uint64, err error) {
	above, err := least(floor)
	if err == nil {
		term, err = s.one(ctx, s.statements.claimTerm, pg.Escape(label), above)
	}
	if err != nil {
		return 0, fmt.Errorf("postgres: claim a term of %q: %w", label, err)
	}
	return term, nil
}

// one runs a statement that returns a number and a setting. If it returns without an error, the
// commit has been answered.
func (s *Leases) one(ctx context.Context, sql string, args ...any) (uint64, error) {
	var number int64
	if err := s.db.QueryRow(ctx, sql, args...).Scan(&number, nil); err != nil {
		return 0, s.explain(err)
	}
	return uint64(number), nil
}

// ErrOverflow: a floor or a token does not fit into a bigint. No counter gets that far: the floor
// of the claim is wrong. Use another name for the lease.
var ErrOverflow = errors.New("postgres: the numbers of this name are used up, they end at 2⁶³-1")

func least(floor uint64) (int64, error) {
	if floor >= math.MaxInt64 {
		return 0, fmt.Errorf("%w: got a floor of %d", ErrOverflow, floor)
	}
	return int64(floor), nil
}

func (s *Leases) explain(err error) error {
	if pg.Code(err) == pg.OutOfRange {
		return fmt.Errorf("%w: %w", ErrOverflow, err)
	}
	return s.db.Explain(err)
}

type leaseStatements struct {
	take, renew, release, abandon string
	claimTerm, holder             string
}

// prepareLeases writes the statements for a table. A statement that returns a row has changed one,
// and {durable} makes its commit durable.
func prepareLeases(db *pg.DB) leaseStatements {
	sql := func(text string) string { return db.SQL(strings.ReplaceAll(text, "{until}", until)) }
	return leaseStatements{
		take:      sql(take),
		renew:     sql(renew),
		release:   sql(release),
		abandon:   sql(abandon),
		claimTerm: sql(claimTerm),
		holder:    sql(holder),
	}
}

// leaseMigrations bring the table from each version to the next; see [pg.Table].
//
// token is the highest number of the name. held is the number of the acquisition by holder, which
// is empty when nobody holds the lease. The collation compares bytes: an index by a language's
// rules breaks when the operating system changes those rules, and a broken index may give a name
// two rows.
var leaseMigrations = []string{`CREATE TABLE {table} (
	name       text COLLATE "C" PRIMARY KEY,
	token      bigint NOT NULL,
	holder     text COLLATE "C" NOT NULL,
	held       bigint NOT NULL,
	expires_at timestamptz NOT NULL
);`}

const leaseColumns = "name, token, holder, held, expires_at"

const until = `clock_timestamp() + $3::bigint * interval '1 microsecond'`

// take: ON CONFLICT locks the row before it looks at the condition, so the clock is read
// after any wait for another's transaction. The holder of before may ask again, as it may
// not have heard; the acquisition stays the same one if its number is high enough. What
// is seen to be another's is not locked, which would be a commit for every refusal.
const take = `INSERT INTO {table} AS l (name, holder, token, held, expires_at)
SELECT $1::text, $2::text, $4::bigint + 1, $4::bigint + 1, {until}
WHERE NOT EXISTS (SELECT FROM {table}
	WHERE name = $1::text AND holder NOT IN ('', $2::text) AND expires_at > clock_timestamp())
ON CONFLICT (name) DO UPDATE SET
	holder = excluded.holder,
	expires_at = {until},
	token = CASE WHEN l.holder = $2::text AND l.expires_at > clock_timestamp() AND l.held > $4::bigint
		THEN l.token ELSE greatest(l.token, $4::bigint) + 1 END,
	held = CASE WHEN l.holder = $2::text AND l.expires_at > clock_timestamp() AND l.held > $4::bigint
		THEN l.held ELSE greatest(l.token, $4::bigint) + 1 END
WHERE l.holder IN ('', $2::text) OR l.expires_at <= clock_timestamp()
RETURNING l.held, {durable}`

const renew = `UPDATE {table} SET expires_at = {until}
WHERE name = $1::text AND holder = $2::text AND held = $4::bigint AND expires_at > clock_timestamp()
RETURNING held, {durable}`

const release = `UPDATE {table} SET holder = '', expires_at = clock_timestamp()
WHERE name = $1::text AND holder = $2::text AND held = $3::bigint
RETURNING held, {durable}`

// abandon releases a lease whose acquisition a holder may not have heard of.
const abandon = `UPDATE {table} SET holder = '', expires_at = clock_timestamp()
WHERE name = $1::text AND holder = $2::text
RETURNING held, {durable}`

const holder = `SELECT holder FROM {table}
WHERE name = $1::text AND holder <> '' AND expires_at > clock_timestamp()`

const claimTerm = `INSERT INTO {table} AS l (name, holder, token, held, expires_at)
VALUES ($1::text, '', $2::bigint + 1, 0, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET token = greatest(l.token, $2::bigint) + 1
RETURNING l.token, {durable}`
