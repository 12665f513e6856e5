package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

// SaveSnapshot implements [journal.SnapshotStore].
func (j *Journal) SaveSnapshot(ctx context.Context, id string, s journal.Snapshot) error {
	if err := s.Validate(id); err != nil {
		return wrap("save snapshot", id, err)
	}
	payload, err := encodePayload(s.Payload)
	if err != nil {
		return wrap("save snapshot", id, err)
	}
	s.Payload = payload
	return j.change(ctx, "save snapshot", id, func(t *transaction) error { return t.save(id, &s) })
}

func (t *transaction) save(id string, s *journal.Snapshot) error {
	h, err := t.fencedHead(id, s.Epoch)
	if err != nil {
		return err
	}
	if s.Seq > h.seq {
		return fmt.Errorf("%w: snapshot at %d, the last event is %d", journal.ErrConflict, s.Seq, h.seq)
	}
	err = t.exec(t.stmts.saveSnapshot, h.eid, s.Seq, s.Epoch, s.Time.Unix(), s.Time.Nanosecond(), s.Type, s.Payload, s.Checksum(id))
	return err
}

// LoadSnapshot implements [journal.SnapshotStore].
func (j *Journal) LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (s journal.Snapshot, ok bool, skipped []uint64, err error) {
	err = j.view(ctx, id, func(tx *sql.Tx, h head) error {
		seqs, err := snapshotSeqs(ctx, tx, h.eid)
		if err != nil {
			return err
		}
		for i := len(seqs) - 1; i >= 0 && !ok; i-- {
			if seqs[i] > maxSeq {
				continue
			}
			s, err = loadSnapshot(ctx, tx, h, seqs[i])
			switch {
			case err == nil:
				ok = true
			case errors.Is(err, journal.ErrCorrupt):
				skipped = append(skipped, seqs[i])
			default:
				return err
			}
		}
		return nil
	})
	return s, ok, skipped, wrap("load snapshot", id, err)
}

func loadSnapshot(ctx context.Context, tx *sql.Tx, h head, seq uint64) (journal.Snapshot, error) {
	s := journal.Snapshot{Seq: seq}
	var sec, nsec int64
	var crc uint32
	err := tx.QueryRowContext(ctx, "SELECT epoch, sec, nsec, type, payload, crc FROM snapshot WHERE eid = ? AND seq = ?", h.eid, seq).
		Scan(&s.Epoch, &sec, &nsec, &s.Type, &s.Payload, &crc)
	if err != nil {
		return journal.Snapshot{}, scanError(err)
	}
	s.Time = time.Unix(sec, nsec).UTC()
	if s.Checksum(h.id) != crc {
		return journal.Snapshot{}, fmt.Errorf("%w: snapshot %d fails its checksum", journal.ErrCorrupt, seq)
	}
	return s, nil
}

// DeleteSnapshots implements [journal.SnapshotStore].
func (j *Journal) DeleteSnapshots(ctx context.Context, id string, epoch, seq uint64, keep int) error {
	return j.change(ctx, "delete snapshots", id, func(t *transaction) error {
		h, err := t.fencedHead(id, epoch)
		if err != nil {
			return err
		}
		err = t.exec(t.stmts.deleteSnapshots, h.eid, min(seq, h.seq), max(keep, 0))
		return err
	})
}

// Snapshots implements [journal.SnapshotStore].
func (j *Journal) Snapshots(ctx context.Context, id string) (seqs []uint64, err error) {
	err = j.view(ctx, id, func(tx *sql.Tx, h head) error {
		seqs, err = snapshotSeqs(ctx, tx, h.eid)
		return err
	})
	return seqs, wrap("list snapshots", id, err)
}

func snapshotSeqs(ctx context.Context, tx *sql.Tx, eid int64) ([]uint64, error) {
	rows, err := tx.QueryContext(ctx, "SELECT seq FROM snapshot WHERE eid = ? ORDER BY seq", eid)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var seqs []uint64
	for rows.Next() {
		var seq uint64
		if err := rows.Scan(&seq); err != nil {
			return nil, scanError(err)
		}
		seqs = append(seqs, seq)
	}
	return seqs, rows.Err()
}
