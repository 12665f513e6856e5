package sqlite

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/understudy-go/understudy/persistence/journal"
)

const selectHead = "SELECT id, epoch, writer, seq, deleted_to, crc FROM entity WHERE pid = ?"

// A head is the summary of one persistence id. It reveals a lost tail of its events, or an epoch
// that went backwards. It has a checksum.
type head struct {
	id                    string
	eid                   int64
	epoch, seq, deletedTo uint64
	writer                journal.WriterID // of the newest claim, for later investigation
	crc                   uint32           // as it is stored
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var headBuffers = sync.Pool{New: func() any { return new([128]byte) }}

func (h *head) checksum() uint32 {
	f := headBuffers.Get().(*[128]byte) // nothing else is put there
	defer headBuffers.Put(f)
	b := binary.LittleEndian.AppendUint64(f[:0], h.epoch)
	b = binary.LittleEndian.AppendUint64(b, h.seq)
	b = binary.LittleEndian.AppendUint64(b, h.deletedTo)
	b = append(b, h.writer[:]...)
	return crc32.Checksum(append(b, h.id...), castagnoli)
}

// selectHeadForDeletion also tells whether there are registered readers.
const selectHeadForDeletion = "SELECT id, epoch, writer, seq, deleted_to, crc, EXISTS (SELECT 1 FROM reader) FROM entity WHERE pid = ?"

// scanHead returns the head of id from a row of selectHead, which may have more columns. Without a
// row it has no eid.
func scanHead(id string, row *sql.Row, more ...any) (head, error) {
	h := head{id: id}
	var writer []byte
	columns := [7]any{&h.eid, &h.epoch, &writer, &h.seq, &h.deletedTo, &h.crc}
	err := row.Scan(append(columns[:6], more...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return h, nil
	}
	if err != nil {
		return h, scanError(err)
	}
	if copy(h.writer[:], writer) != len(h.writer) || h.crc != h.checksum() {
		return h, fmt.Errorf("%w: the head record fails its checksum", journal.ErrCorrupt)
	}
	return h, nil
}

func (t *transaction) head(id string) (head, error) {
	return scanHead(id, t.stmts.head.QueryRow(id))
}

// fencedHead returns the head of id if the caller has its newest claim, and otherwise ErrFenced.
func (t *transaction) fencedHead(id string, epoch uint64) (head, error) {
	h, err := t.head(id)
	if err == nil {
		err = h.fence(epoch)
	}
	return h, err
}

func (h *head) fence(epoch uint64) error {
	switch {
	case h.eid == 0:
		return &journal.FencedError{Epoch: epoch}
	case h.forgotten():
		return journal.ErrForgotten
	case h.epoch != epoch:
		return &journal.FencedError{Epoch: epoch, Newest: h.epoch, Writer: h.writer}
	}
	return nil
}

func (t *transaction) saveHead(h *head) error {
	h.crc = h.checksum()
	if h.eid == 0 {
		return t.exec(t.stmts.insertHead, h.id, h.epoch, h.writer[:], h.seq, h.deletedTo, h.crc)
	}
	err := t.exec(t.stmts.updateHead, h.epoch, h.writer[:], h.seq, h.deletedTo, h.crc, h.eid)
	t.heads.keep(*h)
	return err
}

// errOutdated: a head differs from the stored one. If this transaction has read that head, the
// table contradicts itself.
var errOutdated = fmt.Errorf("%w: the head record is not what it was", journal.ErrCorrupt)

// advanceHead stores that n events follow h. It fails with errOutdated if h is not the stored head.
func (t *transaction) advanceHead(h head, n uint64) error {
	before := h
	h.seq += n
	h.crc = h.checksum()
	t.stmts.advanceHead.set(int64(h.seq), int64(h.crc), h.eid, int64(before.epoch), int64(before.seq), int64(before.deletedTo), int64(before.crc)) //nolint:gosec // they have been stored as such
	result, err := t.stmts.advanceHead.exec()
	if err != nil {
		return err
	}
	if moved, err := result.RowsAffected(); err != nil || moved == 0 {
		return errOutdated
	}
	t.dirty = true
	t.heads.keep(h)
	return nil
}

// headsKept bounds how many heads a process keeps in memory. All take 20 MB.
const headsKept = 1 << 17

// heads has the heads as this process left them in the database, by id. Another process may have
// changed them since.
type heads map[string]head

func (k heads) keep(h head) {
	if _, known := k[h.id]; !known && len(k) >= headsKept {
		k.dropSome()
	}
	k[h.id] = h
}

func (k heads) dropSome() {
	left := len(k) / 8
	for id := range k {
		if left--; left < 0 {
			return
		}
		delete(k, id)
	}
}
