package delivery

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/window"
)

const lookAgain = 10 * time.Second

type (
	found[M any] struct { // the queue was searched for a refused message
		noPayload
		by      *producer[M]
		records []extension.Payload // nil: it is not there
		err     error
	}
	roomAgain[M any] struct { // the queue may have room for refused messages again
		noPayload
		by *producer[M]
	}
)

func (found[M]) command(M)     {}
func (roomAgain[M]) command(M) {}

func refusedOf[M any](entries []*entry[M]) []Refused {
	messages := make([]Refused, len(entries))
	for i, e := range entries {
		messages[i] = Refused{Number: e.number, Reason: window.ReasonOf(e.refusal).Text, Time: time.Now().UTC(), records: e.records()}
	}
	return messages
}

// Refused messages are stored one by one when the queue had no room for several.
func (s *storage[M]) nextRefused() (some, rest []*entry[M]) {
	if s.oneByOne {
		return s.refused[:1], s.refused[1:]
	}
	n, records := 1, s.refused[0].parts()
	for n < len(s.refused) && records < maxStored {
		records += s.refused[n].parts()
		n++
	}
	return s.refused[:n], s.refused[n:]
}

func (p *producer[M]) kept(entries []*entry[M]) {
	if len(entries) == 0 {
		return
	}
	p.storage.oneByOne = len(p.storage.refused) > 0 && p.storage.oneByOne
	for _, e := range entries {
		e.pending = false
	}
	for _, l := range append(p.receivers.all(), p.connections...) {
		if r := l.deferred; r.Confirmed > l.Acked() {
			l.deferred = request{}
			p.onRequest(r)
		}
	}
	for _, e := range entries {
		e.refused() // if it was not in its turn
	}
}

// If the queue has no room even for one refused message, the producer stores only resent messages
// for a while: refused messages, confirmations and new messages wait.
func (p *producer[M]) noRoom(err error) {
	s := &p.storage
	s.full = len(s.refusing) == 1
	s.refused, s.oneByOne = append(slices.Clone(s.refusing), s.refused...), true
	if s.full {
		p.ctx.Log().Error("queue keeps too many refused messages, the producer waits: resend or remove some",
			zap.String("queue", p.set.queue.ID()), zap.Int("waiting", len(s.refused)), zap.Duration("again", lookAgain), zap.Error(err))
		p.ctx.After("room", lookAgain, roomAgain[M]{by: p})
	}
}

func (p *producer[M]) resend(r Resend[M]) {
	e := &entry[M]{resent: r.Number, replyTo: r.ReplyTo, confirmTo: r.ConfirmTo}
	if p.set.queue == nil {
		e.notKept(fmt.Errorf("%w %d: the producer has no queue; see WithQueue", ErrNotKept, r.Number))
		return
	}
	if p.storage.resends.Len()+p.backlog.Len()+p.storage.fresh.Len() >= p.set.buffer {
		e.notKept(ErrBufferFull)
		return
	}
	p.storage.resends.Push(e)
	p.store()
}

func (p *producer[M]) find(e *entry[M]) {
	p.storage.busy = true
	queue, life := p.set.queue, p.life
	actor.PipeToSelf(p.ctx, func(context.Context) (f found[M], err error) {
		all, err := queue.List(life)
		for _, r := range all {
			if r.Number == e.resent {
				f.records = r.records
			}
		}
		return f, err
	}, func(f found[M], err error) Command[M] {
		f.by, f.err = p, err
		return f
	})
}

func (p *producer[M]) onFound(f found[M]) {
	p.storage.busy = false
	e := p.storage.resends.Pop()
	if err := p.revive(e, f); err != nil {
		e.notKept(err)
	} else {
		p.storage.revived.Push(e)
	}
	p.store()
}

func (p *producer[M]) revive(e *entry[M], f found[M]) error {
	if f.err != nil {
		return fmt.Errorf("delivery: list queue %s: %w", p.set.queue.ID(), f.err)
	}
	if f.records == nil {
		return fmt.Errorf("%w %d", ErrNotKept, e.resent)
	}
	var err error
	kept := Refused{records: f.records}
	if e.payload, err = kept.payload(); err != nil {
		return err
	}
	e.to = kept.To()
	if err := e.decode(p.ctx.System()); err != nil {
		return err
	}
	e.cut(p.set.partSize())
	return p.encode(e)
}
