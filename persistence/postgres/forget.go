package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/journal"
)

// forgetTries bounds how many claims of others may come in between.
const forgetTries = 20

// Forget implements [journal.Forgetter]. The rows are deleted, very many events in several
// transactions. The server overwrites them when it reuses their space, which it does after a vacuum
// and in its own time. To remove them from the files at once, run VACUUM FULL on the tables
// understudy_event, understudy_snapshot and understudy_timer; it locks them meanwhile. The server's
// own log, and its archive, keep them until they are recycled.
func (j *Journal) Forget(ctx context.Context, id string) error {
	err := onID(ctx, j, "forget", id, func(ctx context.Context, conn *pgxpool.Conn) error {
		epoch, err := buryID(ctx, j, conn, id)
		if err != nil || epoch == 0 {
			return err
		}
		return eraseID(ctx, j, conn, id, epoch)
	})
	j.Notify()
	return err
}

// Revive implements [journal.Forgetter].
func (j *Journal) Revive(ctx context.Context, id string) error {
	return onID(ctx, j, "revive", id, func(ctx context.Context, conn *pgxpool.Conn) error {
		h, _, err := j.head(ctx, conn, id)
		if err != nil || !h.forgotten() {
			return err
		}
		if err := eraseID(ctx, j, conn, id, h.epoch); err != nil {
			return err
		}
		fresh := head{id: id, epoch: h.epoch}
		err = conn.QueryRow(ctx, j.statements.revive, id, int64(h.epoch), fresh.checksum()).Scan(nil)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // another call has revived it
		}
		return changeError(ctx, err)
	})
}

func onID(ctx context.Context, j *Journal, op, id string, f func(context.Context, *pgxpool.Conn) error) error {
	if err := journal.ValidateID(id); err != nil {
		return wrap(op, id, err)
	}
	return wrap(op, id, j.use(ctx, f))
}

// A forgotten id is stored as deleted beyond its last event. A program of a version that does not
// know this takes its events for lost, and does not write.
func (h *head) forgotten() bool { return h.deletedTo > h.seq }

// buryID fences the writer of id, makes id a forgotten one, and returns its epoch; 0 if the id was
// never claimed.
func buryID(ctx context.Context, j *Journal, conn *pgxpool.Conn, id string) (epoch uint64, err error) {
	for range forgetTries {
		h, known, err := j.head(ctx, conn, id)
		if err != nil || !known || h.forgotten() {
			return h.epoch, err
		}
		if epoch, err = journal.NextEpoch(h.epoch, journal.Bounds{}); err != nil {
			return 0, err
		}
		tombstone := journal.Tombstone(epoch)
		tombstone.Tags = []string{tombstoneTag}
		row, err := encodeEvent(id, &tombstone)
		if err != nil {
			return 0, err
		}
		err = conn.QueryRow(ctx, j.statements.bury, id, int64(h.epoch), int64(epoch), row.writer, row.sec, row.nsec, row.typ, row.crc,
			int16(journal.SliceOf(id))).Scan(nil)
		if !errors.Is(err, pgx.ErrNoRows) {
			return epoch, changeError(ctx, err)
		}
	}
	return 0, raced()
}

// eraseID deletes the data of a forgotten id. Its statements begin after the writer was fenced, and
// so see all that the writer has stored. It does nothing if the id has been revived.
func eraseID(ctx context.Context, j *Journal, conn *pgxpool.Conn, id string, epoch uint64) error {
	err := conn.QueryRow(ctx, j.statements.erase, id, int64(epoch)).Scan(nil)
	for more := err == nil; more && err == nil; {
		more, err = deleteSome(ctx, j, conn, id, epoch, 0)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return changeError(ctx, err)
}

// tombstoneTag is the tag of all tombstones. No event can have it.
const tombstoneTag = ""

// bury: $2 is the epoch of the head and $3 the new one; the others are of the tombstone. It returns
// no row if the condition failed. An id that has been forgotten before has a tombstone.
const bury = `WITH transaction AS MATERIALIZED (SELECT pg_current_xact_id() AS xid, {durable} AS commit),
buried AS (
	UPDATE {schema}.understudy_entity h SET epoch = $3::bigint, writer = $4::bytea, deleted_to = h.seq + 1,
		crc = h.crc # (SELECT coalesce(bit_xor(f.flip), 0) FROM unnest({epoch bits}) WITH ORDINALITY AS f(flip, n)
				WHERE (((h.epoch # $3::bigint) >> (f.n - 1)::int) & 1) = 1)
			# (SELECT coalesce(bit_xor(f.flip), 0) FROM unnest({deletion bits}) WITH ORDINALITY AS f(flip, n)
				WHERE (((h.deleted_to # (h.seq + 1)) >> (f.n - 1)::int) & 1) = 1)
	WHERE h.pid = $1::text AND h.epoch = $2::bigint AND h.deleted_to <= h.seq
	RETURNING h.pid
), tombstone AS (
	INSERT INTO {schema}.understudy_event AS e (pid, seq, epoch, writer, sec, nsec, type, tags, payload, crc, slice, xid, ord)
	SELECT b.pid, 0, $3::bigint, $4::bytea, $5::bigint, $6::int, $7::text, ARRAY[''], '', $8::int, $9::smallint, t.xid, 1 FROM buried b, transaction t
	ON CONFLICT (pid, seq) DO UPDATE SET epoch = excluded.epoch, sec = excluded.sec, nsec = excluded.nsec, crc = excluded.crc,
		xid = excluded.xid, ord = excluded.ord
)
SELECT t.commit FROM buried, transaction t`

// erase returns no row unless the id is forgotten and has that epoch.
const erase = `WITH h AS (
	SELECT h.pid FROM {schema}.understudy_entity h WHERE h.pid = $1::text AND h.epoch = $2::bigint AND h.deleted_to > h.seq FOR SHARE
), snapshots AS (
	DELETE FROM {schema}.understudy_snapshot s USING h WHERE s.pid = h.pid
), timers AS (
	DELETE FROM {schema}.understudy_timer t USING h WHERE t.pid = h.pid
)
SELECT {durable} FROM h`

// revive: $3 is the checksum of the new head.
const revive = `UPDATE {schema}.understudy_entity h SET seq = 0, deleted_to = 0, crc = $3::int
WHERE h.pid = $1::text AND h.epoch = $2::bigint AND h.deleted_to > h.seq RETURNING {durable}`
