package jetstream

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/persistence/journal"
)

const (
	// MaxSnapshot is the size of the largest payload of a snapshot, in bytes.
	MaxSnapshot = 256 << 20
	// MaxSnapshots is how many snapshots a persistence id can have. A further one is
	// refused with [journal.ErrFull] until old ones are deleted.
	MaxSnapshots = 256
)

// SaveSnapshot implements [journal.SnapshotStore]. It stores the chunks first, and then a
// conditional message of the id that lists the snapshot, so a fenced writer can never list one.
func (j *Journal) SaveSnapshot(ctx context.Context, id string, s journal.Snapshot) error {
	return j.saving(ctx, "save snapshot", id, func(ctx context.Context, e *entity) error {
		if err := s.Validate(id); err != nil {
			return err
		}
		if len(s.Payload) > MaxSnapshot {
			return fmt.Errorf("%w: the payload of the snapshot has %d bytes, more than %d", journal.ErrTooLarge, len(s.Payload), MaxSnapshot)
		}
		p, err := j.position(ctx, id, e)
		if err == nil {
			err = p.admit(&s, true)
		}
		if err != nil {
			return err
		}
		subject := j.subjects.snapshots(id)
		chunks, err := j.upload(ctx, subject, encodeSnapshot(id, &s))
		if err != nil {
			return err
		}
		refs, err := j.relist(ctx, id, e, func(p *position, refs []snapshotRef, fresh bool) ([]snapshotRef, error) {
			if err := p.admit(&s, fresh); err != nil {
				return nil, err
			}
			return add(refs, snapshotRef{seq: s.Seq, chunks: chunks})
		})
		if err != nil {
			return err
		}
		_ = j.purge(ctx, j.large, subject, oldestChunk(refs, chunks[0])) // a later save removes the rest
		return nil
	})
}

// admit returns an error for a snapshot that the owner of p cannot have made.
func (p *position) admit(s *journal.Snapshot, fresh bool) error {
	if err := p.fence(s.Epoch, fresh); err != nil {
		return err
	}
	switch {
	case s.Seq <= p.last:
		return nil
	case !fresh:
		return errLook
	}
	return fmt.Errorf("%w: snapshot at %d, the last event is %d", journal.ErrConflict, s.Seq, p.last)
}

// DeleteSnapshots implements [journal.SnapshotStore].
func (j *Journal) DeleteSnapshots(ctx context.Context, id string, epoch, seq uint64, keep int) error {
	return j.saving(ctx, "delete snapshots", id, func(ctx context.Context, e *entity) error {
		var dropped uint64 // the last chunk of the deleted snapshots
		left, err := j.relist(ctx, id, e, func(p *position, refs []snapshotRef, fresh bool) ([]snapshotRef, error) {
			if !fresh {
				return nil, errLook
			}
			if err := p.fence(epoch, fresh); err != nil {
				return nil, err
			}
			n, found := search(refs, seq)
			if found {
				n++
			}
			n = min(n, max(0, len(refs)-max(0, keep)))
			if n == 0 {
				return refs, errDone
			}
			dropped = 0
			for _, ref := range refs[:n] {
				dropped = max(dropped, ref.chunks[len(ref.chunks)-1])
			}
			return refs[n:], nil
		})
		if err != nil || dropped == 0 {
			return err
		}
		_ = j.purge(ctx, j.large, j.subjects.snapshots(id), oldestChunk(left, dropped+1))
		return nil
	})
}

// LoadSnapshot implements [journal.SnapshotStore].
func (j *Journal) LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (s journal.Snapshot, ok bool, skipped []uint64, err error) {
	err = j.call(ctx, "load snapshot", id, func(ctx context.Context) error {
		refs, err := j.listed(ctx, id)
		if err != nil {
			return err
		}
		for _, ref := range slices.Backward(refs) {
			if ref.seq > maxSeq {
				continue
			}
			s, err = j.snapshot(ctx, id, ref)
			if err == nil {
				ok = true
				return nil
			}
			if !errors.Is(err, journal.ErrCorrupt) && !errors.Is(err, errMissing) {
				return err
			}
			skipped = append(skipped, ref.seq)
		}
		return nil
	})
	if err != nil || !ok {
		s = journal.Snapshot{}
	}
	return s, ok, skipped, err
}

// Snapshots implements [journal.SnapshotStore].
func (j *Journal) Snapshots(ctx context.Context, id string) (seqs []uint64, err error) {
	err = j.call(ctx, "list snapshots", id, func(ctx context.Context) error {
		refs, err := j.listed(ctx, id)
		for _, ref := range refs {
			seqs = append(seqs, ref.seq)
		}
		return err
	})
	return seqs, err
}

// saving runs f as a call that changes the snapshots of id. Only one such call runs at a time in
// this process. Otherwise a second call could remove the chunks of a snapshot before it is listed.
func (j *Journal) saving(ctx context.Context, op, id string, f func(context.Context, *entity) error) error {
	return j.call(ctx, op, id, func(ctx context.Context) error {
		e, release := j.entity(id)
		defer release()
		done, err := take(ctx, e.saving)
		if err != nil {
			return err
		}
		defer done()
		return f(ctx, e)
	})
}

// relist applies f to the list of snapshots, stores the result, and returns it.
func (j *Journal) relist(ctx context.Context, id string, e *entity, f func(p *position, refs []snapshotRef, fresh bool) ([]snapshotRef, error)) ([]snapshotRef, error) {
	var refs []snapshotRef
	_, err := j.change(ctx, id, e, func(ctx context.Context, p *position, fresh bool) (h head, _ []byte, err error) {
		if refs, err = j.list(ctx, id, p, fresh); err != nil {
			return head{}, nil, err
		}
		if refs, err = f(p, slices.Clone(refs), fresh); err != nil {
			return head{}, nil, err
		}
		h = p.next(kindSnapshots)
		h.snapshots = refs
		return h, nil, nil
	})
	return refs, err
}

func (j *Journal) listed(ctx context.Context, id string) ([]snapshotRef, error) {
	e, release := j.entity(id)
	defer release()
	for n := 1; ; n++ {
		p, err := j.position(ctx, id, e)
		if err != nil {
			return nil, err
		}
		refs, err := j.list(ctx, id, &p, n == attempts)
		if !errors.Is(err, errLook) {
			return refs, err
		}
	}
}

// list returns the snapshots of id as p knows them. If the list has been replaced and removed since
// p was current, and p is not fresh, list returns errLook.
func (j *Journal) list(ctx context.Context, id string, p *position, fresh bool) ([]snapshotRef, error) {
	if p.lists() {
		return p.snapshots, nil
	}
	if p.state == 0 {
		return nil, nil
	}
	m, err := j.get(ctx, j.events, p.state)
	switch {
	case errors.Is(err, errMissing) && !fresh:
		return nil, errLook
	case errors.Is(err, errMissing):
		return nil, corrupt("message %d, which lists the snapshots, is missing", p.state)
	case err != nil:
		return nil, err
	}
	h, _, err := decodeHead(id, m.data)
	if err == nil && !h.lists() {
		err = corrupt("message %d does not list the snapshots", p.state)
	}
	return h.snapshots, err
}

func add(refs []snapshotRef, ref snapshotRef) ([]snapshotRef, error) {
	i, found := search(refs, ref.seq)
	switch {
	case found:
		refs[i] = ref
		return refs, nil
	case len(refs) >= MaxSnapshots:
		return nil, fmt.Errorf("%w: there are %d snapshots of the id; delete old ones", journal.ErrFull, len(refs))
	}
	return slices.Insert(refs, i, ref), nil
}

func search(refs []snapshotRef, seq uint64) (int, bool) {
	return slices.BinarySearchFunc(refs, seq, func(ref snapshotRef, seq uint64) int { return cmp.Compare(ref.seq, seq) })
}

// oldestChunk returns the first chunk of refs, or bound if that is lower.
func oldestChunk(refs []snapshotRef, bound uint64) uint64 {
	for _, ref := range refs {
		bound = min(bound, ref.chunks[0])
	}
	return bound
}

func (j *Journal) snapshot(ctx context.Context, id string, ref snapshotRef) (journal.Snapshot, error) {
	data, err := j.download(ctx, j.subjects.snapshots(id), ref.chunks)
	if err != nil {
		return journal.Snapshot{}, err
	}
	return decodeSnapshot(id, ref.seq, data)
}

func encodeSnapshot(id string, s *journal.Snapshot) []byte {
	b := make([]byte, 0, 64+len(s.Type)+len(s.Payload))
	b = binary.LittleEndian.AppendUint32(b, s.Checksum(id))
	b = binary.AppendUvarint(b, s.Epoch)
	b = appendTime(b, s.Time)
	b = appendString(b, s.Type)
	return append(b, s.Payload...)
}

func decodeSnapshot(id string, seq uint64, data []byte) (journal.Snapshot, error) {
	d := decoder{rest: data}
	sum := d.uint32()
	s := journal.Snapshot{Seq: seq, Epoch: d.uvarint(), Time: d.time(), Type: d.string()}
	s.Payload = d.take(uint64(len(d.rest)))
	if d.bad || s.Checksum(id) != sum {
		return journal.Snapshot{}, corrupt("snapshot %d does not match its checksum", seq)
	}
	return s, nil
}
