package jetstream

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/understudy-go/understudy/persistence/journal"
)

// The kinds of messages. Each message is one atomic change of its persistence id.
type kind byte

const (
	kindRecords   kind = 1 + iota // it has records
	kindClaim                     // its epoch is new
	kindDeletion                  // its deletedTo is new
	kindSnapshots                 // its snapshots are new
	kindForgotten                 // it is the tombstone of its id, and has the record that readers see
)

// version is the version of the messages: of the head, and of the records and chunks of snapshots
// that it has or refers to. A message of another version has a head, a length and a checksum of the
// same form.
const version = 1

// A head is the state of a persistence id after its message. A writer therefore needs only the last
// message.
type head struct {
	kind      kind
	epoch     uint64
	last      uint64           // the last sequence number
	count     uint64           // how many records the message has
	deletedTo uint64           // records up to this one are deleted
	writer    journal.WriterID // of a claim

	// The earlier messages with records are those in index, in ascending order, and before them the
	// message at base with the messages that it points to. If base is 0, there are no others.
	base  uint64
	index []pointer

	// state is the number of the message that lists the snapshots; 0 if there never was a snapshot.
	// Messages of deletions and snapshots contain the list.
	state     uint64
	snapshots []snapshotRef

	chunks []uint64 // the chunks of the records in the large stream; empty if the records are in this message
	large  uint64   // the last chunk that this message or an earlier one of the id refers to
}

// A pointer leads to records: it has the sequence number of their message in the stream, and their
// count.
type pointer struct{ at, count uint64 }

type snapshotRef struct {
	seq    uint64
	chunks []uint64
}

func (h *head) lists() bool { return h.kind == kindDeletion || h.kind == kindSnapshots }

const maxIndex = 32

// A position is a head with the number of its message in the stream. The zero position belongs to
// an id that was never claimed.
type position struct {
	head
	at uint64
}

// next returns the head of a message of kind k after p that changes nothing.
func (p *position) next(k kind) head {
	h := head{kind: k, epoch: p.epoch, last: p.last, deletedTo: p.deletedTo, base: p.base, state: p.state, large: p.large}
	if p.lists() {
		h.state = p.at
	}
	if len(p.index) >= maxIndex {
		h.base = p.at
		return h
	}
	h.index = append(make([]pointer, 0, maxIndex+1), p.index...)
	if p.count > 0 {
		h.index = append(h.index, pointer{at: p.at, count: p.count})
	}
	return h
}

// encode returns h as the beginning of a message of id. The checksum includes the id, so that a
// message at the wrong subject is detected.
func (h *head) encode(id string) []byte {
	b := make([]byte, 0, 64+8*len(h.index))
	b = append(b, version, byte(h.kind))
	for _, n := range []uint64{h.epoch, h.last, h.count, h.deletedTo, h.base, h.state, h.large} {
		b = binary.AppendUvarint(b, n)
	}
	b = append(b, h.writer[:]...)
	b = binary.AppendUvarint(b, uint64(len(h.index)))
	at := h.base
	for _, p := range h.index {
		b = binary.AppendUvarint(b, p.at-at)
		b = binary.AppendUvarint(b, p.count)
		at = p.at
	}
	b = binary.AppendUvarint(b, uint64(len(h.snapshots)))
	for _, s := range h.snapshots {
		b = appendAscending(binary.AppendUvarint(b, s.seq), s.chunks)
	}
	b = appendAscending(b, h.chunks)
	b = append(binary.AppendUvarint(make([]byte, 0, len(b)+16), uint64(len(b))), b...)
	return binary.LittleEndian.AppendUint32(b, headSum(id, b))
}

func headSum(id string, b []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(id), castagnoli), castagnoli, b)
}

func decodeHead(id string, message []byte) (h head, rest []byte, err error) {
	d := decoder{rest: message}
	body := decoder{rest: d.take(d.uvarint())}
	covered := message[:len(message)-len(d.rest)]
	if sum := d.uint32(); d.bad || sum != headSum(id, covered) {
		return head{}, nil, corrupt("the head of a message does not match its checksum")
	}
	v := body.take(2)
	switch {
	case !body.bad && v[0] > version:
		return head{}, nil, fmt.Errorf("%w: a message has version %d, this program knows %d; use a newer build of the program", ErrNewerSchema, v[0], version)
	case body.bad || v[0] != version || v[1] < byte(kindRecords) || v[1] > byte(kindForgotten):
		return head{}, nil, corrupt("a message has version and kind %v, which do not exist", v)
	}
	h.kind = kind(v[1])
	for _, n := range []*uint64{&h.epoch, &h.last, &h.count, &h.deletedTo, &h.base, &h.state, &h.large} {
		*n = body.uvarint()
	}
	copy(h.writer[:], body.take(uint64(len(h.writer))))
	h.index = make([]pointer, body.count())
	at := h.base
	for i := range h.index {
		at += body.uvarint()
		h.index[i] = pointer{at: at, count: body.uvarint()}
	}
	h.snapshots = make([]snapshotRef, body.count())
	for i := range h.snapshots {
		h.snapshots[i] = snapshotRef{seq: body.uvarint(), chunks: body.ascending()}
	}
	h.chunks = body.ascending()
	if body.bad {
		return head{}, nil, corrupt("the head of a message ends too early")
	}
	return h, d.rest, nil
}
