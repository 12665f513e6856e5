package actor

import (
	"fmt"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/payload"
)

// DispatchEncoded delivers encoded messages from another node, in order, like
// extension.DispatchAll, for by. It retains nothing, unless a message is its own.
func (s internals) DispatchEncoded(path string, uid uint64, all []actorhook.Arrival, by actorhook.Dispatcher) {
	c, reason := s.recipient(path, uid)
	if c == nil {
		for i := range all {
			if msg, err := unpack(s.System, &all[i]); err != nil {
				by.Undecodable(i, err)
			} else {
				s.reportDeadLetter(s.pathOf(path, uid), msg, reason)
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

// deliverUnpacked decodes a message from another node without knowing the type of messages.
func (c *core) deliverUnpacked(a *actorhook.Arrival, i int, by actorhook.Dispatcher) {
	msg, err := unpack(c.sys, a)
	at := entrance{parked: true, size: len(a.Data), metadata: a.Metadata}
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

// deliverEncoded decodes messages for the actor.
func (b *inbox) deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher) {
	if !b.core.outside {
		b.box.deliverEncoded(all, by)
		return
	}
	for i := range all { // an inner cell has no mailbox
		b.core.deliverUnpacked(&all[i], i, by)
	}
}

// deliverEncoded decodes messages into a chunk, and puts all of it into the mailbox at once.
func (x *box[M]) deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher) {
	sys, k := x.cell.core.sys, newChunk[M](0, &x.queue.of.unused)
	var name string
	var decoder codec.Decoder[M]
	var fits bool // all values of that name are an M
	for i := range all {
		a := &all[i]
		if a.Type != name {
			name = a.Type
			decoder, fits = codec.DecoderOf[M](name)
		}
		if !fits || !a.Metadata.IsEmpty() {
			acceptAll(x, k, all[i-len(k.msgs):], by)
			x.cell.core.deliverUnpacked(a, i, by)
			continue
		}
		k.msgs = k.msgs[:len(k.msgs)+1]
		if err := decoder.Decode(a.Data, a.Own, &k.msgs[len(k.msgs)-1], binder{sys}); err != nil {
			last := len(k.msgs) - 1
			clear(k.msgs[last:])
			k.msgs = k.msgs[:last]
			acceptAll(x, k, all[i-last:], by)
			by.Undecodable(i, fmt.Errorf("%w: %w", payload.ErrNotDecodable, err))
		} else if len(k.msgs) == cap(k.msgs) {
			acceptAll(x, k, all[i+1-len(k.msgs):], by)
		}
	}
	acceptAll(x, k, all[len(all)-len(k.msgs):], by)
	x.queue.of.unused[k.class].Put(k)
}

// acceptAll puts the messages of a chunk into the mailbox, and empties the chunk. from are their
// encodings.
func acceptAll[M any](x *box[M], k *chunk[M], from []actorhook.Arrival, by actorhook.Dispatcher) {
	if len(k.msgs) == 0 {
		return
	}
	c := &x.cell.core
	c.mu.Lock()
	plain := c.plain
	if plain {
		for _, msg := range k.msgs {
			put(c, &x.queue, msg)
		}
	}
	wake := plain && !c.scheduled && !c.suspended
	if wake {
		c.scheduled = true
	}
	c.mu.Unlock()
	if wake {
		c.sys.scheduler.readyFor(c, by)
	}
	if !plain {
		for i, msg := range k.msgs {
			accept(x, msg, entrance{parked: true, size: len(from[i].Data)})
		}
	}
	clear(k.msgs)
	k.msgs = k.msgs[:0]
}
