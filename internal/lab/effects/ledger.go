package effects

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// ledgerDDL creates the ledger. Nothing in it forbids a second effect of a key, or a token that is
// too low: what is wrong shall be seen.
//
// what is effect, again if the answer was the stored one, replaced if the caller was, or another
// status. at is in nanoseconds since 1970.
const ledgerDDL = `CREATE TABLE IF NOT EXISTS ledger (
	serial INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT NOT NULL, key TEXT NOT NULL, scope TEXT NOT NULL, token INTEGER NOT NULL, node TEXT NOT NULL, at INTEGER NOT NULL
)`

// write writes a row into the ledger, and returns its number.
func write(ctx context.Context, tx outside.Execer, what string, c outside.Caller, node string) (serial int64, err error) {
	result, err := tx.ExecContext(ctx, "INSERT INTO ledger (what, key, scope, token, node, at) VALUES ($1, $2, $3, $4, $5, $6)",
		what, c.Key, c.Scope, int64(c.Token), node, time.Now().UnixNano())
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// A tally is what the ledger says.
type tally struct {
	effects, keys int
	twice         []string       // keys with several effects; the first few
	late          []string       // effects of processes that were replaced; the first few
	others        map[string]int // requests without an effect, by what they were
	sums          map[string]sum // by scope
	pause         time.Duration  // the longest between two effects
}

// A sum is the number of effects of a run, and the sum of their numbers in the ledger.
type sum struct{ effects, serials int64 }

// few is how many rows a query returns that shows what is wrong.
const few = " LIMIT 5"

// readLedger reads the ledger. Nothing may be added meanwhile.
func readLedger(ctx context.Context, db *sql.DB) (t tally, err error) {
	t.others, t.sums = map[string]int{}, map[string]sum{}
	if err := db.QueryRowContext(ctx, "SELECT count(*), count(DISTINCT key) FROM ledger WHERE what = 'effect'").Scan(&t.effects, &t.keys); err != nil {
		return t, err
	}
	if t.twice, err = texts(ctx, db, "SELECT key || ' has ' || count(*) || ' effects' FROM ledger WHERE what = 'effect' GROUP BY key HAVING count(*) > 1 ORDER BY key"+few); err != nil {
		return t, err
	}
	// A process that got a stored answer had not been replaced, so lower tokens are too late.
	if t.late, err = texts(ctx, db, `SELECT key || ' by ' || node || ' with token ' || token || ' after ' || highest FROM (
		SELECT *, max(token) OVER (PARTITION BY scope ORDER BY serial) AS highest FROM ledger WHERE what IN ('effect', 'again')
	) WHERE what = 'effect' AND token < highest ORDER BY serial`+few); err != nil {
		return t, err
	}
	var pause sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT max(at - before) FROM (SELECT at, lag(at) OVER (ORDER BY serial) AS before FROM ledger WHERE what = 'effect')").Scan(&pause); err != nil {
		return t, err
	}
	t.pause = time.Duration(pause.Int64)
	if err := each(ctx, db, "SELECT what, count(*), 0 FROM ledger WHERE what <> 'effect' GROUP BY what", func(what string, n, _ int64) { t.others[what] = int(n) }); err != nil {
		return t, err
	}
	return t, each(ctx, db, "SELECT scope, count(*), sum(serial) FROM ledger WHERE what = 'effect' GROUP BY scope", func(scope string, n, s int64) { t.sums[scope] = sum{n, s} })
}

// texts returns the rows of a query.
func texts(ctx context.Context, db *sql.DB, query string) (all []string, err error) {
	err = each(ctx, db, "SELECT *, 0, 0 FROM ("+query+")", func(text string, _, _ int64) { all = append(all, text) })
	return all, err
}

// each calls f for each row of a query.
func each(ctx context.Context, db *sql.DB, query string, f func(text string, a, b int64)) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		var a, b int64
		if err := rows.Scan(&text, &a, &b); err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
		f(text, a, b)
	}
	return rows.Err()
}
