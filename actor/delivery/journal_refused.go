package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Refused messages are stored under a separate persistence id, because they stay when later
// messages of the queue are deleted. Each message has its records, followed by a record that marks
// them as complete. The id has separate claims: each change claims it, so that a message can be
// removed while a producer has the queue.

const (
	refusedSuffix  = "/refused"
	defaultRefused = 1000
	// mostAtOnce bounds one append, in bytes, unless a single record is larger.
	mostAtOnce = 256 << 10
	// mostWaste is how many superfluous records may lie between others.
	mostWaste = 1000
)

// refusedMessage is stored after the records of a message that was refused.
type refusedMessage struct {
	_       struct{} `cbor:",toarray"`
	Number  uint64
	Reason  string
	Time    time.Time
	Records uint64 // how many
}

// removed is stored when refused messages have been removed.
type removed struct {
	_       struct{} `cbor:",toarray"`
	Numbers []uint64
}

func init() {
	actor.RegisterType[refusedMessage]("understudy/delivery.refused/1")
	actor.RegisterType[removed]("understudy/delivery.removed/1")
}

type refusals struct {
	claimed   bool   // all fields below are valid, unless another queue has claimed since
	epoch     uint64 // of that claim
	last      uint64 // the last record
	deletedTo uint64
	kept      []kept // in the order of their records
}

// kept is a refused message, whose records are from..to.
type kept struct {
	Refused
	from, to uint64
}

func (q *journalQueue) Refuse(ctx context.Context, messages []Refused) error {
	return q.change(ctx, func(r *refusals) error {
		fresh := slices.DeleteFunc(slices.Clone(messages), func(m Refused) bool { return r.index(m.Number) >= 0 })
		if len(r.kept)+len(fresh) > q.mostRefused {
			return fmt.Errorf("%w: %s keeps %d, and MaxRefused is %d", ErrRefusedFull, q.id, len(r.kept), q.mostRefused)
		}
		for _, m := range fresh {
			if err := q.keep(ctx, r, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// List claims nothing, so it can be called in any process.
func (q *journalQueue) List(ctx context.Context) (messages []Refused, err error) {
	err = patiently(ctx, func() error {
		all, err := q.readRefused(ctx, 1, math.MaxInt64)
		messages = make([]Refused, len(all))
		for i, k := range all {
			messages[i] = k.Refused
		}
		return err
	})
	slices.SortFunc(messages, func(a, b Refused) int { return cmp.Compare(a.Number, b.Number) })
	return messages, err
}

// Remove does not fence the producer that has the queue, so it can
// be called in any process.
func (q *journalQueue) Remove(ctx context.Context, numbers ...uint64) error {
	return q.change(ctx, func(r *refusals) error {
		there := slices.DeleteFunc(slices.Clone(numbers), func(n uint64) bool { return r.index(n) < 0 })
		if len(there) == 0 {
			return nil
		}
		if err := q.appendRefused(ctx, r, []any{removed{Numbers: there}}); err != nil {
			return err
		}
		r.remove(there)
		return q.tidy(ctx, r)
	})
}

// change changes the refused messages. It starts over if another queue has changed them meanwhile.
func (q *journalQueue) change(ctx context.Context, do func(*refusals) error) error {
	leave, err := q.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	for {
		err := patiently(ctx, func() error {
			if err := q.claimRefused(ctx); err != nil {
				return err
			}
			err := do(&q.refusals)
			if err != nil {
				q.refusals.claimed = false // the next claim shows what was stored
			}
			return err
		})
		if !errors.Is(err, persistence.ErrFenced) && !errors.Is(err, persistence.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

func (q *journalQueue) claimRefused(ctx context.Context) error {
	if q.refusals.claimed {
		return nil
	}
	claim, err := q.journal.Claim(ctx, q.id+refusedSuffix, q.writer, journal.Bounds{})
	if err != nil {
		return err
	}
	all, err := q.readRefused(ctx, claim.DeletedTo+1, claim.LastSeq)
	if err != nil {
		return err
	}
	q.refusals = refusals{claimed: true, epoch: claim.Epoch, last: claim.LastSeq, deletedTo: claim.DeletedTo, kept: all}
	return nil
}

func (q *journalQueue) readRefused(ctx context.Context, from, to uint64) ([]kept, error) {
	var r refusals
	var records []extension.Payload
	for record, err := range q.journal.Read(ctx, q.id+refusedSuffix, from, to) {
		if err != nil {
			return nil, err
		}
		v, err := unpack(q.id+refusedSuffix, record)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case message:
			records = append(records, v.Payload)
			continue
		case refusedMessage:
			if n := uint64(len(records)); v.Records <= n { // earlier records are from a failed attempt
				r.put(kept{
					Refused: Refused{Number: v.Number, Reason: v.Reason, Time: v.Time, records: records[n-v.Records:]},
					from:    record.Seq - v.Records, to: record.Seq,
				})
			}
		case removed:
			r.remove(v.Numbers)
		default:
			return nil, fmt.Errorf("%w: record %d of %s is a %s", persistence.ErrCorrupt, record.Seq, q.id+refusedSuffix, record.Type)
		}
		records = nil
	}
	return r.kept, nil
}

func (q *journalQueue) keep(ctx context.Context, r *refusals, m Refused) error {
	var events []any
	bytes, from := 0, r.last+1
	for _, record := range m.records {
		if bytes += len(record.Data); bytes > mostAtOnce && len(events) > 0 {
			if err := q.appendRefused(ctx, r, events); err != nil {
				return err
			}
			events, bytes = nil, len(record.Data)
		}
		events = append(events, message{Number: m.Number, Payload: record})
	}
	head := refusedMessage{Number: m.Number, Reason: m.Reason, Time: m.Time, Records: uint64(len(m.records))}
	if bytes > mostAtOnce {
		if err := q.appendRefused(ctx, r, events); err != nil {
			return err
		}
		events = nil
	}
	if err := q.appendRefused(ctx, r, append(events, head)); err != nil {
		return err
	}
	r.put(kept{Refused: m, from: from, to: r.last})
	return nil
}

func (q *journalQueue) appendRefused(ctx context.Context, r *refusals, events []any) error {
	last, err := q.write(ctx, q.id+refusedSuffix, r.epoch, r.last, events)
	if err == nil {
		r.last = last
	}
	return err
}

// tidy deletes the records before the first needed one. If a message holds back too many
// superfluous records, it is stored again at the end.
func (q *journalQueue) tidy(ctx context.Context, r *refusals) error {
	for r.waste() > mostWaste && len(r.kept) > 0 {
		if err := q.keep(ctx, r, r.kept[0].Refused); err != nil {
			return err
		}
	}
	to := r.last // except the last record, which says that a message was removed
	if len(r.kept) > 0 {
		to = r.kept[0].from
	}
	if to--; to <= r.deletedTo {
		return nil
	}
	if err := journal.DeleteUnread(ctx, q.journal, q.id+refusedSuffix, r.epoch, to); err != nil {
		return err
	}
	r.deletedTo = to
	return nil
}

func (r *refusals) index(number uint64) int {
	return slices.IndexFunc(r.kept, func(k kept) bool { return k.Number == number })
}

// put moves a message to the end, or adds it there.
func (r *refusals) put(k kept) {
	r.remove([]uint64{k.Number})
	r.kept = append(r.kept, k)
}

func (r *refusals) remove(numbers []uint64) {
	r.kept = slices.DeleteFunc(r.kept, func(k kept) bool { return slices.Contains(numbers, k.Number) })
}

// waste returns the number of superfluous records after the first kept message.
func (r *refusals) waste() uint64 {
	if len(r.kept) == 0 {
		return 0
	}
	records := r.last - r.kept[0].from + 1
	for _, k := range r.kept {
		records -= k.to - k.from + 1
	}
	return records
}
