package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Events implements [journal.EventReader]. Events come in the order of the stream. The reader
// filters them; for a long read, the server sends only the requested slices.
func (j *Journal) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		ctx, end, err := j.begin(ctx)
		if err == nil {
			defer end()
			err = j.tail(ctx, q, after, yield)
			err = ended(ctx, err)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(journal.Entry{}, fmt.Errorf("read events: %w", err))
		}
	}
}

var errEnough = errors.New("jetstream: enough")

// tail yields the events after an offset, up to the last message at the time of the call.
func (j *Journal) tail(ctx context.Context, q journal.Query, after journal.Offset, yield func(journal.Entry, error) bool) error {
	if err := q.Validate(); err != nil {
		return err
	}
	from, err := j.parseOffset(after)
	if err != nil {
		return err
	}
	end, err := j.endAfter(ctx, from)
	if err != nil || end.at < from.at {
		return err
	}
	r := eventReader{j: j, q: q, from: from, yield: yield, deletedTo: map[string]uint64{}}
	if err := r.lookForCuts(ctx); err != nil {
		return err
	}
	if end.at-from.at < fewMessages {
		return r.few(ctx, end)
	}
	return r.many(ctx, end)
}

// fewMessages is how many messages are requested one by one. For more, the reader creates a
// consumer. The servers keep a record of each consumer, so a consumer is too expensive for each
// poll.
const fewMessages = 128

func (r *eventReader) few(ctx context.Context, end message) error {
	numbers := func(i int) uint64 { return r.from.at + uint64(i) }
	for m, err := range r.j.gets(ctx, r.j.events, int(end.at-r.from.at), numbers, false) {
		if errors.Is(err, errMissing) { // removed
			continue
		}
		if err != nil {
			return err
		}
		if err := r.message(ctx, m); err != nil {
			return err
		}
	}
	return r.message(ctx, end)
}

// endAfter returns the last message of the stream. It fails if a reader has seen a later one: the
// stream has then lost its end, or is a different stream.
func (j *Journal) endAfter(ctx context.Context, seen offset) (message, error) {
	if ended := j.ended.Load(); ended > seen.at {
		seen = offset{at: ended, next: 1}
	}
	for n := 1; ; n++ {
		end, err := j.end(ctx)
		if err != nil || end.at >= seen.at || seen.next == 0 {
			return end, err
		}
		if n == attempts {
			return message{}, fmt.Errorf("%w: the stream ends at message %d, but the offset says that message %d has been read: it lags behind, or has lost messages", journal.ErrUnavailable, end.at, seen.at)
		}
		if err := backOff(ctx, n+3); err != nil {
			return message{}, unavailable(ctx, err)
		}
	}
}

func (j *Journal) end(ctx context.Context) (message, error) {
	for n := 1; ; n++ {
		state, err := j.state(ctx)
		if err != nil || state.Messages == 0 {
			return message{}, err
		}
		m, err := j.get(ctx, j.events, state.Last)
		switch {
		case !errors.Is(err, errMissing):
			return m, err
		case n == attempts: // otherwise it was removed, and there is a later one
			return message{}, corrupt("the last message of the stream, %d, cannot be read", state.Last)
		}
	}
}

func (s subjects) filters(part journal.SliceRange, last string) []string {
	if part == (journal.SliceRange{}) || part == (journal.SliceRange{To: journal.Slices}) {
		return []string{s.root + ".>"}
	}
	var filters []string
	contained := false
	add := func(pattern string) {
		filters = append(filters, pattern)
		prefix, _, _ := strings.Cut(pattern, "*")
		contained = contained || strings.HasPrefix(last, prefix)
	}
	for slice := part.From; slice < part.To; {
		if slice%sliceTokens == 0 && slice+sliceTokens <= part.To {
			add(fmt.Sprintf("%s.e.%d.*.*", s.root, slice/sliceTokens))
			slice += sliceTokens
			continue
		}
		add(fmt.Sprintf("%s.e.%d.%d.*", s.root, slice/sliceTokens, slice%sliceTokens))
		slice++
	}
	if !contained {
		filters = append(filters, last)
	}
	return filters
}

type eventReader struct {
	j     *Journal
	q     journal.Query
	from  offset
	yield func(journal.Entry, error) bool

	cuts      bool              // some messages are cut: a part of their records is deleted
	deletedTo map[string]uint64 // if cuts, the end of the deleted records of the ids examined so far
}

func (r *eventReader) lookForCuts(ctx context.Context) error {
	_, err := r.j.last(ctx, r.j.subjects.cut())
	r.cuts = err == nil
	if errors.Is(err, errMissing) {
		return nil
	}
	return err
}

func (r *eventReader) message(ctx context.Context, m message) error {
	if m.subject == r.j.subjects.cut() {
		return nil
	}
	id, err := r.j.subjects.id(m.subject)
	if err != nil {
		return err
	}
	if !r.q.Slices.Contains(journal.SliceOf(id)) {
		return nil
	}
	h, body, err := decodeHead(id, m.data)
	if err != nil {
		return r.damaged(id, offset{at: m.at, next: 1}, 0, err)
	}
	switch h.kind {
	case kindForgotten:
		return r.tombstone(id, m.at, &h, body)
	case kindRecords:
	default:
		return nil
	}
	all := offset{at: m.at, next: h.count}
	if body, err = r.j.body(ctx, id, m.at, &h, body); err != nil {
		return r.damaged(id, all, h.last-h.count+1, err)
	}
	deletedTo, err := r.deleted(ctx, id, &h)
	if err != nil {
		return r.damaged(id, all, h.last-h.count+1, err)
	}
	return r.records(ctx, id, m.at, &h, body, deletedTo)
}

// damaged yields the place of what cannot be read, unless the reader has seen it. Any error but
// [journal.ErrCorrupt] ends the call.
func (r *eventReader) damaged(id string, here offset, seq uint64, err error) error {
	err = fmt.Errorf("message %d of %q: %w", here.at, id, err)
	switch {
	case !errors.Is(err, journal.ErrCorrupt):
		return err
	case here.at == r.from.at && here.next <= r.from.next:
		return nil
	case !r.yield(journal.Entry{ID: id, Offset: r.j.formatOffset(here), Record: journal.Record{Seq: seq}}, err):
		return errEnough
	}
	return nil
}

func (r *eventReader) records(ctx context.Context, id string, at uint64, h *head, body []byte, deletedTo uint64) error {
	records := newRecordDecoder(id, h, body)
	for i := range h.count {
		if ctx.Err() != nil {
			return unavailable(ctx, nil)
		}
		here := offset{at: at, next: i + 1}
		if here.at == r.from.at && i < r.from.next || records.next <= deletedTo {
			records.skip()
			continue
		}
		seq := records.next
		record, err := records.record()
		if err != nil {
			if err := r.damaged(id, here, seq, err); err != nil {
				return err
			}
			continue
		}
		if r.q.Tag != "" && !slices.Contains(record.Tags, r.q.Tag) {
			continue
		}
		if !r.yield(journal.Entry{ID: id, Offset: r.j.formatOffset(here), Record: record}, nil) {
			return errEnough
		}
	}
	return nil
}

// deleted returns up to which record id is deleted, if some messages may be cut.
func (r *eventReader) deleted(ctx context.Context, id string, h *head) (uint64, error) {
	if !r.cuts || h.count < 2 {
		return 0, nil
	}
	if to, known := r.deletedTo[id]; known {
		return to, nil
	}
	p, err := r.j.positionOnce(ctx, id)
	if err == nil {
		r.deletedTo[id] = p.deletedTo
	}
	return p.deletedTo, err
}

// An offset says that the reader has seen the first next records of the message at at, and all
// earlier messages.
type offset struct{ at, next uint64 }

func (j *Journal) formatOffset(o offset) journal.Offset {
	return journal.Offset(fmt.Sprintf("js:%s:%d:%d", j.events, o.at, o.next))
}

func (j *Journal) parseOffset(text journal.Offset) (offset, error) {
	if text == "" {
		return offset{at: 1}, nil
	}
	var o offset
	_, err := fmt.Sscanf(string(text), "js:"+j.events+":%d:%d", &o.at, &o.next)
	if err != nil || o.at == 0 || o.next == 0 || j.formatOffset(o) != text {
		return offset{}, fmt.Errorf("%w: %q is not an offset of the journal %s", journal.ErrInvalid, text, j.events)
	}
	return o, nil
}
