package persistence

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/persistence/journal"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/extension"
)

func (e *entity) takeSnapshot() {
	var p extension.Payload
	err := guard.Run(func() (err error) { p, err = snapshotOf(e); return err })
	if err != nil {
		e.counts.snapshot(err)
		e.caller.log.Warn("snapshot not saved", zap.Uint64("seq", e.seq), zap.Error(err))
		e.report(SnapshotFailed{Seq: e.seq, Err: err})
		return
	}
	e.snapshots.save(journal.Snapshot{Seq: e.seq, Epoch: e.epoch, Time: time.Now().UTC(), Type: p.Type, Payload: p.Data})
}

// snapshotOf returns the present state, with the keys of commands.
func snapshotOf(e *entity) (extension.Payload, error) {
	p, err := e.pack(e.user.value(e.at))
	if err == nil && e.once != nil {
		p, err = e.once.with(p, time.Now())
	}
	return p, err
}

func (e *entity) newSnapshotter() *snapshotter {
	return &snapshotter{
		journal: e.journal, store: e.store, keep: e.KeepSnapshots, withEvents: e.DeleteEvents, unread: e.DeleteUnread, storeCaller: e.caller,
		decode: func(snapshot *journal.Snapshot) error { _, _, err := e.stateOf(snapshot); return err },
		report: e.report, tasks: &e.tasks,
		ctx: context.WithoutCancel(e.ctx), timeout: e.PersistTimeout,
	}
}

// A snapshotter saves snapshots in the background, one at a time. If it cannot keep up, it saves
// only the newest.
type snapshotter struct {
	storeCaller
	journal    Journal
	store      journal.SnapshotStore
	keep       int
	withEvents bool                          // also delete the events up to the oldest kept snapshot
	unread     bool                          // even if a registered reader has not read them
	decode     func(*journal.Snapshot) error // returns an error if recovery could not decode it
	report     func(Signal)
	tasks      *sync.WaitGroup
	ctx        context.Context // the actor's values; a stop does not cancel it
	timeout    time.Duration

	mu   sync.Mutex // guards all below
	busy bool
	next *journal.Snapshot // the newest waiting snapshot
}

func (s *snapshotter) save(snapshot journal.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		s.next = &snapshot
		return
	}
	s.busy = true
	s.tasks.Go(func() {
		for more := &snapshot; more != nil; more = s.following() {
			s.replace(more)
		}
	})
}

// following returns the waiting snapshot, or nil; then the snapshotter is no longer busy.
func (s *snapshotter) following() *journal.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.next
	s.next, s.busy = nil, next != nil
	return next
}

func (s *snapshotter) replace(snapshot *journal.Snapshot) {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	err := s.decode(snapshot)
	if err == nil {
		err = s.call(ctx, "save snapshot", func() error { return s.store.SaveSnapshot(ctx, s.id, *snapshot) })
	}
	metricsOf(s.system).snapshot(err)
	if s.failed("snapshot not saved", snapshot.Seq, err) {
		s.report(SnapshotFailed{Seq: snapshot.Seq, Err: err})
		return
	}
	s.report(SnapshotCompleted{Seq: snapshot.Seq})
	var seqs []uint64
	err = s.call(ctx, "list snapshots", func() (err error) { seqs, err = s.store.Snapshots(ctx, s.id); return err })
	if s.failed("snapshots cannot be listed", snapshot.Seq, err) {
		s.report(DeleteSnapshotsFailed{To: snapshot.Seq, Err: err})
		return
	}
	s.tidy(ctx, snapshot.Epoch, seqs)
}

// tidy deletes superfluous events and snapshots if the oldest kept snapshot can be read back. It
// deletes events first: a snapshot is useful without older events, but events are useless without
// the snapshot before them.
func (s *snapshotter) tidy(ctx context.Context, epoch uint64, seqs []uint64) {
	surplus := len(seqs) - s.keep
	events, snapshots := s.withEvents && surplus >= 0, surplus > 0
	if !events && !snapshots {
		return
	}
	oldest := seqs[surplus]
	err := s.call(ctx, "read snapshot back", func() error { return s.readBack(ctx, oldest) })
	if s.failed("nothing is deleted: the oldest snapshot to be kept cannot be read back", oldest, err) {
		if events {
			s.report(DeleteEventsFailed{To: oldest, Err: err})
		}
		if snapshots {
			s.report(DeleteSnapshotsFailed{To: seqs[surplus-1], Err: err})
		}
		return
	}
	if events {
		s.deleteEvents(ctx, epoch, oldest)
	}
	if snapshots {
		s.deleteSnapshots(ctx, epoch, seqs[surplus-1])
	}
}

// readBack returns an error unless recovery could start from the snapshot at seq.
func (s *snapshotter) readBack(ctx context.Context, seq uint64) error {
	snapshot, ok, _, err := s.store.LoadSnapshot(ctx, s.id, seq)
	switch {
	case err != nil:
		return err
	case !ok || snapshot.Seq != seq:
		return fmt.Errorf("%w: the store does not return the snapshot at %d", ErrCorrupt, seq)
	}
	return s.decode(&snapshot)
}

func (s *snapshotter) deleteEvents(ctx context.Context, epoch, to uint64) {
	err := s.call(ctx, "delete events", func() error {
		if s.unread {
			return journal.DeleteUnread(ctx, s.journal, s.id, epoch, to)
		}
		return s.journal.DeleteTo(ctx, s.id, epoch, to)
	})
	if kept, is := errors.AsType[*journal.UnreadError](err); is {
		s.report(EventsDeleted{To: kept.To, Unread: kept.Reader})
		return
	}
	if s.failed("events not deleted", to, err) {
		s.report(DeleteEventsFailed{To: to, Err: err})
		return
	}
	s.report(EventsDeleted{To: to})
}

func (s *snapshotter) deleteSnapshots(ctx context.Context, epoch, to uint64) {
	err := s.call(ctx, "delete snapshots", func() error { return s.store.DeleteSnapshots(ctx, s.id, epoch, to, s.keep) })
	if s.failed("snapshots not deleted", to, err) {
		s.report(DeleteSnapshotsFailed{To: to, Err: err})
		return
	}
	s.report(SnapshotsDeleted{To: to})
}

// failed logs err unless it is nil, and reports whether it is an error.
func (s *snapshotter) failed(what string, seq uint64, err error) bool {
	if err != nil {
		s.log.Warn(what, zap.Uint64("seq", seq), zap.Error(err))
	}
	return err != nil
}
