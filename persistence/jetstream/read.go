package jetstream

import (
	"context"
	"errors"
	"iter"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Read implements [journal.Journal]. It yields the records that existed when it began.
func (j *Journal) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		ctx, end, err := j.begin(ctx)
		if err != nil {
			yield(journal.Record{}, wrap("read", id, err))
			return
		}
		defer end()
		for r, err := range j.read(ctx, id, from, to) {
			if !yield(r, wrap("read", id, ended(ctx, err))) || err != nil {
				return
			}
		}
	}
}

func (j *Journal) read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		if err := journal.ValidateID(id); err != nil {
			yield(journal.Record{}, err)
			return
		}
		e, release := j.entity(id)
		defer release()
		p, err := j.position(ctx, id, e)
		if err != nil {
			yield(journal.Record{}, err)
			return
		}
		j.records(ctx, id, &p, from, to)(yield)
	}
}

func (j *Journal) records(ctx context.Context, id string, p *position, from, to uint64) iter.Seq2[journal.Record, error] {
	from, to = max(from, p.deletedTo+1), min(to, p.last)
	return func(yield func(journal.Record, error) bool) {
		if from > to {
			return
		}
		if p.worthScanning(from) {
			s := scan{j: j, id: id, next: from, from: 1, batch: firstScan}
			if s.run(ctx, to, yield) {
				return
			}
			from = s.next
		}
		places, err := j.walk(ctx, id, p, from)
		if err != nil {
			yield(journal.Record{}, err)
			return
		}
		for m := range j.messages(ctx, id, places) {
			if !m.yield(ctx, from, to, yield) || m.place.last >= to {
				return
			}
		}
	}
}

// A recordMessage is a message with records, or the error of reading it.
type recordMessage struct {
	place   place
	records recordDecoder
	err     error
}

func (j *Journal) messages(ctx context.Context, id string, places []place) iter.Seq[recordMessage] {
	return func(yield func(recordMessage) bool) {
		i := 0
		for m, err := range j.gets(ctx, j.events, len(places), func(i int) uint64 { return places[i].at }, true) {
			if !yield(j.message(ctx, id, places[i], m, err)) {
				return
			}
			i++
		}
	}
}

func (j *Journal) message(ctx context.Context, id string, at place, m message, err error) recordMessage {
	h, body, err := j.fetched(ctx, id, at.at, at.last, m, err)
	if err == nil && h.last-h.count+1 != at.first {
		err = corrupt("message %d begins with record %d instead of %d", at.at, h.last-h.count+1, at.first)
	}
	if err == nil {
		body, err = j.body(ctx, id, at.at, &h, body)
	}
	if err != nil {
		return recordMessage{place: at, err: err}
	}
	return recordMessage{place: at, records: newRecordDecoder(id, &h, body)}
}

// body returns the encoded records of a message, from the message or its chunks.
func (j *Journal) body(ctx context.Context, id string, at uint64, h *head, body []byte) ([]byte, error) {
	if len(h.chunks) == 0 {
		return body, nil
	}
	body, err := j.download(ctx, j.subjects.records(id), h.chunks)
	if errors.Is(err, errMissing) {
		err = j.lost(ctx, id, at, h.last, err)
	}
	return body, err
}

// yield yields the records of m between from and to, inclusive, and reports whether to continue.
func (m *recordMessage) yield(ctx context.Context, from, to uint64, yield func(journal.Record, error) bool) bool {
	if m.err != nil {
		yield(journal.Record{}, m.err)
		return false
	}
	for seq := m.place.first; seq <= min(to, m.place.last); seq++ {
		if seq < from {
			m.records.skip()
			continue
		}
		if ctx.Err() != nil {
			yield(journal.Record{}, unavailable(ctx, nil))
			return false
		}
		r, err := m.records.record()
		if !yield(r, err) || err != nil {
			return false
		}
	}
	return true
}
