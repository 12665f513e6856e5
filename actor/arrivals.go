package actor

import (
	"fmt"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/payload"
)

// DispatchEncoded retains nothing of all, unless a message is its own.
func (s internals) DispatchEncoded(path string, uid uint64, all []actorhook.Arrival, by actorhook.Dispatcher) {
	c, reason := s.recipient(path, uid)
	if c == nil {
		for i := range all {
			if msg, err := unpack(s.System, &all[i]); err != nil {
				by.Undecodable(i, err)
			} else {
				s.reportDeadLetter(pathOf(s.System, path, uid), msg, reason)
			}
		}
		return
	}
	switch to := c.impl.(type) {
	case *routed:
		to.arrive(uid, all, by)
	case interface { // an actor, or an ask
		deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher)
	}:
		to.deliverEncoded(all, by)
	default:
		for i := range all {
			c.deliverUnpacked(&all[i], i, by)
		}
	}
}

func (c *core) deliverUnpacked(a *actorhook.Arrival, i int, by actorhook.Dispatcher) {
	msg, err := unpack(c.sys, a)
	at := entrance{parked: true, size: int32(len(a.Data)), metadata: a.Metadata}
	switch {
	case err != nil:
		by.Undecodable(i, err)
	case c.outside:
		c.deliverOutside(msg, at)
	default:
		c.impl.deliver(msg, at)
	}
}

func unpack(s *System, a *actorhook.Arrival) (any, error) {
	p := payload.Payload{Type: a.Type, Data: a.Data}
	if a.Own {
		return payload.UnpackOwned(p, binder{s})
	}
	return payload.Unpack(p, binder{s})
}

func (b *inbox) deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher) {
	if !b.core.outside {
		b.box.deliverEncoded(all, by)
		return
	}
	for i := range all { // an inner cell has no mailbox
		b.core.deliverUnpacked(&all[i], i, by)
	}
}

// Each message is decoded in its place of a chunk, so that none is copied.
func (x *box[M]) deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher) {
	k := newChunk[M](0, &x.queue.of.unused)
	msg := k.msgs[:1]
	var name string
	var decoder codec.Decoder[M]
	var fits bool // all values of that name are an M
	for i := range all {
		a := &all[i]
		if a.Type != name {
			name = a.Type
			decoder, fits = codec.DecoderOf[M](name)
		}
		if !fits || a.Metadata.HasValues() {
			x.cell.core.deliverUnpacked(a, i, by)
			continue
		}
		if err := decoder.Decode(a.Data, a.Own, &msg[0], binder{x.cell.core.sys}); err != nil {
			by.Undecodable(i, fmt.Errorf("%w: %w", payload.ErrNotDecodable, err))
		} else {
			accept(x, msg[0], entrance{parked: true, size: int32(len(a.Data)), metadata: a.Metadata})
		}
		clear(msg)
	}
	x.queue.of.unused[k.class].Put(k)
}
