package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/journal"
)

const (
	// scanShare decides when an id is read by a search for its subject: if at least one in
	// scanShare messages of the stream belongs to the id. The server examines each message in a
	// search, but a request for one message by number costs it more than examining that many.
	scanShare = 16
	// fewPlaces is how many places the pointers of one message give; that many messages are
	// requested by number.
	fewPlaces = maxIndex

	firstScan, largestScan = 256, 8192 // messages in one answer
	scanBytes              = 4 << 20   // approximate bytes of one answer
)

// worthScanning reports whether a search of the stream finds the records from from on, the first
// existing record, faster than pointers do.
func (p *position) worthScanning(from uint64) bool {
	if from != p.deletedTo+1 || len(p.index) == 0 {
		return false
	}
	messages, records := uint64(0), p.count
	for _, pointer := range p.index {
		records += pointer.count
	}
	if records > 0 {
		messages = (p.last - p.deletedTo) * uint64(len(p.index)+1) / records
	}
	return messages > fewPlaces && p.at/messages <= scanShare
}

// A scan reads the records of an id in the order of the stream. It stops without an error if a
// replica lags or messages are missing; the rest is then read by following pointers.
type scan struct {
	j     *Journal
	id    string
	next  uint64 // the next record
	from  uint64 // the position in the stream where the next answer begins
	batch int
}

func (s *scan) run(ctx context.Context, to uint64, yield func(journal.Record, error) bool) (enough bool) {
	for s.next <= to {
		q, err := s.ask()
		if err != nil {
			return false
		}
		more, enough := s.answers(ctx, q, to, yield)
		q.forget()
		if enough || !more {
			return enough
		}
		s.batch = min(4*s.batch, largestScan)
	}
	return false
}

func (s *scan) ask() (*question, error) {
	request := fmt.Appendf(nil, `{"seq":%d,"next_by_subj":%q,"batch":%d,"max_bytes":%d,"no_hdr":true}`, s.from, s.j.subjects.entity(s.id), s.batch, scanBytes)
	return s.j.inbox.ask(s.j.api+"DIRECT.GET."+s.j.events, nil, request, s.batch+1)
}

func (s *scan) answers(ctx context.Context, q *question, to uint64, yield func(journal.Record, error) bool) (more, enough bool) {
	for {
		m, err := q.answer(ctx, readPatience)
		if err != nil {
			return false, false
		}
		switch status(m) {
		case "":
			if ok, enough := s.message(ctx, m, to, yield); !ok || enough {
				return false, enough
			}
		case statusEnd:
			return s.end(m), false
		default:
			return false, false
		}
	}
}

func (s *scan) end(m *nats.Msg) (more bool) {
	at, err := strconv.ParseUint(m.Header.Get(js.LastSequenceHeader), 10, 64)
	if err != nil || at < s.from || m.Header.Get("Nats-Num-Pending") == "0" {
		return false
	}
	s.from = at + 1
	return true
}

// message yields the records of a message. ok is false if the message is damaged or is not the next
// one.
func (s *scan) message(ctx context.Context, m *nats.Msg, to uint64, yield func(journal.Record, error) bool) (ok, enough bool) {
	h, body, err := decodeHead(s.id, m.Data)
	if err != nil {
		return false, false
	}
	first := h.last - h.count + 1
	if h.kind != kindRecords || h.last < s.next {
		return true, false
	}
	if first > s.next {
		return false, false
	}
	if body, err = s.j.body(ctx, s.id, 0, &h, body); err != nil {
		return false, false
	}
	found := recordMessage{place: place{first: first, last: h.last}, records: newRecordDecoder(s.id, &h, body)}
	enough = !found.yield(ctx, s.next, to, yield)
	s.next = h.last + 1
	return true, enough || s.next > to
}

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
	case now.forgotten() || now.deletedTo >= last:
		return fmt.Errorf("%w: record %d has been deleted meanwhile, read again", journal.ErrUnavailable, last)
	}
	return corrupt("message %d, which has record %d or points to it, is missing", at, last)
}
