package journal

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// SaveSnapshot implements [SnapshotStore].
func (j *Memory) SaveSnapshot(ctx context.Context, id string, s Snapshot) error {
	return j.change(ctx, "save snapshot", id, func() error {
		if err := s.Validate(id); err != nil {
			return err
		}
		return j.entities[id].save(s)
	})
}

// LoadSnapshot implements [SnapshotStore]. It never skips a snapshot.
func (j *Memory) LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (s Snapshot, ok bool, skipped []uint64, err error) {
	err = j.look(ctx, "load snapshot", id, func() { s, ok = j.entities[id].newest(maxSeq) })
	return s, ok, nil, err
}

// DeleteSnapshots implements [SnapshotStore].
func (j *Memory) DeleteSnapshots(ctx context.Context, id string, epoch, seq uint64, keep int) error {
	return j.change(ctx, "delete snapshots", id, func() error { return j.entities[id].deleteSnapshots(epoch, seq, keep) })
}

// Snapshots implements [SnapshotStore].
func (j *Memory) Snapshots(ctx context.Context, id string) (seqs []uint64, err error) {
	err = j.look(ctx, "list snapshots", id, func() { seqs = j.entities[id].snapshotSeqs() })
	return seqs, err
}

func (e *entity) save(s Snapshot) error {
	if err := e.fence(s.Epoch); err != nil {
		return err
	}
	if s.Seq > e.lastSeq {
		return fmt.Errorf("%w: snapshot at %d, the last event is %d", ErrConflict, s.Seq, e.lastSeq)
	}
	s = cloneSnapshot(s)
	i, found := e.search(s.Seq)
	if found {
		e.snapshots[i] = s
	} else {
		e.snapshots = slices.Insert(e.snapshots, i, s)
	}
	return nil
}

func (e *entity) newest(maxSeq uint64) (Snapshot, bool) {
	if e == nil {
		return Snapshot{}, false
	}
	i, found := e.search(maxSeq)
	if found {
		i++
	}
	if i == 0 {
		return Snapshot{}, false
	}
	return cloneSnapshot(e.snapshots[i-1]), true
}

func (e *entity) deleteSnapshots(epoch, seq uint64, keep int) error {
	if err := e.fence(epoch); err != nil {
		return err
	}
	n, found := e.search(seq)
	if found {
		n++
	}
	n = min(n, max(0, len(e.snapshots)-max(0, keep)))
	e.snapshots = slices.Delete(e.snapshots, 0, n)
	return nil
}

func (e *entity) snapshotSeqs() []uint64 {
	if e == nil {
		return nil
	}
	seqs := make([]uint64, len(e.snapshots))
	for i, s := range e.snapshots {
		seqs[i] = s.Seq
	}
	return seqs
}

func (e *entity) search(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(e.snapshots, seq, func(s Snapshot, seq uint64) int {
		return cmp.Compare(s.Seq, seq)
	})
}

func cloneSnapshot(s Snapshot) Snapshot {
	s.Time = s.Time.Round(0).UTC()
	s.Payload = bytes.Clone(s.Payload)
	return s
}

// Timers implements [TimerStore].
func (j *Memory) Timers(ctx context.Context, id string) (all []Timer, err error) {
	err = j.look(ctx, "read timers", id, func() { all = j.entities[id].allTimers() })
	return all, err
}

// Wakes implements [TimerStore]. It looks at all timers.
func (j *Memory) Wakes(ctx context.Context, in SliceRange, after Wake, before time.Time, limit int) ([]Wake, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if err := cmp.Or(j.usable(ctx), Query{Slices: in}.Validate()); err != nil {
		return nil, err
	}
	var all []Wake
	for id, e := range j.entities {
		if len(e.timers) == 0 || !in.Contains(SliceOf(id)) {
			continue
		}
		for _, t := range e.timers {
			if w := (Wake{Due: t.Due, ID: id}); t.Due.Before(before) && w.Compare(after) > 0 {
				all = append(all, w)
			}
		}
	}
	slices.SortFunc(all, Wake.Compare)
	all = slices.Compact(all)
	return all[:min(len(all), max(limit, 0))], nil
}

// Now implements [TimerStore]. It returns the time of the host.
func (j *Memory) Now(ctx context.Context) (time.Time, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return time.Now(), j.usable(ctx)
}

func (e *entity) changeTimers(changes []TimerChange) {
	for i := range changes {
		c := &changes[i]
		if c.Remove {
			delete(e.timers, c.Key)
			continue
		}
		if e.timers == nil {
			e.timers = map[string]Timer{}
		}
		t := c.Timer
		t.Due, t.Payload = t.Due.Round(0).UTC(), bytes.Clone(t.Payload)
		e.timers[t.Key] = t
	}
}

func (e *entity) allTimers() []Timer {
	if e == nil || len(e.timers) == 0 {
		return nil
	}
	all := make([]Timer, 0, len(e.timers))
	for _, t := range e.timers {
		t.Payload = bytes.Clone(t.Payload)
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Timer) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Key, b.Key)) })
	return all
}
