package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A place is a message with records: its number in the stream, and its first and last record.
type place struct{ at, first, last uint64 }

// walk returns the places of the records of id from from on that p knows, in ascending order. It
// requests every 33rd message on the way.
func (j *Journal) walk(ctx context.Context, id string, p *position, from uint64) ([]place, error) {
	w := walker{from: max(from, p.deletedTo+1), left: p.last}
	for h, at := &p.head, p.at; w.visit(h, at); {
		base, err := j.head(ctx, id, h.base, w.left)
		if err != nil {
			return nil, err
		}
		at, h = h.base, &base
	}
	slices.Reverse(w.places)
	return w.places, w.err
}

type walker struct {
	from   uint64
	left   uint64 // the last record whose place is not known yet
	places []place
	err    error
}

// visit adds the records in the message at at and those it points to. It reports whether earlier
// ones remain.
func (w *walker) visit(h *head, at uint64) bool {
	w.add(pointer{at: at, count: h.count})
	for _, p := range slices.Backward(h.index) {
		w.add(p)
	}
	if w.left < w.from || w.err != nil {
		return false
	}
	if h.base == 0 {
		w.err = corrupt("nothing points to record %d", w.left)
		return false
	}
	return true
}

func (w *walker) add(p pointer) {
	if w.left < w.from || p.count == 0 {
		return
	}
	if p.count > w.left {
		w.err = corrupt("message %d has more records than there are", p.at)
		w.left = 0
		return
	}
	w.places = append(w.places, place{at: p.at, first: w.left - p.count + 1, last: w.left})
	w.left -= p.count
}

// head returns the head of the message at at. The last record of the id after that message is last.
func (j *Journal) head(ctx context.Context, id string, at, last uint64) (head, error) {
	h, _, err := j.fetch(ctx, id, at, last)
	return h, err
}

// fetch returns the message at at of the stream. The last record of id after that message is last.
func (j *Journal) fetch(ctx context.Context, id string, at, last uint64) (h head, body []byte, err error) {
	m, err := j.getOne(ctx, j.events, at, true)
	return j.fetched(ctx, id, at, last, m, err)
}

// fetched checks that a message is the expected one. Its checksum includes the id, so the subject
// need not be known.
func (j *Journal) fetched(ctx context.Context, id string, at, last uint64, m message, err error) (h head, body []byte, _ error) {
	if err != nil {
		return head{}, nil, j.lost(ctx, id, at, last, err)
	}
	if h, body, err = decodeHead(id, m.data); err != nil {
		return head{}, nil, fmt.Errorf("message %d: %w", at, err)
	}
	if h.last != last {
		return head{}, nil, corrupt("message %d says that the last record is %d instead of %d", at, h.last, last)
	}
	return h, body, nil
}

// lost returns the error for a message with record last that could not be fetched. A missing
// message may have been deleted meanwhile.
func (j *Journal) lost(ctx context.Context, id string, at, last uint64, err error) error {
	if !errors.Is(err, errMissing) {
		return err
	}
	now, err := j.positionOnce(ctx, id)
	switch {
	case err != nil:
		return err
	case now.deletedTo >= last:
		return fmt.Errorf("%w: record %d has been deleted meanwhile, read again", journal.ErrUnavailable, last)
	}
	return corrupt("message %d, which has record %d or points to it, is missing", at, last)
}
