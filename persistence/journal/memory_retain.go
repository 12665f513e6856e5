package journal

import (
	"context"
	"maps"
	"slices"
)

// A memoryReader is a registered reader, with its offset parsed.
type memoryReader struct {
	Reader
	ord uint64
}

// SaveReader implements [Retainer].
func (j *Memory) SaveReader(ctx context.Context, r Reader) error {
	return j.change(ctx, "save reader", r.Name, func() error {
		if err := r.Validate(); err != nil {
			return err
		}
		ord, err := parseOffset(r.Offset)
		if err != nil {
			return err
		}
		r.Time = r.Time.Round(0).UTC()
		j.readers[r.Name] = memoryReader{r, ord}
		return nil
	})
}

// RemoveReader implements [Retainer].
func (j *Memory) RemoveReader(ctx context.Context, name string) error {
	return j.change(ctx, "remove reader", name, func() error {
		delete(j.readers, name)
		return nil
	})
}

// Readers implements [Retainer].
func (j *Memory) Readers(ctx context.Context) ([]Reader, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if err := j.usable(ctx); err != nil {
		return nil, err
	}
	var all []Reader
	for _, name := range slices.Sorted(maps.Keys(j.readers)) {
		all = append(all, j.readers[name].Reader)
	}
	return all, nil
}

// End implements [Retainer].
func (j *Memory) End(ctx context.Context) (Offset, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if err := j.usable(ctx); err != nil || j.log.last == 0 {
		return "", err
	}
	return formatOffset(j.log.last), nil
}

// Head implements [Retainer].
func (j *Memory) Head(ctx context.Context, id string) (claim Claim, err error) {
	looked := j.look(ctx, "look at", id, func() {
		switch e := j.entities[id]; {
		case e == nil:
		case e.forgotten:
			err = wrap("look at", id, ErrForgotten)
		default:
			claim = e.claim()
		}
	})
	if looked != nil {
		err = looked
	}
	return claim, err
}

// DeleteUnread implements [Retainer].
func (j *Memory) DeleteUnread(ctx context.Context, id string, epoch, seq uint64) error {
	return j.change(ctx, "delete", id, func() error { return j.deleteTo(id, epoch, seq) })
}

func (j *Memory) deleteTo(id string, epoch, seq uint64) error {
	n, err := j.entities[id].deleteTo(epoch, seq)
	if n > 0 {
		j.log.forget(n, j.isDeleted)
	}
	return err
}

// unread returns the first record of id up to seq that a reader has not read, and the reader.
func (j *Memory) unread(id string, seq uint64) (first uint64, by string) {
	for name, r := range j.readers {
		if !r.Slices.Contains(SliceOf(id)) {
			continue
		}
		rest := j.log.after(r.ord)
		for i := range rest {
			e := &rest[i]
			if e.id != id || e.record.Seq == 0 || j.isDeleted(e) {
				continue
			}
			if e.record.Seq <= seq && (by == "" || e.record.Seq < first) {
				first, by = e.record.Seq, name
			}
			break
		}
	}
	return first, by
}
