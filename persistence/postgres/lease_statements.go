package postgres

import (
	"strings"

	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

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
