package persistence

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/journal"
)

const (
	// pruneIDs and pruneEvents bound a portion of [Prune].
	pruneIDs    = 10_000
	pruneEvents = 1_000_000

	// clockSkew is by how much the clocks of writers may differ without events being overlooked.
	clockSkew = time.Hour

	// pruneTries is how often a deletion is tried that a newer claim refuses.
	pruneTries = 5
)

// Pruning has the optional settings of [Prune].
type Pruning struct {
	// After continues a call that has ended early: the Offset of its [Pruned]. A call without it
	// is right too, and looks at the events again that stay. "" begins with the oldest event.
	After journal.Offset

	// Progress is called after each portion, with the result so far. Nil calls nothing.
	Progress func(Pruned)

	// DeleteUnread deletes events even if a registered projection has not read them.
	DeleteUnread bool
}

// Pruned is what [Prune] has done. The counts of ids count an id once for each portion of up to
// 10,000 ids or a million events in which it has old events.
type Pruned struct {
	Offset     journal.Offset // all events up to here have been looked at
	Events     uint64         // that were deleted
	NoSnapshot uint64         // ids whose old events stay, because they have no snapshot
	BadState   uint64         // ids whose old events stay, because the program cannot decode their oldest snapshot
	Unread     uint64         // ids of which some old events stay, because a registered projection has not read them
	Reader     string         // the name of such a projection, "" for none
}

// Prune deletes the events of all ids that were written before a time. It leaves what recovery
// needs: it deletes no event after the oldest snapshot of an id, and none of an id without a
// snapshot, such as a durable state. What a registered projection has not read stays, too; see
// projection.Registered. It fences nobody: actors may run meanwhile, on all nodes.
//
// The oldest snapshot is first read back. Its type must be registered in this program, so run
// Prune in the program of the actors.
//
// Prune reads the old events of all ids, which may take long; its context ends it. It returns what
// it has done, also with an error: call it again, now or later, or continue with [Pruning.After].
// It ends at the first event that was written more than an hour after the time, so the clocks of
// writers may differ by an hour. The journals of this project can be pruned; the error is
// [errors.ErrUnsupported] for one that cannot.
func Prune(ctx context.Context, j Journal, before time.Time, p Pruning) (Pruned, error) {
	r := pruning{ctx: ctx, before: before, Pruning: p}
	r.done.Offset = p.After
	if j == nil {
		return r.done, errors.New("persistence: prune: the journal is nil")
	}
	var reads, retains, snapshots bool
	r.reader, reads = journal.As[journal.EventReader](j)
	r.journal, retains = journal.As[journal.Retainer](j)
	r.store, snapshots = journal.As[journal.SnapshotStore](j)
	if !reads || !retains || !snapshots {
		return r.done, fmt.Errorf("persistence: prune: a %s cannot be pruned: %w; it must be a journal.EventReader, a SnapshotStore and a Retainer",
			storeName(j), errors.ErrUnsupported)
	}
	for more := true; more; {
		var err error
		if more, err = r.portion(); err != nil {
			return r.done, fmt.Errorf("persistence: prune: %w", err)
		}
		if p.Progress != nil {
			p.Progress(r.done)
		}
	}
	return r.done, nil
}

// A pruning is a call of Prune.
type pruning struct {
	Pruning
	ctx     context.Context //nolint:containedctx // it is the call's own
	before  time.Time
	journal journal.Retainer
	reader  journal.EventReader
	store   journal.SnapshotStore
	done    Pruned
}

// portion deletes the old events of some ids, and reports whether there are more.
func (r *pruning) portion() (more bool, err error) {
	last := map[string]uint64{} // the last old event of each id
	at, events := r.done.Offset, 0
	for entry, err := range r.reader.Events(r.ctx, journal.Query{}, at) {
		if err != nil && entry.Offset == "" {
			return false, err
		}
		if err == nil && entry.Record.Time.After(r.before.Add(clockSkew)) {
			break
		}
		if err == nil && !entry.Forgotten() && entry.Record.Time.Before(r.before) {
			last[entry.ID] = entry.Record.Seq
		}
		at = entry.Offset
		if events++; len(last) >= pruneIDs || events >= pruneEvents {
			more = true
			break
		}
	}
	for id, seq := range last {
		if err := r.prune(id, seq); err != nil {
			return false, fmt.Errorf("%q: %w", id, err)
		}
	}
	r.done.Offset = at
	return more, nil
}

// prune deletes the events of id up to seq, or up to its oldest snapshot.
func (r *pruning) prune(id string, seq uint64) error {
	seqs, err := r.store.Snapshots(r.ctx, id)
	if err != nil {
		return err
	}
	if len(seqs) == 0 {
		r.done.NoSnapshot++
		return nil
	}
	s, ok, _, err := r.store.LoadSnapshot(r.ctx, id, seqs[0])
	switch {
	case err != nil:
		return err
	case !ok || s.Seq != seqs[0] || !s.Shredded && !decodes(&s):
		r.done.BadState++
		return nil
	}
	for range pruneTries {
		if err = r.delete(id, min(seq, s.Seq)); !errors.Is(err, ErrFenced) || errors.Is(err, ErrForgotten) {
			break
		}
	}
	if errors.Is(err, ErrForgotten) {
		return nil
	}
	return err
}

func (r *pruning) delete(id string, to uint64) error {
	head, err := r.journal.Head(r.ctx, id)
	if err != nil || head.DeletedTo >= to {
		return err
	}
	if r.DeleteUnread {
		err = r.journal.DeleteUnread(r.ctx, id, head.Epoch, to)
	} else {
		err = r.journal.DeleteTo(r.ctx, id, head.Epoch, to)
	}
	if unread, is := errors.AsType[*journal.UnreadError](err); is {
		r.done.Unread++
		r.done.Reader, to, err = unread.Reader, unread.To, nil
	}
	if err == nil {
		r.done.Events += to - min(to, head.DeletedTo)
	}
	return err
}

// decodes reports whether this program can decode the state in a snapshot.
func decodes(s *journal.Snapshot) bool {
	state, err := extension.Unpack(nil, extension.Payload{Type: s.Type, Data: s.Payload})
	if keyed, is := state.(stateWithKeys); is && err == nil {
		_, err = extension.Unpack(nil, keyed.State)
	}
	return err == nil
}
