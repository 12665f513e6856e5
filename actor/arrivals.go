package actor

import (
	"fmt"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/payload"
)

// DispatchEncoded retains nothing of all, unless a message is its own.
func (s internals) DispatchEncoded(path string, uid uint64, all []actorhook.Arrival, by actorhook.Dispatcher) {
	taken := s.straight.arrive(path, uid, all, by)
	if taken == len(all) {
		return
	}
	c, reason := s.recipient(path, uid)
	if c == nil {
		for i := taken; i < len(all); i++ {
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
		to.arrive(uid, all, taken, by)
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
		b.box.deliverEncoded(all, by, anyhow)
		return
	}
	for i := range all { // an inner cell has no mailbox
		b.core.deliverUnpacked(&all[i], i, by)
	}
}

// How messages enter a mailbox.
type entry uint8

const (
	anyhow  entry = iota
	plainly       // while it is plain
	instead       // while it is plain, and the parent is bypassed
)

// Each message is decoded in its place of a chunk, so that none is copied. It ends before the first
// message that cannot enter as it should. It returns how many it has delivered.
func (x *box[M]) deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher, how entry) (taken int) {
	if how != anyhow && !mayBePlain(&x.cell.inbox) {
		return 0
	}
	k := newChunk[M](0, &x.queue.of.unused)
	msg := k.msgs[:1]
	var name string
	var decoder codec.Decoder[M]
	var fits bool // all values of that name are an M
	for ; taken < len(all); taken++ {
		a := &all[taken]
		if a.Type != name {
			name = a.Type
			decoder, fits = codec.DecoderOf[M](name)
		}
		if !fits || a.Metadata.HasValues() {
			if how != anyhow {
				break
			}
			x.cell.core.deliverUnpacked(a, taken, by)
			continue
		}
		if err := decoder.Decode(a.Data, a.Own, &msg[0], binder{x.cell.core.sys}); err != nil {
			by.Undecodable(taken, fmt.Errorf("%w: %w", payload.ErrNotDecodable, err))
		} else if how == anyhow {
			accept(x, msg[0], entrance{parked: true, size: int32(len(a.Data)), metadata: a.Metadata})
		} else if !tryPut(&x.cell.core, &x.queue, msg[0], a.Metadata.Request(), how == instead) {
			break
		}
		clear(msg)
	}
	clear(msg)
	x.queue.of.unused[k.class].Put(k)
	return taken
}
