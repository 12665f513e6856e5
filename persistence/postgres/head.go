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

// newest returns nil if the caller has the newest claim of id, and otherwise ErrFenced.
func (j *Journal) newest(ctx context.Context, q querier, id string, epoch uint64) error {
	h, known, err := j.head(ctx, q, id)
	if err != nil {
		return err
	}
	return h.fence(known, epoch)
}

func (h *head) fence(known bool, epoch uint64) error {
	switch {
	case !known:
		return &journal.FencedError{Epoch: epoch}
	case h.forgotten():
		return journal.ErrForgotten
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
