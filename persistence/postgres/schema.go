package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/pgschema"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

// migrations bring the tables from each version to the next. Existing ones never change; new ones
// are added at the end. {schema} stands for the schema.
//
// Text keys are collated by bytes, because an index by a language's rules breaks when
// the system's rules change. Half of each page of entities is left free, so that an updated row
// stays on its page and no index changes.
//
// xid is the transaction that has stored an event, and ord its position in the transaction. In the
// order of both, no event ever appears before one that a reader has seen; see [Journal.Events].
//
// The index of timers has all that [Journal.Wakes] needs, in its order.
//
// A reader has read all events up to (xid, ord) of the ids in the slices from first to last. It has
// no crc from [Renumber] until it is saved again.
var migrations = []string{`
CREATE TABLE {schema}.understudy_entity (
	pid        text COLLATE "C" PRIMARY KEY,
	epoch      bigint NOT NULL,
	writer     bytea NOT NULL,
	seq        bigint NOT NULL,
	deleted_to bigint NOT NULL,
	crc        integer NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE {schema}.understudy_event (
	pid     text COLLATE "C" NOT NULL,
	seq     bigint NOT NULL,
	epoch   bigint NOT NULL,
	writer  bytea NOT NULL,
	sec     bigint NOT NULL,
	nsec    integer NOT NULL,
	type    text NOT NULL,
	tags    text[] NOT NULL,
	meta    jsonb,
	payload bytea NOT NULL,
	crc     integer NOT NULL,
	slice   smallint NOT NULL,
	xid     xid8 NOT NULL,
	ord     bigint NOT NULL,
	PRIMARY KEY (pid, seq)
);
CREATE INDEX understudy_event_order ON {schema}.understudy_event (xid, ord);
CREATE INDEX understudy_event_tags ON {schema}.understudy_event USING gin (tags);
CREATE TABLE {schema}.understudy_snapshot (
	pid     text COLLATE "C" NOT NULL,
	seq     bigint NOT NULL,
	epoch   bigint NOT NULL,
	sec     bigint NOT NULL,
	nsec    integer NOT NULL,
	type    text NOT NULL,
	payload bytea NOT NULL,
	crc     integer NOT NULL,
	PRIMARY KEY (pid, seq)
);
CREATE TABLE {schema}.understudy_timer (
	pid     text COLLATE "C" NOT NULL,
	key     text COLLATE "C" NOT NULL,
	due     bigint NOT NULL,
	slice   smallint NOT NULL,
	attempt bigint NOT NULL,
	type    text NOT NULL,
	payload bytea NOT NULL,
	crc     integer NOT NULL,
	PRIMARY KEY (pid, key)
);
CREATE INDEX understudy_timer_wake ON {schema}.understudy_timer (due, pid, slice);
CREATE TABLE {schema}.understudy_reader (
	name  text COLLATE "C" PRIMARY KEY,
	first smallint NOT NULL,
	last  smallint NOT NULL,
	xid   xid8 NOT NULL,
	ord   bigint NOT NULL,
	sec   bigint NOT NULL,
	nsec  integer NOT NULL,
	crc   integer
);`}

// DDL returns the statement that [Open] runs if the tables are missing or older, for programs that
// manage the schema of the database in another way. It may be run again.
func DDL(schema string) string { return ddl(schema, migrations) }

func ddl(schema string, migrations []string) string {
	return pgschema.Plan{
		Schema: schema,
		Find: `CREATE TABLE IF NOT EXISTS {schema}.understudy_journal (
	one     boolean PRIMARY KEY CHECK (one),
	version integer NOT NULL
);
SELECT coalesce(max(version), 0) INTO v FROM {schema}.understudy_journal;`,
		Migrations: migrations,
		Mark:       "INSERT INTO {schema}.understudy_journal VALUES (true, {version}) ON CONFLICT (one) DO UPDATE SET version = {version};",
	}.SQL()
}

// Renumber returns the statement to run once, while no program uses the journal, after a dump was
// restored in another server. The events are ordered by transaction ids of the old server, which
// the statement replaces, also in the positions of registered readers. The order stays the same,
// but stored offsets of readers become invalid.
func Renumber(schema string) string {
	return inSchema(schema, `WITH o AS MATERIALIZED (
	SELECT pid, seq, xid, ord, row_number() OVER (ORDER BY xid, ord) AS n FROM {schema}.understudy_event
), readers AS (
	UPDATE {schema}.understudy_reader r SET xid = '0', crc = NULL, ord = (SELECT coalesce(max(o.n), 0) FROM o WHERE (o.xid, o.ord) <= (r.xid, r.ord))
)
UPDATE {schema}.understudy_event e SET xid = '0', ord = o.n FROM o WHERE e.pid = o.pid AND e.seq = o.seq`)
}

func inSchema(schema, sql string) string {
	return strings.ReplaceAll(sql, "{schema}", pgschema.Quote(schema))
}

func migrate(ctx context.Context, j *Journal) error {
	if ctx.Err() != nil {
		return unavailable(ctx)
	}
	conn, err := j.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := checkEncoding(ctx, conn); err != nil {
		return err
	}
	version, err := versionOf(ctx, j, conn)
	known := len(j.migrations)
	if err == nil && version < known {
		if err = applyMigrations(ctx, j, conn); err == nil {
			version, err = versionOf(ctx, j, conn)
		}
	}
	if err != nil {
		return readError(ctx, err)
	}
	if version > known {
		return fmt.Errorf("%w: it has version %d, this program knows %d; use a newer build of the program", ErrNewerSchema, version, known)
	}
	return nil
}

// applyMigrations applies the migrations that another process has not applied meanwhile, and logs
// if there were any. Both statements are one message, and therefore one transaction.
func applyMigrations(ctx context.Context, j *Journal, conn *pgxpool.Conn) error {
	sql := ddl(j.schema, j.migrations) + "; SELECT current_setting('" + pgschema.MigratedFrom + "', true)"
	results, err := conn.Conn().PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return err
	}
	rows := results[len(results)-1].Rows
	if from := string(rows[0][0]); from != "" {
		j.log.Info("journal migrated", zap.String("schema", j.schema), zap.String("from", from), zap.Int("to", len(j.migrations)))
	}
	return nil
}

func versionOf(ctx context.Context, j *Journal, conn *pgxpool.Conn) (version int, err error) {
	err = conn.QueryRow(ctx, inSchema(j.schema, "SELECT coalesce(max(version), 0) FROM {schema}.understudy_journal"), pgx.QueryExecModeExec).Scan(&version)
	if pg.IsMissing(err) {
		return 0, nil
	}
	return version, err
}

func checkEncoding(ctx context.Context, conn *pgxpool.Conn) error {
	var encoding string
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_encoding')", pgx.QueryExecModeExec).Scan(&encoding); err != nil {
		return readError(ctx, err)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("%w: the encoding of the database is %s; use one with UTF8", journal.ErrUnavailable, encoding)
	}
	return nil
}
