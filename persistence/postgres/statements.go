package postgres

import (
	"strings"

	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

// statements has the SQL of one journal. Each statement that changes data is a separate
// transaction, so none is open between two requests, and no lock waits for a client.
type statements struct {
	head, applied                  string
	claim, append, delete          string
	headForDeletion, deleteRead    string
	appendTimed, timers, wakes     string
	timed                          string
	read                           string
	saveSnapshot, loadSnapshot     string
	listSnapshots, deleteSnapshots string
	horizon, events, lag           string
	bury, erase, revive            string
	saveReader                     string
	removeReader, readers          string
}

func prepare(schema string, relaxed bool) statements {
	commit := pg.Durable
	if relaxed {
		commit = "set_config('synchronous_commit', 'off', true)"
	}
	replacer := strings.NewReplacer(
		"{h}", headColumns, "{event}", eventColumns,
		"{durable}", pg.Durable,
		"{commit}", commit,
		"{epoch bits}", flips(func(v uint64) head { return head{epoch: v} }),
		"{deletion bits}", flips(func(v uint64) head { return head{deletedTo: v} }),
	)
	sql := func(text string) string { return inSchema(schema, replacer.Replace(text)) }
	return statements{
		head: sql(selectHead), applied: sql(applied),
		claim: sql(claimHeads), append: sql(appendGroup + stored), delete: sql(deleteEvents),
		headForDeletion: sql(selectHeadForDeletion), deleteRead: sql(deleteReadEvents),
		appendTimed: sql(appendTimed), timers: sql(selectTimers), wakes: sql(selectWakes),
		timed:        sql(timed),
		read:         sql(readEvents),
		saveSnapshot: sql(saveSnapshot), loadSnapshot: sql(loadSnapshot),
		listSnapshots: sql(listSnapshots), deleteSnapshots: sql(deleteSnapshots),
		bury: sql(bury), erase: sql(erase), revive: sql(revive),
		saveReader: sql(saveReader), removeReader: sql(removeReader), readers: sql(selectReaders),
		horizon: sql(horizon), events: sql(eventsPage), lag: sql(lag),
	}
}

const selectHead = `SELECT {h} FROM {schema}.understudy_entity h WHERE h.pid = $1::text`

// applied returns a head with the checksums of the events from $2 to $3.
const applied = `SELECT {h}, ARRAY(SELECT e.crc FROM {schema}.understudy_event e
	WHERE e.pid = h.pid AND e.seq BETWEEN $2::bigint AND $3::bigint ORDER BY e.seq)
FROM {schema}.understudy_entity h WHERE h.pid = $1::text`

// claimHeads: a request is (pid, writer, first, crc, greatest), with the first epoch of a new head,
// its checksum, and the greatest epoch that the claim may have. The requests are of different ids.
// It returns no row for a request for which no epoch is left, or whose head another transaction has
// made meanwhile.
const claimHeads = `WITH transaction AS MATERIALIZED (SELECT {durable} AS commit),
request AS (
	SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::int[], $5::bigint[]) AS r(pid, writer, first, crc, greatest)
), later AS (
	UPDATE {schema}.understudy_entity h SET epoch = greatest(h.epoch + 1, r.first), writer = r.writer,
		crc = h.crc # (SELECT coalesce(bit_xor(f.flip), 0) FROM unnest({epoch bits}) WITH ORDINALITY AS f(flip, n)
			WHERE (((h.epoch # greatest(h.epoch + 1, r.first)) >> (f.n - 1)::int) & 1) = 1)
	FROM request r WHERE h.pid = r.pid AND h.epoch < r.greatest AND h.deleted_to <= h.seq
	RETURNING h.pid, {h}
), first AS (
	INSERT INTO {schema}.understudy_entity AS h (pid, epoch, writer, seq, deleted_to, crc)
	SELECT r.pid, r.first, r.writer, 0, 0, r.crc FROM request r
	WHERE NOT EXISTS (SELECT FROM {schema}.understudy_entity o WHERE o.pid = r.pid)
	ON CONFLICT (pid) DO NOTHING
	RETURNING h.pid, {h}
)
SELECT c.* FROM (SELECT * FROM later UNION ALL SELECT * FROM first) c, transaction`

// appendGroup: a request is (pid, epoch, prev, last, flip, slice), an event names its request by
// number. The requests are of different ids. A statement that finds a head locked waits, and checks
// its condition again when the head is free. With [stored], it returns the numbers of the stored
// requests.
const appendGroup = `WITH transaction AS MATERIALIZED (SELECT pg_current_xact_id() AS xid, {commit} AS commit),
request AS (
	SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::smallint[])
		WITH ORDINALITY AS r(pid, epoch, prev, last, flip, slice, n)
), stored AS (
	UPDATE {schema}.understudy_entity h SET seq = r.last, crc = h.crc # r.flip FROM request r
	WHERE h.pid = r.pid AND h.epoch = r.epoch AND h.seq = r.prev
	RETURNING r.n, r.pid, r.epoch, r.slice
), events AS (
	INSERT INTO {schema}.understudy_event (pid, seq, epoch, writer, sec, nsec, type, tags, meta, payload, crc, slice, xid, ord)
	SELECT s.pid, e.seq, s.epoch, e.writer, e.sec, e.nsec, e.type, e.tags::text[], nullif(e.meta, '')::jsonb, e.payload, e.crc, s.slice, t.xid, e.ord
	FROM unnest($7::bigint[], $8::bigint[], $9::bytea[], $10::bigint[], $11::int[], $12::text[], $13::text[], $14::text[], $15::bytea[], $16::int[])
		WITH ORDINALITY AS e(n, seq, writer, sec, nsec, type, tags, meta, payload, crc, ord)
	JOIN stored s ON s.n = e.n, transaction t
)`

// setTimers and removeTimers change the timers of the requests that [appendGroup] has stored. A
// timer names its request by number, and no two have the same id and key. The head of the id is
// locked meanwhile.
const (
	setTimers = `INSERT INTO {schema}.understudy_timer AS t (pid, key, due, slice, attempt, type, payload, crc)
SELECT s.pid, c.key, c.due, s.slice, c.attempt, c.type, c.payload, c.crc
FROM unnest($17::bigint[], $18::text[], $19::bigint[], $20::bigint[], $21::text[], $22::bytea[], $23::int[])
	AS c(n, key, due, attempt, type, payload, crc)
JOIN stored s ON s.n = c.n
ON CONFLICT (pid, key) DO UPDATE SET due = excluded.due, slice = excluded.slice, attempt = excluded.attempt,
	type = excluded.type, payload = excluded.payload, crc = excluded.crc`

	removeTimers = `DELETE FROM {schema}.understudy_timer t USING stored s, unnest($24::bigint[], $25::text[]) AS c(n, key)
WHERE c.n = s.n AND t.pid = s.pid AND t.key = c.key`

	appendTimed = appendGroup + ", set AS (" + setTimers + "), removed AS (" + removeTimers + ")" + stored
)

const stored = `
SELECT n FROM stored, transaction`

const selectTimers = `SELECT t.key, t.due, t.slice, t.attempt, t.type, t.payload, t.crc
FROM {schema}.understudy_timer t WHERE t.pid = $1::text ORDER BY t.due, t.key`

// timed returns timers of the ids in $1, at most $2 of each.
const timed = `SELECT i.pid, t.key, t.due, t.slice, t.attempt, t.type, t.payload, t.crc
FROM unnest($1::text[]) AS i(pid) CROSS JOIN LATERAL
	(SELECT * FROM {schema}.understudy_timer t WHERE t.pid = i.pid COLLATE "C" LIMIT $2::int) AS t`

// inOrder comes before selectWakes in the same transaction. Without statistics, or with old ones,
// the server takes few timers to be due, and would read and sort all that are for each page.
const inOrder = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)`

// selectWakes returns the wakes after ($1, $2) and before $3 in the slices from $4 to $5, at most
// $6. It reads index understudy_timer_wake from the first to the last of them.
const selectWakes = `SELECT t.due, t.pid FROM {schema}.understudy_timer t
WHERE (t.due, t.pid) > ($1::bigint, $2::text) AND t.due < $3::bigint AND t.slice BETWEEN $4::smallint AND $5::smallint
GROUP BY t.due, t.pid ORDER BY t.due, t.pid LIMIT $6::bigint`

// selectHeadForDeletion also tells whether there are registered readers.
const selectHeadForDeletion = `SELECT {h}, EXISTS (SELECT FROM {schema}.understudy_reader)
FROM {schema}.understudy_entity h WHERE h.pid = $1::text`

// deleteEvents hides the events up to $3 and deletes the first $4 of the hidden events. It returns
// how far it has deleted and how far it has to delete. It returns no row if the epoch differs.
const deleteEvents = `WITH h AS (
	UPDATE {schema}.understudy_entity h SET deleted_to = greatest(h.deleted_to, least(h.seq, $3::bigint)),
		crc = h.crc # (SELECT coalesce(bit_xor(f.flip), 0) FROM unnest({deletion bits}) WITH ORDINALITY AS f(flip, n)
			WHERE (((h.deleted_to # greatest(h.deleted_to, least(h.seq, $3::bigint))) >> (f.n - 1)::int) & 1) = 1)
	WHERE h.pid = $1::text AND h.epoch = $2::bigint
	RETURNING h.deleted_to
), first AS (
	SELECT min(seq) AS seq FROM {schema}.understudy_event WHERE pid = $1::text AND seq > 0
), gone AS (
	DELETE FROM {schema}.understudy_event e USING h, first
	WHERE e.pid = $1::text AND e.seq > 0 AND e.seq <= h.deleted_to AND e.seq < first.seq + $4::bigint
)
SELECT coalesce(first.seq, h.deleted_to) + $4::bigint - 1, h.deleted_to, {durable} FROM h, first`

// deleteReadEvents is deleteEvents up to the first event that a registered reader of slice $5 has
// not read. It also returns that reader, with the last event that it has read.
//
// An event that the statement does not see yet stays, because a reader may lack it.
const deleteReadEvents = `WITH known AS MATERIALIZED (
	SELECT least(o.seq, $3::bigint) AS seq, o.deleted_to FROM {schema}.understudy_entity o WHERE o.pid = $1::text
), unread AS MATERIALIZED (
	SELECT r.name, u.seq FROM {schema}.understudy_reader r, known k, LATERAL (
		SELECT e.seq FROM {schema}.understudy_event e
		WHERE e.pid = $1::text AND e.seq > k.deleted_to AND e.seq <= k.seq AND (e.xid, e.ord) > (r.xid, r.ord) ORDER BY e.seq LIMIT 1
	) u
	WHERE $5::smallint BETWEEN r.first AND r.last ORDER BY u.seq LIMIT 1
), bound AS MATERIALIZED (
	SELECT coalesce(u.seq - 1, k.seq) AS seq, u.name FROM known k LEFT JOIN unread u ON true
), h AS (
	UPDATE {schema}.understudy_entity h SET deleted_to = greatest(h.deleted_to, b.seq),
		crc = h.crc # (SELECT coalesce(bit_xor(f.flip), 0) FROM unnest({deletion bits}) WITH ORDINALITY AS f(flip, n)
			WHERE (((h.deleted_to # greatest(h.deleted_to, b.seq)) >> (f.n - 1)::int) & 1) = 1)
	FROM bound b WHERE h.pid = $1::text AND h.epoch = $2::bigint
	RETURNING h.deleted_to, b.name, b.seq
), first AS (
	SELECT min(seq) AS seq FROM {schema}.understudy_event WHERE pid = $1::text AND seq > 0
), gone AS (
	DELETE FROM {schema}.understudy_event e USING h, first
	WHERE e.pid = $1::text AND e.seq > 0 AND e.seq <= h.deleted_to AND e.seq < first.seq + $4::bigint
)
SELECT coalesce(first.seq, h.deleted_to) + $4::bigint - 1, h.deleted_to, h.name, h.seq, {durable} FROM h, first`

// readEvents returns a page of $4 events that begins with $2, or with the first that is not
// deleted, and ends with $3. The bounds are sequence numbers, so that no query plan examines more
// rows.
const readEvents = `SELECT {event} FROM {schema}.understudy_event e
WHERE e.pid = $1::text AND e.seq <= $3::bigint
	AND e.seq >= greatest($2::bigint, (SELECT h.deleted_to + 1 FROM {schema}.understudy_entity h WHERE h.pid = $1::text))
	AND e.seq < greatest($2::bigint, (SELECT h.deleted_to + 1 FROM {schema}.understudy_entity h WHERE h.pid = $1::text)) + $4::int
ORDER BY e.seq`

// saveSnapshot locks the head meanwhile, so that no claim can intervene. It returns no row if the
// condition failed.
const saveSnapshot = `WITH h AS (
	SELECT h.pid FROM {schema}.understudy_entity h
	WHERE h.pid = $1::text AND h.epoch = $3::bigint AND h.seq >= $2::bigint FOR SHARE
)
INSERT INTO {schema}.understudy_snapshot (pid, seq, epoch, sec, nsec, type, payload, crc)
SELECT h.pid, $2::bigint, $3::bigint, $4::bigint, $5::int, $6::text, $7::bytea, $8::int FROM h
ON CONFLICT (pid, seq) DO UPDATE SET epoch = excluded.epoch, sec = excluded.sec, nsec = excluded.nsec,
	type = excluded.type, payload = excluded.payload, crc = excluded.crc
RETURNING {durable}`

const loadSnapshot = `SELECT s.seq, s.epoch, s.sec, s.nsec, s.type, s.payload, s.crc
FROM {schema}.understudy_snapshot s WHERE s.pid = $1::text AND s.seq <= $2::bigint ORDER BY s.seq DESC LIMIT 1`

const listSnapshots = `SELECT s.seq FROM {schema}.understudy_snapshot s WHERE s.pid = $1::text ORDER BY s.seq`

// deleteSnapshots returns no row if the epoch differs.
const deleteSnapshots = `WITH h AS (
	SELECT h.pid FROM {schema}.understudy_entity h WHERE h.pid = $1::text AND h.epoch = $2::bigint FOR SHARE
), gone AS (
	DELETE FROM {schema}.understudy_snapshot s USING h WHERE s.pid = h.pid AND s.seq <= $3::bigint AND s.seq NOT IN (
		SELECT k.seq FROM {schema}.understudy_snapshot k WHERE k.pid = $1::text ORDER BY k.seq DESC LIMIT $4::bigint)
)
SELECT {durable} FROM h`

// horizon returns the first transaction that may still be running, the first that has not
// begun, and the last that has stored an event.
const horizon = `SELECT pg_snapshot_xmin(s.now), pg_snapshot_xmax(s.now),
	coalesce((SELECT e.xid FROM {schema}.understudy_event e ORDER BY e.xid DESC LIMIT 1), '0')
FROM (SELECT pg_current_snapshot() AS now) s`

// eventsPage returns the events after ($1, $2) of transactions before $3, at most $4 of them;
// see filter.
const eventsPage = `SELECT e.pid, e.xid, e.ord, {event} FROM {schema}.understudy_event e
WHERE (e.xid, e.ord) > ($1::text::xid8, $2::bigint) AND e.xid < $3::text::xid8{filter}
ORDER BY e.xid, e.ord LIMIT $4::int`

const lag = `SELECT coalesce((SELECT greatest(extract(epoch FROM clock_timestamp()) * 1000000 - e.sec * 1000000.0 - e.nsec / 1000, 0)
	FROM {schema}.understudy_event e WHERE e.xid >= pg_snapshot_xmin(pg_current_snapshot()) ORDER BY e.xid, e.ord LIMIT 1), 0)::bigint`
