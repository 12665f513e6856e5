package persistence

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
)

// A retention says when snapshots are taken, and how many are kept.
type retention struct {
	every      int // 0: by the predicate alone
	keep       int
	withEvents bool // delete the events, too, that retained snapshots stand in for
}

// by names the option that asks for snapshots.
func (r *retention) by() string {
	if r.every > 0 {
		return "SnapshotEvery"
	}
	return "SnapshotWhen"
}

// wantsSnapshot reports whether a snapshot is to follow the event of seq, which has led to
// state.
func (e *entity[M, E, S]) wantsSnapshot(state S, event E, seq uint64) bool {
	r := e.retention
	return r != nil && r.every > 0 && seq%uint64(r.every) == 0 ||
		e.snapshotWhen != nil && e.snapshotWhen(state, event, seq)
}

// takeSnapshot saves the state. It is encoded at once, so that what comes later cannot
// change it.
func (e *entity[M, E, S]) takeSnapshot() {
	p, err := actor.Pack(e.state)
	if err != nil {
		e.log.Warn("state cannot be encoded for a snapshot", zap.Uint64("seq", e.seq), zap.Error(err))
		e.report(SnapshotFailed{Seq: e.seq, Err: err})
		return
	}
	e.snapshots.save(Snapshot{Seq: e.seq, Epoch: e.epoch, Time: time.Now().UTC(), Type: p.Type, Payload: p.Data})
}

func (e *entity[M, E, S]) newSnapshotter() *snapshotter {
	return &snapshotter{
		journal: e.journal, store: e.store, id: e.id, retention: *e.retention,
		log: e.log, report: e.report, tasks: &e.tasks,
		ctx: context.WithoutCancel(e.ctx), timeout: e.persistTimeout,
	}
}

// A snapshotter saves snapshots in the background, one at a time. When it cannot keep
// up, it passes over all but the newest.
type snapshotter struct {
	retention
	journal Journal
	store   SnapshotStore
	id      string
	log     *zap.Logger
	report  func(Signal)
	tasks   *sync.WaitGroup
	ctx     context.Context // the actor's values, for as long as it lives
	timeout time.Duration

	mu   sync.Mutex // guards all below
	busy bool
	next *Snapshot // the newest that waits
}

func (s *snapshotter) save(snapshot Snapshot) {
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

// following returns the snapshot that waits; without one the snapshotter rests.
func (s *snapshotter) following() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.next
	s.next, s.busy = nil, next != nil
	return next
}

// replace saves snapshot, and deletes what is not needed any more then: the events first,
// as a state without its events is of use, and events without a state that they follow are
// not.
func (s *snapshotter) replace(snapshot *Snapshot) {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	err := guarded(func() error { return s.store.SaveSnapshot(ctx, s.id, *snapshot) })
	if s.failed("snapshot not saved", snapshot.Seq, err) {
		s.report(SnapshotFailed{Seq: snapshot.Seq, Err: err})
		return
	}
	s.report(SnapshotCompleted{Seq: snapshot.Seq})
	var seqs []uint64
	err = guarded(func() (err error) { seqs, err = s.store.Snapshots(ctx, s.id); return err })
	if s.failed("snapshots cannot be listed", snapshot.Seq, err) {
		s.report(DeleteSnapshotsFailed{To: snapshot.Seq, Err: err})
		return
	}
	surplus := len(seqs) - s.keep
	if s.withEvents && surplus >= 0 {
		s.deleteEvents(ctx, snapshot.Epoch, seqs[surplus])
	}
	if surplus > 0 {
		s.deleteSnapshots(ctx, snapshot.Epoch, seqs[surplus-1])
	}
}

func (s *snapshotter) deleteEvents(ctx context.Context, epoch, to uint64) {
	err := guarded(func() error { return s.journal.DeleteTo(ctx, s.id, epoch, to) })
	if s.failed("events not deleted", to, err) {
		s.report(DeleteEventsFailed{To: to, Err: err})
		return
	}
	s.report(EventsDeleted{To: to})
}

func (s *snapshotter) deleteSnapshots(ctx context.Context, epoch, to uint64) {
	err := guarded(func() error { return s.store.DeleteSnapshots(ctx, s.id, epoch, to, s.keep) })
	if s.failed("snapshots not deleted", to, err) {
		s.report(DeleteSnapshotsFailed{To: to, Err: err})
		return
	}
	s.report(SnapshotsDeleted{To: to})
}

// failed logs err, if it is one.
func (s *snapshotter) failed(what string, seq uint64, err error) bool {
	if err != nil {
		s.log.Warn(what, zap.Uint64("seq", seq), zap.Error(err))
	}
	return err != nil
}
