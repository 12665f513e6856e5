package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/journal"
)

const saveReader = `WITH saved AS (
	INSERT INTO {schema}.understudy_reader (name, first, last, xid, ord, sec, nsec, crc)
	VALUES ($1::text, $2::smallint, $3::smallint, $4::text::xid8, $5::bigint, $6::bigint, $7::int, $8::int)
	ON CONFLICT (name) DO UPDATE SET first = excluded.first, last = excluded.last, xid = excluded.xid, ord = excluded.ord,
		sec = excluded.sec, nsec = excluded.nsec, crc = excluded.crc
)
SELECT {durable}`

const removeReader = `WITH gone AS (DELETE FROM {schema}.understudy_reader WHERE name = $1::text)
SELECT {durable}`

const selectReaders = `SELECT r.name, r.first, r.last, r.xid, r.ord, r.sec, r.nsec, r.crc FROM {schema}.understudy_reader r ORDER BY r.name`

// SaveReader implements [journal.Retainer].
func (j *Journal) SaveReader(ctx context.Context, r journal.Reader) error {
	at, err := parsePosition(r.Offset)
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		return wrap("save reader", r.Name, err)
	}
	if at == (position{}) {
		r.Offset = "" // as it is read
	}
	from, to := r.Bounds()
	return onID(ctx, j, "save reader", r.Name, func(ctx context.Context, conn *pgxpool.Conn) error {
		return changeError(ctx, conn.QueryRow(ctx, j.statements.saveReader, r.Name, int16(from), int16(to-1), //nolint:gosec // slices are few
			strconv.FormatUint(at.xid, 10), int64(at.ord), r.Time.Unix(), int32(r.Time.Nanosecond()), int32(r.Checksum())).Scan(nil)) //nolint:gosec // as above
	})
}

// RemoveReader implements [journal.Retainer].
func (j *Journal) RemoveReader(ctx context.Context, name string) error {
	return onID(ctx, j, "remove reader", name, func(ctx context.Context, conn *pgxpool.Conn) error {
		return changeError(ctx, conn.QueryRow(ctx, j.statements.removeReader, name).Scan(nil))
	})
}

// Readers implements [journal.Retainer].
func (j *Journal) Readers(ctx context.Context) (all []journal.Reader, err error) {
	err = read(ctx, j, func(ctx context.Context, conn *pgxpool.Conn) error {
		all, _, err = readersOf(ctx, j, conn)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list readers: %w", err)
	}
	return all, nil
}

// damage is [journal.ErrCorrupt] if a reader is damaged.
func readersOf(ctx context.Context, j *Journal, conn *pgxpool.Conn) (all []journal.Reader, damage, err error) {
	rows, err := conn.Query(ctx, j.statements.readers)
	if err != nil {
		return nil, nil, readError(ctx, err)
	}
	var name string
	var first, last int16
	var at position
	var sec int64
	var nsec int32
	var crc *int32
	_, err = pgx.ForEachRow(rows, []any{&name, &first, &last, &at.xid, &at.ord, &sec, &nsec, &crc}, func() error {
		r := journal.Reader{Name: name, Slices: journal.SliceRange{From: int(first), To: int(last) + 1}, Time: time.Unix(sec, int64(nsec)).UTC()}
		if r.Slices == (journal.SliceRange{To: journal.Slices}) {
			r.Slices = journal.SliceRange{}
		}
		if at != (position{}) {
			r.Offset = journal.Offset(at.String())
		}
		if crc != nil {
			damage = cmp.Or(damage, r.Verify(uint32(*crc))) //nolint:gosec // it was stored as such
		}
		all = append(all, r)
		return nil
	})
	return all, damage, readError(ctx, err)
}

// End implements [journal.Retainer].
func (j *Journal) End(ctx context.Context) (journal.Offset, error) {
	var s scan
	if err := findEnd(ctx, j, &s); err != nil {
		return "", fmt.Errorf("find the end: %w", err)
	}
	return journal.Offset(position{xid: s.end - 1, ord: math.MaxInt64}.String()), nil
}

// Head implements [journal.Retainer].
func (j *Journal) Head(ctx context.Context, id string) (claim journal.Claim, err error) {
	err = onID(ctx, j, "look at", id, func(ctx context.Context, conn *pgxpool.Conn) error {
		h, _, err := j.head(ctx, conn, id)
		if err == nil && h.forgotten() {
			err = journal.ErrForgotten
		}
		if err == nil {
			claim = journal.Claim{Epoch: h.epoch, LastSeq: h.seq, DeletedTo: h.deletedTo}
		}
		return err
	})
	return claim, err
}
