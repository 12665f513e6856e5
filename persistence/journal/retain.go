package journal

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"
)

// A Retainer is a journal whose deletions stop before what a registered reader has not read. Any
// goroutine may call its methods. Projections register by the option projection.Registered.
//
// [Journal.DeleteTo] of a Retainer deletes up to the first record that comes after the offset of a
// reader whose slices have the id. If there is such a record, the error is an [*UnreadError]. A
// deletion that has begun before [Retainer.SaveReader] returns may not know the reader yet.
// Forgetting an id deletes all of it; readers find its tombstone.
type Retainer interface {
	Journal

	// SaveReader stores how far a reader has read, in place of what was stored under its name. A
	// new name registers it. An invalid name, range or offset is [ErrInvalid].
	SaveReader(ctx context.Context, r Reader) error

	// RemoveReader lets deletions delete what the reader has not read. A name that is not
	// registered is left alone.
	RemoveReader(ctx context.Context, name string) error

	// Readers returns the registered readers, by name. One whose stored form is damaged has its
	// name alone, as if it had read nothing of all slices. [Journal.DeleteTo] then fails with
	// [ErrCorrupt], and deletes nothing until it is saved again or removed.
	Readers(ctx context.Context) ([]Reader, error)

	// End returns an offset of which this holds: a call of [EventReader.Events] that begins later,
	// and yields all that it selects, has yielded all that is stored up to it. It is not before any
	// event that an earlier call has yielded.
	End(ctx context.Context) (Offset, error)

	// Head returns the newest claim of id, without claiming it. An id that was never claimed has
	// the zero Claim. The error of a forgotten one is [ErrForgotten].
	Head(ctx context.Context, id string) (Claim, error)

	// DeleteUnread is [Journal.DeleteTo], whether or not readers have read the records.
	DeleteUnread(ctx context.Context, id string, epoch, seq uint64) error
}

// A Reader is a registered reader of the events of all persistence ids in some slices.
type Reader struct {
	Name   string     // valid as a persistence id, see [ValidateID]
	Slices SliceRange // the ids that it reads
	Offset Offset     // it has read all events of these ids up to here; "" for none
	Time   time.Time  // when it said so, by its own clock; for information only
}

// Validate returns [ErrInvalid] with the reason if the name or the slices of r are malformed.
func (r *Reader) Validate() error {
	err := ValidateID(r.Name)
	if err == nil {
		err = Query{Slices: r.Slices}.Validate()
	}
	return err
}

// Bounds returns the first slice of r, and the slice after the last one.
func (r *Reader) Bounds() (from, to int) {
	if r.Slices == (SliceRange{}) {
		return 0, Slices
	}
	return r.Slices.From, r.Slices.To
}

// Checksum returns the CRC32C of r, over every field except the time. Journals store it with the
// reader, and verify it when they read: a wrong offset would delete what nobody has read.
func (r *Reader) Checksum() uint32 {
	f := buffers.Get().(*fields)
	defer buffers.Put(f)
	from, to := r.Bounds()
	b := appendString(f[:0], r.Name)
	b = binary.LittleEndian.AppendUint64(b, uint64(from)) //nolint:gosec // slices are few
	b = binary.LittleEndian.AppendUint64(b, uint64(to))   //nolint:gosec // slices are few
	return checksum(b, []byte(r.Offset))
}

// Verify compares the checksum of r with the stored one. If it differs, r becomes what
// [Retainer.Readers] returns of it, and the error is [ErrCorrupt], with the way out.
func (r *Reader) Verify(sum uint32) error {
	if sum == r.Checksum() {
		return nil
	}
	*r = Reader{Name: r.Name}
	return fmt.Errorf("%w: the registered reader %q fails its checksum; its projection registers it again when it starts, or call projection.Unregister", ErrCorrupt, r.Name)
}

// An UnreadError says that a deletion has stopped before records that a registered reader has not
// read. Delete again later. If the reader is no longer in use, remove it with
// projection.Unregister.
type UnreadError struct {
	Reader string // its name
	To     uint64 // the records up to this one are deleted
}

// Error names the reader.
func (e *UnreadError) Error() string {
	return fmt.Sprintf("persistence: deleted up to record %d; the registered reader %q has not read the next one: delete again later, or call projection.Unregister if nobody needs it any more",
		e.To, e.Reader)
}

// DeleteUnread deletes records of j as [Journal.DeleteTo] does, whether or not registered readers
// have read them.
func DeleteUnread(ctx context.Context, j Journal, id string, epoch, seq uint64) error {
	if r, ok := As[Retainer](j); ok {
		return r.DeleteUnread(ctx, id, epoch, seq)
	}
	return j.DeleteTo(ctx, id, epoch, seq)
}
