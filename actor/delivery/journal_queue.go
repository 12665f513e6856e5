package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A message is stored when it has been accepted.
type message struct {
	_       struct{} `cbor:",toarray"`
	Number  uint64
	Payload extension.Payload
}

// settledUpTo is stored when all messages up to a number are settled: confirmed or refused.
type settledUpTo struct {
	_    struct{} `cbor:",toarray"`
	UpTo uint64
}

// settled is stored when messages are settled and others before them are not.
type settled struct {
	_       struct{} `cbor:",toarray"`
	Numbers []uint64
}

func init() {
	actor.RegisterType[message]("understudy/delivery.message/1")
	actor.RegisterType[settledUpTo]("understudy/delivery.settled-up-to/1")
	actor.RegisterType[settled]("understudy/delivery.settled/1")
}

// journalQueue stores the messages of one producer at a time as events of an id. A producer that
// loads claims the id, which fences the producer before. A message is settled when it is confirmed
// or refused, and deleted when all earlier ones are settled, too. Operations wait for each other.
type journalQueue struct {
	id      string
	journal persistence.Journal
	writer  journal.WriterID

	turn chan struct{} // a semaphore: its holder owns all fields below

	// These fields describe the producer that has called Load.
	epoch   uint64
	last    uint64   // the last record
	upTo    uint64   // all messages up to this number are settled
	records []uint64 // the records of the messages after upTo

	mostRefused int
	refusals    refusals
}

func (q *journalQueue) ID() string { return q.id }

// enter waits until no other operation is in progress. An operation that was called before its
// producer restarted is no longer started.
func (q *journalQueue) enter(ctx context.Context) (leave func(), err error) {
	select {
	case q.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	leave = func() { <-q.turn }
	if err := ctx.Err(); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// Load claims the id, and reads the stored messages.
func (q *journalQueue) Load(ctx context.Context) (settled uint64, unsettled []extension.Payload, err error) {
	leave, err := q.enter(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer leave()
	err = patiently(ctx, func() error {
		settled, unsettled, err = q.load(ctx)
		return err
	})
	return settled, unsettled, err
}

func (q *journalQueue) load(ctx context.Context) (uint64, []extension.Payload, error) {
	if most := journal.MaxIDLength - len(refusedSuffix); len(q.id) > most {
		return 0, nil, fmt.Errorf("%w: the id of a queue has %d bytes, more than %d", persistence.ErrInvalid, len(q.id), most)
	}
	claim, err := q.journal.Claim(ctx, q.id, q.writer, journal.Bounds{})
	if err != nil {
		return 0, nil, err
	}
	q.epoch, q.last, q.upTo, q.records = claim.Epoch, claim.LastSeq, 0, nil
	var messages []message
	done := map[uint64]bool{}
	for r, err := range q.journal.Read(ctx, q.id, claim.DeletedTo+1, claim.LastSeq) {
		if err != nil {
			return 0, nil, err
		}
		v, err := unpack(q.id, r)
		if err != nil {
			return 0, nil, err
		}
		switch v := v.(type) {
		case message:
			messages, q.records = append(messages, v), append(q.records, r.Seq)
		case settledUpTo:
			q.upTo = max(q.upTo, v.UpTo)
		case settled:
			for _, n := range v.Numbers {
				done[n] = true
			}
		default:
			return 0, nil, fmt.Errorf("%w: record %d of %s is a %s", persistence.ErrCorrupt, r.Seq, q.id, r.Type)
		}
	}
	return q.unsettled(messages, done)
}

func unpack(id string, r journal.Record) (any, error) {
	v, err := extension.Unpack(nil, extension.Payload{Type: r.Type, Data: r.Payload})
	if _, unknown := errors.AsType[*codec.UnknownNameError](err); unknown {
		return nil, fmt.Errorf("record %d of %s: %w", r.Seq, id, err) // another version of the program has stored it
	}
	if err != nil {
		return nil, fmt.Errorf("%w: record %d of %s: %w", persistence.ErrCorrupt, r.Seq, id, err)
	}
	return v, nil
}

// unsettled returns the messages without those that are settled but not deleted yet.
func (q *journalQueue) unsettled(messages []message, done map[uint64]bool) (uint64, []extension.Payload, error) {
	for len(messages) > 0 && messages[0].Number <= q.upTo {
		messages, q.records = messages[1:], q.records[1:]
	}
	payloads := make([]extension.Payload, len(messages))
	for i, m := range messages {
		if m.Number != q.upTo+uint64(i)+1 {
			return 0, nil, fmt.Errorf("%w: message %d of %s is missing", persistence.ErrCorrupt, q.upTo+uint64(i)+1, q.id)
		}
		if !done[m.Number] {
			payloads[i] = m.Payload
		}
	}
	return q.upTo, payloads, nil
}

// Append fails with [persistence.ErrInvalid] if first is not the
// next number, because several producers then share the queue.
func (q *journalQueue) Append(ctx context.Context, first uint64, payloads []extension.Payload) error {
	leave, err := q.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if next := q.upTo + uint64(len(q.records)) + 1; first != next {
		return fmt.Errorf("%w: append message %d to %s, whose next is %d: give each producer a queue of its own", persistence.ErrInvalid, first, q.id, next)
	}
	events := make([]any, len(payloads))
	for i, p := range payloads {
		events[i] = message{Number: first + uint64(i), Payload: p}
	}
	before := q.last
	if err := q.append(ctx, events); err != nil {
		if errors.Is(err, persistence.ErrTooLarge) || errors.Is(err, actor.ErrNotSerializable) {
			return fmt.Errorf("%w: %w", ErrNotStorable, err)
		}
		return err
	}
	for i := range payloads {
		q.records = append(q.records, before+uint64(i)+1)
	}
	return nil
}

// Settle stores the numbers, and then deletes the messages that
// are no longer needed. It fails with [persistence.ErrInvalid] if a number is beyond the last one.
func (q *journalQueue) Settle(ctx context.Context, upTo uint64, beyond []uint64) error {
	leave, err := q.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	upTo = max(upTo, q.upTo)
	if last := q.upTo + uint64(len(q.records)); slices.Max(append([]uint64{upTo}, beyond...)) > last {
		return fmt.Errorf("%w: settle messages %d and %v of %s, whose last is %d", persistence.ErrInvalid, upTo, beyond, q.id, last)
	}
	done := upTo - q.upTo
	var events []any
	if done > 0 {
		events = append(events, settledUpTo{UpTo: upTo})
	}
	if len(beyond) > 0 {
		events = append(events, settled{Numbers: beyond})
	}
	if len(events) == 0 {
		return nil
	}
	if err := q.append(ctx, events); err != nil || done == 0 {
		return err
	}
	last := q.records[done-1]
	q.upTo, q.records = upTo, q.records[done:]
	return patiently(ctx, func() error { return journal.DeleteUnread(ctx, q.journal, q.id, q.epoch, last) })
}

func (q *journalQueue) append(ctx context.Context, events []any) error {
	last, err := q.write(ctx, q.id, q.epoch, q.last, events)
	if err == nil {
		q.last = last
	}
	return err
}

func (q *journalQueue) write(ctx context.Context, id string, epoch, prev uint64, events []any) (last uint64, err error) {
	req := journal.AppendRequest{ID: id, Epoch: epoch, Prev: prev}
	for i, event := range events {
		p, err := extension.Pack(event)
		if err != nil {
			return prev, fmt.Errorf("%w: %w", persistence.ErrInvalid, err)
		}
		req.Records = append(req.Records, journal.Record{
			Seq: prev + uint64(i) + 1, Epoch: epoch, Writer: q.writer, Time: time.Now().UTC(), Type: p.Type, Payload: p.Data,
		})
	}
	err = patiently(ctx, func() error { return q.journal.Append(ctx, []journal.AppendRequest{req})[0] })
	return prev + uint64(len(events)), err
}

// patiently repeats do until its outcome is known.
func patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, persistence.ErrUnavailable) && !errors.Is(err, persistence.ErrUnknown) && !errors.Is(err, persistence.ErrFull) {
			return err
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
			return err
		}
	}
}
