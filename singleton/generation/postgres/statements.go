package postgres

import "github.com/understudy-go/understudy/internal/pg"

// statements are the SQL statements for one table.
type statements struct {
	claimTerm, claimSeq string
	current, list       string
	putSpec, forget     string
}

// prepare writes the statements for a table. A statement that returns a row has changed it, and
// {durable} makes its commit durable.
func prepare(db *pg.DB) statements {
	sql := db.SQL
	return statements{
		claimTerm: sql(claimTerm),
		claimSeq:  sql(claimSeq),
		current:   sql(current),
		list:      sql(list),
		putSpec:   sql(putSpec),
		forget:    sql(forget),
	}
}

// migrations bring the table from each version to the next; see [pg.Table].
//
// term is the highest ever claimed; owner is null if nobody owns the singleton; spec is null
// without a spec. The server refuses numbers beyond 32 bits. The collation compares bytes: an index
// by a language's rules becomes corrupt when the operating system changes those rules, and then a
// label might get two rows.
var migrations = []string{`CREATE TABLE {table} (
	label text COLLATE "C" PRIMARY KEY,
	term  bigint NOT NULL CHECK (term BETWEEN 0 AND 4294967295),
	seq   bigint NOT NULL CHECK (seq BETWEEN 0 AND 4294967295),
	owner text COLLATE "C",
	spec  bytea
);`}

const columns = "label, term, seq, owner, spec"

const claimTerm = `INSERT INTO {table} AS g (label, term, seq, owner) VALUES ($1::text, $3::bigint + 1, 0, $2::text)
ON CONFLICT (label) DO UPDATE SET term = greatest(g.term, $3::bigint) + 1, seq = 0, owner = excluded.owner
RETURNING g.term, g.seq, {durable}`

const claimSeq = `UPDATE {table} SET seq = seq + 1 WHERE label = $1::text AND owner IS NOT NULL
RETURNING term, seq, {durable}`

const current = `SELECT owner, term, seq FROM {table} WHERE label = $1::text AND owner IS NOT NULL`

const list = `SELECT label, spec, owner, term, seq FROM {table} WHERE spec IS NOT NULL`

const putSpec = `INSERT INTO {table} AS g (label, term, seq, spec) VALUES ($1::text, 0, 0, $2::bytea)
ON CONFLICT (label) DO UPDATE SET spec = excluded.spec
RETURNING g.term, g.seq, {durable}`

const forget = `UPDATE {table} SET owner = NULL, seq = 0, spec = NULL WHERE label = $1::text
RETURNING term, seq, {durable}`
