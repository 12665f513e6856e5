package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A head is the summary of one persistence id. It reveals a lost tail of its events, or an epoch
// that went backwards. It has a checksum.
type head struct {
	id                    string
	epoch, seq, deletedTo uint64
	crc                   int32
	writer                []byte // of the newest claim, for later investigation; not in the checksum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the CRC32C of h. A CRC is linear: flipping a bit of a field changes the checksum
// by a fixed XOR mask, whatever the other bits are; see [flips]. A statement can therefore change a
// field and the checksum without reading them first, and a wrong checksum stays wrong.
func (h *head) checksum() int32 {
	b := make([]byte, 0, 128)
	b = append(b, h.id...)
	b = binary.LittleEndian.AppendUint64(b, h.epoch)
	b = binary.LittleEndian.AppendUint64(b, h.seq)
	b = binary.LittleEndian.AppendUint64(b, h.deletedTo)
	return int32(crc32.Checksum(b, castagnoli))
}

// flips returns the XOR mask of each bit of a field on the checksum of a head, as an array of
// PostgreSQL. field returns a head with that value in the field.
func flips(field func(uint64) head) string {
	zero := field(0)
	var b strings.Builder
	for bit := range bits.UintSize - 1 { // numbers are positive in a bigint
		h := field(1 << bit)
		fmt.Fprintf(&b, ",%d", h.checksum()^zero.checksum())
	}
	return "'{" + b.String()[1:] + "}'::int[]"
}

// advance returns the XOR mask on the checksum for a change of the sequence number.
func advance(from, to uint64) int32 {
	return (&head{seq: from}).checksum() ^ (&head{seq: to}).checksum()
}

func (h *head) check() error {
	if h.checksum() != h.crc {
		return fmt.Errorf("%w: the head record fails its checksum", journal.ErrCorrupt)
	}
	return nil
}

func (h *head) columns() []any { return []any{&h.epoch, &h.writer, &h.seq, &h.deletedTo, &h.crc} }

const headColumns = "h.epoch, h.writer, h.seq, h.deleted_to, h.crc"

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func (j *Journal) head(ctx context.Context, q querier, id string) (h head, known bool, err error) {
	return scanHead(ctx, id, q.QueryRow(ctx, j.statements.head, id))
}

func scanHead(ctx context.Context, id string, row pgx.Row, more ...any) (h head, known bool, err error) {
	h.id = id
	err = row.Scan(append(h.columns(), more...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return h, false, nil
	}
	if err != nil {
		return h, false, readError(ctx, err)
	}
	return h, true, h.check()
}

// fencedHead returns the head of id if the caller has its newest claim, and otherwise ErrFenced.
func (j *Journal) fencedHead(ctx context.Context, q querier, id string, epoch uint64) (head, error) {
	h, known, err := j.head(ctx, q, id)
	if err != nil {
		return h, err
	}
	return h, h.fence(known, epoch)
}

func (h *head) fence(known bool, epoch uint64) error {
	switch {
	case !known:
		return &journal.FencedError{Epoch: epoch}
	case h.epoch != epoch:
		return &journal.FencedError{Epoch: epoch, Newest: h.epoch, Writer: h.writerID()}
	}
	return nil
}

func (h *head) writerID() (id journal.WriterID) {
	copy(id[:], h.writer)
	return id
}

// raced returns the error for a condition that failed, but holds when it is checked again.
func raced() error {
	return fmt.Errorf("%w: it changed meanwhile; try again", journal.ErrUnavailable)
}

func clamp(seq uint64) int64 { return int64(min(seq, math.MaxInt64)) }

// Claim implements [journal.Journal]. The database keeps the writer of the newest claim,
// for later investigation.
func (j *Journal) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	claim, err := j.claim(ctx, id, writer, b)
	return claim, wrap("claim", id, err)
}

// claim is one request of two statements. Claims of one id are serialized, and a concurrent append
// either comes before a claim or is fenced by it.
func (j *Journal) claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (claim journal.Claim, err error) {
	if err := journal.ValidateID(id); err != nil {
		return claim, err
	}
	first, err := journal.NextEpoch(0, b)
	if err != nil {
		return claim, err
	}
	fresh := head{id: id, epoch: first}
	greatest := int64(math.MaxInt64)
	if b.Below != 0 {
		greatest = clamp(b.Below - 1)
	}
	err = j.use(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		h := head{id: id}
		noTimers, err := sendClaim(ctx, conn, &j.statements, &h, id, writer[:], int64(b.Least), fresh.checksum(), greatest)
		if errors.Is(err, pgx.ErrNoRows) {
			return j.whyRefused(ctx, conn, id, b)
		}
		if err != nil {
			return changeError(ctx, err)
		}
		claim = journal.Claim{Epoch: h.epoch, LastSeq: h.seq, DeletedTo: h.deletedTo, NoTimers: noTimers}
		return h.check()
	})
	if err != nil {
		return journal.Claim{}, err
	}
	return claim, nil
}

// sendClaim executes the claim, and then looks for timers. The head is locked meanwhile, and the
// second statement has a later snapshot, so it sees the timers of an append that the first one has
// waited for.
func sendClaim(ctx context.Context, conn *pgxpool.Conn, s *statements, h *head, args ...any) (noTimers bool, err error) {
	batch := &pgx.Batch{}
	batch.Queue(s.claim, args...)
	batch.Queue(s.noTimers, h.id)
	results := conn.SendBatch(ctx, batch)
	err = results.QueryRow().Scan(append(h.columns(), nil)...)
	if err == nil {
		err = results.QueryRow().Scan(&noTimers)
	}
	return noTimers, cmp.Or(err, results.Close())
}

// whyRefused returns the error of a claim that found no epoch. Epochs never decrease, so the reason
// still holds.
func (j *Journal) whyRefused(ctx context.Context, conn *pgxpool.Conn, id string, b journal.Bounds) error {
	h, _, err := j.head(ctx, conn, id)
	if err != nil {
		return err
	}
	if _, err = journal.NextEpoch(h.epoch, b); err == nil {
		return raced()
	}
	return err
}
