package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A head says what there is of one persistence id: a lost tail of its events, or an epoch
// that went backwards, could not be told otherwise. So it has a checksum too.
type head struct {
	id                    string
	epoch, seq, deletedTo uint64
	crc                   int32
	writer                []byte // of the newest claim, for later investigation; not in the checksum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is a CRC32C. What is changed in some bits of a field changes it by the exclusive
// or of what each of the bits does, see [flips], whatever the rest is. That is how a
// statement can change a field and the checksum with it without reading both first, and
// a checksum that was wrong stays wrong.
func (h *head) checksum() int32 {
	b := make([]byte, 0, 128)
	b = append(b, h.id...)
	b = binary.LittleEndian.AppendUint64(b, h.epoch)
	b = binary.LittleEndian.AppendUint64(b, h.seq)
	b = binary.LittleEndian.AppendUint64(b, h.deletedTo)
	return int32(crc32.Checksum(b, castagnoli))
}

// flips returns what each bit of a field does to the checksum of a head, as an array of
// PostgreSQL. Field returns a head with that value in the field.
func flips(field func(uint64) head) string {
	zero := field(0)
	var b strings.Builder
	for bit := range bits.UintSize - 1 { // numbers are positive in a bigint
		h := field(1 << bit)
		fmt.Fprintf(&b, ",%d", h.checksum()^zero.checksum())
	}
	return "'{" + b.String()[1:] + "}'::int[]"
}

// advance returns what going from one sequence number to another does to the checksum.
func advance(from, to uint64) int32 {
	return (&head{seq: from}).checksum() ^ (&head{seq: to}).checksum()
}

// check returns [journal.ErrCorrupt] when the head is not what was written.
func (h *head) check() error {
	if h.checksum() != h.crc {
		return fmt.Errorf("%w: the head record fails its checksum", journal.ErrCorrupt)
	}
	return nil
}

// columns are where to scan headColumns to.
func (h *head) columns() []any { return []any{&h.epoch, &h.writer, &h.seq, &h.deletedTo, &h.crc} }

const headColumns = "h.epoch, h.writer, h.seq, h.deleted_to, h.crc"

// querier is a connection, or what is read from one.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// head returns the head of id, and whether there is one.
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

// fencedHead returns the head of id to the writer of its newest claim, and to nobody else.
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
		return fmt.Errorf("%w: it has never been claimed", journal.ErrFenced)
	case h.epoch != epoch:
		return fmt.Errorf("%w: epoch %d, the newest is %d, of writer %x", journal.ErrFenced, epoch, h.epoch, h.writer)
	}
	return nil
}

// raced is the answer when a condition failed that holds when looked at again.
func raced() error {
	return fmt.Errorf("%w: it changed meanwhile; try again", journal.ErrUnavailable)
}

// clamp returns a sequence number as the database knows it, which has no larger ones.
func clamp(seq uint64) int64 { return int64(min(seq, math.MaxInt64)) }
