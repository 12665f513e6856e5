package persistence

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
)

// A retention says when snapshots are taken, and how many are kept.
type retention struct{ every, keep int }

// due says whether a multiple of every lies after prev and not after seq.
func (r retention) due(prev, seq uint64) bool {
	return prev/uint64(r.every) != seq/uint64(r.every)
}

// snapshotAfter takes a snapshot when one is due between the events prev and e.seq. The
// state is encoded at once, so that what comes later cannot change it.
func (e *entity[M, E, S]) snapshotAfter(prev uint64) {
	if e.snapshots == nil || !e.retention.due(prev, e.seq) {
		return
	}
	p, err := actor.Pack(e.state)
	if err != nil {
		e.log.Warn("state cannot be encoded for a snapshot", zap.Uint64("seq", e.seq), zap.Error(err))
		return
	}
	e.snapshots.save(Snapshot{Seq: e.seq, Epoch: e.epoch, Time: time.Now().UTC(), Type: p.Type, Payload: p.Data})
}

func (e *entity[M, E, S]) newSnapshotter() *snapshotter {
	return &snapshotter{
		store: e.store, id: e.id, keep: e.retention.keep, log: e.log, tasks: &e.tasks,
		ctx: context.WithoutCancel(e.ctx.Context), timeout: e.persistTimeout,
	}
}

// A snapshotter saves snapshots in the background, one at a time. When it cannot keep
// up, it passes over all but the newest.
type snapshotter struct {
	store   SnapshotStore
	id      string
	keep    int
	log     *zap.Logger
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
	s.begin(snapshot)
}

// begin saves snapshot, and then the next. The mutex is held.
func (s *snapshotter) begin(snapshot Snapshot) {
	s.busy = true
	background(s.tasks, func() error { return s.replace(snapshot) }, func(err error) {
		if err != nil {
			s.log.Warn("snapshot not saved", zap.Uint64("seq", snapshot.Seq), zap.Error(err))
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy = false
		if s.next != nil {
			snapshot := *s.next
			s.next = nil
			s.begin(snapshot)
		}
	})
}

// replace saves snapshot and deletes those that are too many then.
func (s *snapshotter) replace(snapshot Snapshot) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	if err := s.store.SaveSnapshot(ctx, s.id, snapshot); err != nil {
		return err
	}
	return s.store.DeleteSnapshots(ctx, s.id, snapshot.Epoch, snapshot.Seq, s.keep)
}
