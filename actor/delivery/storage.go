package delivery

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
)

// maxStored is how many messages are stored at once.
const maxStored = 100

// storage is the part of a producer that has to do with its queue.
type storage[M any] struct {
	fresh     fifo[*entry[M]] // not stored yet
	storing   []*entry[M]     // being stored
	last      uint64          // the number of the newest that is stored
	confirmed uint64          // as is stored
	busy      bool            // the queue is at work
}

func (s *storage[M]) unsaved() []*entry[M] { return append(s.storing, s.fresh.all()...) }

type (
	loaded[M any] struct { // the queue has been loaded
		confirmed uint64
		messages  []actor.Payload
		err       error
	}
	stored[M any] struct { // the queue has stored something
		confirmed uint64
		err       error
	}
)

func (loaded[M]) command(M) {}
func (stored[M]) command(M) {}

func (p *producer[M]) load() {
	p.storage.busy = true
	queue := p.set.queue
	actor.PipeToSelf(p.ctx, func(ctx context.Context) (l loaded[M], err error) {
		l.confirmed, l.messages, err = queue.Load(ctx)
		return l, err
	}, func(l loaded[M], err error) Command[M] {
		l.err = err
		return l
	})
}

func (p *producer[M]) onLoaded(l loaded[M]) actor.Behavior[Command[M]] {
	if l.err != nil {
		return p.ctx.Fail(fmt.Errorf("delivery: load queue %s: %w", p.stream, l.err))
	}
	s, lane := &p.storage, p.lanes[0]
	s.busy, s.confirmed, s.last = false, l.confirmed, l.confirmed+uint64(len(l.messages))
	lane.confirmed = l.confirmed
	for _, payload := range l.messages {
		v, err := payload.Unpack(p.ctx.System())
		msg, ok := v.(M)
		if err == nil && !ok {
			err = actor.ErrWrongType
		}
		if err != nil {
			return p.ctx.Fail(fmt.Errorf("delivery: load queue %s: %w", p.stream, err))
		}
		lane.push(&entry[M]{msg: msg, payload: payload})
	}
	if lane.aimed {
		lane.aim()
	}
	p.store()
	p.pump()
	return nil
}

// store stores what is fresh, or else how far the consumer has come.
func (p *producer[M]) store() {
	s := &p.storage
	if s.busy || s.fresh.size() == 0 {
		p.storeConfirmed()
		return
	}
	var payloads []actor.Payload
	for s.fresh.size() > 0 && len(payloads) < maxStored {
		e := s.fresh.pop()
		s.storing = append(s.storing, e)
		payloads = append(payloads, e.payload)
	}
	first, queue := s.last+1, p.set.queue
	p.pipe(s.confirmed, func(ctx context.Context) error { return queue.Append(ctx, first, payloads) })
}

func (p *producer[M]) storeConfirmed() {
	s := &p.storage
	if p.set.queue == nil || s.busy || p.lanes[0].confirmed <= s.confirmed {
		return
	}
	upTo, queue := p.lanes[0].confirmed, p.set.queue
	p.pipe(upTo, func(ctx context.Context) error { return queue.Confirm(ctx, upTo) })
}

// pipe lets the queue do something, after which it knows of that many confirmations.
func (p *producer[M]) pipe(confirmed uint64, work func(context.Context) error) {
	p.storage.busy = true
	actor.PipeToSelf(p.ctx, func(ctx context.Context) (stored[M], error) {
		return stored[M]{confirmed: confirmed}, work(ctx)
	}, func(s stored[M], err error) Command[M] {
		s.err = err
		return s
	})
}

func (p *producer[M]) onStored(done stored[M]) actor.Behavior[Command[M]] {
	if done.err != nil {
		return p.ctx.Fail(fmt.Errorf("delivery: store in queue %s: %w", p.stream, done.err))
	}
	s := &p.storage
	s.busy, s.confirmed, s.last = false, done.confirmed, s.last+uint64(len(s.storing))
	for _, e := range s.storing {
		p.backlog.push(e)
	}
	s.storing = nil
	p.store()
	p.pump()
	return nil
}
