package jetstream

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/understudy-go/understudy/persistence/journal"
)

// What a message says. Each is one atomic change of its persistence id.
type kind byte

const (
	kindRecords   kind = 1 + iota // it has records
	kindClaim                     // its epoch is new
	kindDeletion                  // its deletedTo is new
	kindSnapshots                 // its snapshots are new
)

// version of the messages. A later one may add to heads what is not to be passed over.
const version = 1

// A head is what each message tells about its persistence id, as it is after the message:
// the last message is all that a writer needs to know.
type head struct {
	kind      kind
	epoch     uint64
	last      uint64           // the last sequence number
	count     uint64           // how many records there are in the message
	deletedTo uint64           // records up to this one are gone
	writer    journal.WriterID // of a claim

	// The messages before this one that have records: those in the index, ascending, and
	// before them those that the message at base has and knows. 0 is none.
	base  uint64
	index []pointer

	// The message that lists the snapshots is at state, 0 when there has never been one.
	// Deletions and snapshots list them themselves.
	state     uint64
	snapshots []snapshotRef

	chunks []uint64 // where the records are in the stream of large things, if not here
	large  uint64   // the last chunk that this message or an earlier one of the id refers to
}

// A pointer says where records are: the sequence number of their message in the stream,
// and how many.
type pointer struct{ at, count uint64 }

// A snapshotRef says where the chunks of a snapshot are.
type snapshotRef struct {
	seq    uint64
	chunks []uint64
}

// lists reports whether h lists the snapshots itself.
func (h *head) lists() bool { return h.kind == kindDeletion || h.kind == kindSnapshots }

// maxIndex is how many pointers a message carries at most.
const maxIndex = 32

// A position is a head and where its message is in the stream. The zero position is that
// of an id which nobody has claimed.
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

// encode returns h as it begins the message at a subject of id. The checksum counts the id,
// so that a message at the wrong subject is found out.
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

// decodeHead returns the head at the beginning of a message, and the rest.
func decodeHead(id string, message []byte) (h head, rest []byte, err error) {
	d := decoder{rest: message}
	body := decoder{rest: d.take(d.uvarint())}
	covered := message[:len(message)-len(d.rest)]
	if sum := d.uint32(); d.bad || sum != headSum(id, covered) {
		return head{}, nil, corrupt("the head of a message does not match its checksum")
	}
	v := body.take(2)
	if body.bad || v[0] != version || v[1] < byte(kindRecords) || v[1] > byte(kindSnapshots) {
		return head{}, nil, corrupt("a message has version and kind %v; this program knows version %d: it may be older than the one that wrote", v, version)
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
