package jetstream

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/journal"
)

const (
	// scanShare is how many messages of a stream there may be for each of the id when it is
	// read from its first record by a search for its subject. The server looks at each; a
	// message that is asked for by its number costs it more than as many.
	scanShare = 16
	// fewPlaces are found through the pointers of one message and are asked for by number.
	fewPlaces = maxIndex

	firstScan, largestScan = 256, 8192 // messages in one answer
	scanBytes              = 4 << 20   // and about how many bytes
)

// worthScanning reports whether the records from from on, the first that there is, are
// found faster by a search of the stream than through pointers.
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
	next  uint64 // the record that comes next
	from  uint64 // where in the stream the next answer begins
	batch int
}

// run yields the records up to to, and reports whether the reader wants no more.
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

// answers reads one batch. More says that there may be another.
func (s *scan) answers(ctx context.Context, q *question, to uint64, yield func(journal.Record, error) bool) (more, enough bool) {
	for {
		m, err := q.answer(ctx)
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

// end notes where the next batch begins, if there is one.
func (s *scan) end(m *nats.Msg) (more bool) {
	at, err := strconv.ParseUint(m.Header.Get(js.LastSequenceHeader), 10, 64)
	if err != nil || at < s.from || m.Header.Get("Nats-Num-Pending") == "0" {
		return false
	}
	s.from = at + 1
	return true
}

// message yields the records of a message. Not ok is one that is damaged, or that is not the
// next.
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
