package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/fifo"
)

// maxStored is how many messages are stored at once, if they have no parts.
const maxStored = 100

// storage is the part of a producer that has to do with its queue.
type storage[M any] struct {
	fresh     fifo.Queue[*entry[M]] // not stored yet
	storing   []*entry[M]           // being stored
	singly    int                   // that many of fresh go one by one: one of them cannot be stored
	confirmed ledger
	busy      bool  // the queue is at work
	failure   error // of the queue
}

type (
	loaded[M any] struct { // the queue has been loaded
		nothing
		by        *producer[M]
		confirmed uint64
		messages  []actor.Payload
		err       error
	}
	stored[M any] struct { // the queue has stored something
		nothing
		by  *producer[M]
		err error
	}
)

func (loaded[M]) command(M) {}
func (stored[M]) command(M) {}

func (p *producer[M]) load() {
	p.storage.busy = true
	queue, life := p.set.queue, p.life
	actor.PipeToSelf(p.ctx, func(context.Context) (l loaded[M], err error) {
		l.confirmed, l.messages, err = queue.Load(life)
		return l, err
	}, func(l loaded[M], err error) Command[M] {
		l.by, l.err = p, err
		return l
	})
}

func (p *producer[M]) onLoaded(l loaded[M]) actor.Behavior[Command[M]] {
	var entries []*entry[M]
	if l.err == nil {
		entries, l.err = recall[M](p.ctx.System(), l)
	}
	if l.err != nil {
		return p.ctx.Fail(fmt.Errorf("delivery: load queue %s: %w", p.set.queue.ID(), l.err))
	}
	p.storage.busy = false
	p.storage.confirmed.load(l.confirmed)
	p.last = l.confirmed + uint64(len(l.messages))
	if p.pulling {
		p.recallWork(entries)
	} else {
		p.recallStream(l.confirmed, entries)
	}
	p.store()
	p.pump()
	return nil
}

// recallWork has all that was loaded done by whoever comes.
func (p *producer[M]) recallWork(entries []*entry[M]) {
	for _, e := range entries {
		if e.void {
			p.storage.confirmed.has(e.number)
			continue
		}
		p.backlog.Push(e)
	}
}

// recallStream goes on with a stream where it was.
func (p *producer[M]) recallStream(confirmed uint64, entries []*entry[M]) {
	l := p.lanes[0]
	l.confirmed = confirmed
	for _, e := range entries {
		for i := range e.parts() {
			l.push(part[M]{e, i})
		}
	}
	if l.aimed {
		l.aim()
	}
}

// store stores what is fresh or what has been confirmed. The latter waits for the former,
// but not for long.
func (p *producer[M]) store() {
	s := &p.storage
	if p.set.queue == nil || s.busy {
		return
	}
	if unsaved := s.confirmed.unsaved(); unsaved > 0 && (s.fresh.Len() == 0 || unsaved >= maxStored) {
		queue := p.set.queue
		upTo, beyond := s.confirmed.save()
		p.pipe(func(ctx context.Context) error { return queue.Confirm(ctx, upTo, beyond) })
		return
	}
	if records := s.begin(); len(records) > 0 {
		first, queue := p.last+1, p.set.queue
		p.pipe(func(ctx context.Context) error { return queue.Append(ctx, first, records) })
	}
}

// begin takes what is to be stored next: of each message all parts.
func (s *storage[M]) begin() (records []actor.Payload) {
	most := maxStored
	if s.singly > 0 {
		s.singly--
		most = 1
	}
	for s.fresh.Len() > 0 && (len(records) == 0 || len(records)+s.fresh.At(0).parts() <= most) {
		e := s.fresh.Pop()
		s.storing = append(s.storing, e)
		records = append(records, e.records()...)
	}
	return records
}

// pipe lets the queue do something.
func (p *producer[M]) pipe(work func(context.Context) error) {
	p.storage.busy = true
	life := p.life
	actor.PipeToSelf(p.ctx, func(context.Context) (stored[M], error) {
		return stored[M]{}, work(life)
	}, func(s stored[M], err error) Command[M] {
		s.by, s.err = p, err
		return s
	})
}

func (p *producer[M]) onStored(done stored[M]) actor.Behavior[Command[M]] {
	s := &p.storage
	s.busy = false
	switch {
	case errors.Is(done.err, ErrNotStorable) && len(s.storing) > 0:
		p.setAside(done.err)
	case done.err != nil:
		s.failure = done.err
		return p.ctx.Fail(fmt.Errorf("delivery: store in queue %s: %w", p.set.queue.ID(), done.err))
	default:
		for _, e := range s.storing {
			p.last += uint64(e.parts())
			e.number = p.last
			p.backlog.Push(e)
		}
	}
	s.storing = nil
	p.store()
	p.pump()
	return nil
}

// setAside finds the message that cannot be stored, which is refused.
func (p *producer[M]) setAside(err error) {
	s := &p.storage
	if len(s.storing) == 1 {
		p.refuse(s.storing[0], err)
		return
	}
	s.singly = len(s.storing)
	retried := fifo.Of(s.storing)
	for _, e := range s.fresh.All() {
		retried.Push(e)
	}
	s.fresh = retried
}

// endOfStorage gives up what is not stored. What is has its answer.
func (p *producer[M]) endOfStorage() {
	perhaps := ErrPerhapsStored
	if p.storage.failure != nil {
		perhaps = fmt.Errorf("%w: %w", perhaps, p.storage.failure)
	}
	for _, e := range p.storage.storing {
		p.refuse(e, perhaps)
	}
	for _, e := range p.storage.fresh.All() {
		p.refuse(e, errEnded)
	}
	for _, e := range p.backlog.All() {
		e.accepted(e.number)
	}
}
