package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/journal"
)

// SaveSnapshot implements [journal.SnapshotStore].
func (j *Journal) SaveSnapshot(ctx context.Context, id string, s journal.Snapshot) error {
	const op = "save snapshot"
	if err := s.Validate(id); err != nil {
		return wrap(op, id, err)
	}
	payload, err := encodePayload(s.Payload)
	if err != nil {
		return wrap(op, id, err)
	}
	return j.fenced(ctx, op, id, s.Epoch, func(ctx context.Context, conn *pgxpool.Conn, h head) error {
		if s.Seq > h.seq {
			return fmt.Errorf("%w: snapshot at %d, the last event is %d", journal.ErrConflict, s.Seq, h.seq)
		}
		row := conn.QueryRow(ctx, j.statements.saveSnapshot, id, int64(s.Seq), int64(s.Epoch), s.Time.Unix(), int32(s.Time.Nanosecond()),
			s.Type, payload, int32(s.Checksum(id)))
		return row.Scan(nil)
	})
}

// LoadSnapshot implements [journal.SnapshotStore].
func (j *Journal) LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (s journal.Snapshot, ok bool, skipped []uint64, err error) {
	err = j.view(ctx, "load snapshot", id, func(ctx context.Context, conn *pgxpool.Conn) error {
		for !ok {
			s, err = j.loadSnapshot(ctx, conn, id, maxSeq)
			switch {
			case err == nil:
				ok = true
			case errors.Is(err, pgx.ErrNoRows):
				return nil
			case errors.Is(err, journal.ErrCorrupt):
				skipped = append(skipped, s.Seq)
				maxSeq, s = s.Seq-1, journal.Snapshot{}
			default:
				return err
			}
		}
		return nil
	})
	return s, ok, skipped, err
}

// loadSnapshot returns the newest snapshot up to maxSeq. If the snapshot is damaged, its sequence
// number is still right.
func (j *Journal) loadSnapshot(ctx context.Context, conn *pgxpool.Conn, id string, maxSeq uint64) (s journal.Snapshot, err error) {
	var sec, nsec int64
	var crc int32
	row := conn.QueryRow(ctx, j.statements.loadSnapshot, id, clamp(maxSeq))
	if err := row.Scan(&s.Seq, &s.Epoch, &sec, &nsec, &s.Type, &s.Payload, &crc); err != nil {
		return journal.Snapshot{}, err
	}
	s.Time = time.Unix(sec, nsec).UTC()
	if int32(s.Checksum(id)) != crc {
		return s, fmt.Errorf("%w: snapshot %d fails its checksum", journal.ErrCorrupt, s.Seq)
	}
	return s, nil
}

// DeleteSnapshots implements [journal.SnapshotStore].
func (j *Journal) DeleteSnapshots(ctx context.Context, id string, epoch, seq uint64, keep int) error {
	return j.fenced(ctx, "delete snapshots", id, epoch, func(ctx context.Context, conn *pgxpool.Conn, _ head) error {
		row := conn.QueryRow(ctx, j.statements.deleteSnapshots, id, int64(epoch), clamp(seq), int64(max(keep, 0)))
		return row.Scan(nil)
	})
}

// Snapshots implements [journal.SnapshotStore].
func (j *Journal) Snapshots(ctx context.Context, id string) (seqs []uint64, err error) {
	err = j.view(ctx, "list snapshots", id, func(ctx context.Context, conn *pgxpool.Conn) error {
		rows, err := conn.Query(ctx, j.statements.listSnapshots, id)
		if err != nil {
			return err
		}
		seqs, err = pgx.CollectRows(rows, pgx.RowTo[uint64])
		return err
	})
	return seqs, err
}
