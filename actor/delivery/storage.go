package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/window"
)

// Messages are counted by parts.
const maxStored = 100

type storage[M any] struct {
	fresh    fifo.Queue[*entry[M]] // not stored yet
	storing  []*entry[M]           // Append runs for them
	singly   int                   // so many of fresh are stored one by one: one cannot be stored
	settled  ledger
	refused  []*entry[M]           // to be stored as refused, before they count as settled
	refusing []*entry[M]           // Refuse runs for them
	full     bool                  // the queue has no room for refused messages; see noRoom
	oneByOne bool                  // what was refused is stored one by one
	resends  fifo.Queue[*entry[M]] // to be found among the refused messages of the queue
	revived  fifo.Queue[*entry[M]] // found there, and not stored as new messages yet
	removing []uint64              // refused messages to remove: they are stored as new
	busy     bool                  // a call of the queue runs
	failure  error                 // of the queue
}

type (
	loaded[M any] struct { // the queue has been loaded
		noPayload
		by       *producer[M]
		settled  uint64
		messages []extension.Payload
		err      error
	}
	stored[M any] struct { // the queue has stored something
		noPayload
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
		l.settled, l.messages, err = queue.Load(life)
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
	p.storage.settled.load(l.settled)
	p.last = l.settled + uint64(len(l.messages))
	if p.several {
		p.recallWork(entries)
	} else {
		p.recallStream(l.settled, entries)
	}
	p.store()
	p.pump()
	return nil
}

func (p *producer[M]) recallWork(entries []*entry[M]) {
	for _, e := range entries {
		if e.void {
			p.storage.settled.Add(e.number)
			continue
		}
		p.ready(e)
	}
}

func (p *producer[M]) recallStream(settled uint64, entries []*entry[M]) {
	l := p.connections[0]
	l.Sender = window.Resume[part[M]](settled, nil)
	for _, e := range entries {
		for i := range e.parts() {
			l.Push(part[M]{e, i})
		}
	}
	if l.connected {
		l.connect()
	}
}

// Refused messages come first, then settled numbers, resends and new messages. Settled numbers wait
// while there are new messages, until maxStored have gathered.
func (p *producer[M]) store() {
	s, queue := &p.storage, p.set.queue
	if queue == nil || s.busy {
		return
	}
	unstored := s.settled.unstored()
	switch {
	case !s.full && len(s.refused) > 0:
		s.refusing, s.refused = s.nextRefused()
		messages := refusedOf(s.refusing)
		p.pipe(func(ctx context.Context) error { return queue.Refuse(ctx, messages) })
	case !s.full && unstored > 0 && (s.fresh.Len() == 0 || unstored >= maxStored):
		upTo, beyond := s.settled.save()
		p.pipe(func(ctx context.Context) error { return queue.Settle(ctx, upTo, beyond) })
	case len(s.removing) > 0:
		numbers := s.removing
		s.removing, s.full = nil, false
		p.pipe(func(ctx context.Context) error { return queue.Remove(ctx, numbers...) })
	case s.resends.Len() > 0:
		p.find(s.resends.At(0))
	default:
		if records := s.begin(); len(records) > 0 {
			first := p.last + 1
			p.pipe(func(ctx context.Context) error { return queue.Append(ctx, first, records) })
		}
	}
}

func (s *storage[M]) begin() (records []extension.Payload) {
	if s.revived.Len() > 0 {
		e := s.revived.Pop()
		s.storing = append(s.storing, e)
		return e.records()
	}
	if s.full {
		return nil
	}
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
	var refused []*entry[M]
	switch {
	case errors.Is(done.err, ErrNotStorable) && len(s.storing) > 0:
		p.setAside(done.err)
	case errors.Is(done.err, ErrRefusedFull) && len(s.refusing) > 0:
		p.noRoom(done.err)
	case done.err != nil:
		s.failure = done.err
		return p.ctx.Fail(fmt.Errorf("delivery: store in queue %s: %w", p.set.queue.ID(), done.err))
	default:
		for _, e := range s.storing {
			p.last += uint64(e.parts())
			e.number = p.last
			p.ready(e)
			if e.resent > 0 {
				s.removing = append(s.removing, e.resent)
			}
		}
		refused = s.refusing
	}
	s.storing, s.refusing = nil, nil
	p.kept(refused)
	p.store()
	p.pump()
	return nil
}

// If several messages were to be stored, they are stored one by one to find it.
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
	for _, kept := range []*fifo.Queue[*entry[M]]{&p.storage.resends, &p.storage.revived} {
		for _, e := range kept.All() {
			e.accepted(0) // it is still among those that were refused
		}
	}
	for _, e := range p.backlog.All() {
		e.accepted(e.number)
	}
	for _, e := range p.receivers.unfinished(p.set.flowOnly) {
		e.accepted(e.number)
	}
}
