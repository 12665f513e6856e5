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
	if r, ok := c.impl.(arriver); ok {
		r.arrive(uid, all, by)
		return
	}
	if typed, ok := c.impl.(interface {
		deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher)
	}); ok {
		typed.deliverEncoded(all, by)
		return
	}
	for i := range all {
		c.deliverUnpacked(&all[i], i, by)
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

// deliverEncoded decodes messages into a chunk, and puts all of it into the mailbox at once.
func (b *inbox[M]) deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher) {
	k := b.conf.chunks.get(0)
	d := arrivalDecoder[M]{sys: b.core.sys}
	for i := range all {
		d.use(all[i].Type)
		k.msgs = k.msgs[:len(k.msgs)+1]
		fit, err := d.decode(&all[i], &k.msgs[len(k.msgs)-1])
		if err == nil && fit == nil && all[i].Metadata.IsEmpty() {
			if len(k.msgs) == cap(k.msgs) {
				b.acceptAll(k, all[i+1-len(k.msgs):], by)
			}
			continue
		}
		msg := k.removeLast()
		b.acceptAll(k, all[i-len(k.msgs):], by)
		switch {
		case err != nil:
			by.Undecodable(i, err)
		case fit != nil:
			b.core.sys.deadLetter(&b.core, d.other, fit)
		default:
			b.enqueue(item[M]{msg: msg}, entrance{parked: true, size: len(all[i].Data), metadata: all[i].Metadata})
		}
	}
	b.acceptAll(k, all[len(all)-len(k.msgs):], by)
	b.conf.chunks.put(k)
}

// acceptAll puts the messages of a chunk into the mailbox, and empties the chunk. from are their
// encodings.
func (b *inbox[M]) acceptAll(k *chunk[M], from []actorhook.Arrival, by actorhook.Dispatcher) {
	if !b.acceptPlain(k.msgs, by) {
		for i, msg := range k.msgs {
			b.accept(msg, entrance{parked: true, size: len(from[i].Data)})
		}
	}
	clear(k.msgs)
	k.msgs = k.msgs[:0]
}

// acceptPlain puts messages into a plain mailbox. It returns false for any other.
func (b *inbox[M]) acceptPlain(msgs []M, by actorhook.Dispatcher) bool {
	if len(msgs) == 0 {
		return true
	}
	b.core.mu.Lock()
	if b.core.dead || !b.core.plain {
		b.core.mu.Unlock()
		return false
	}
	for _, m := range msgs {
		b.queue.put(m, &b.conf.chunks)
	}
	wake := !b.core.scheduled && !b.core.suspended
	if wake {
		b.core.scheduled = true
	}
	b.core.mu.Unlock()
	if wake {
		b.core.sys.scheduler.readyFor(&b.core, by)
	}
	return true
}

// An arrivalDecoder decodes messages for one actor. It looks up their type once.
type arrivalDecoder[M any] struct {
	sys   *System
	name  string
	typed codec.Decoder[M]
	ok    bool // all values of that name are an M
	other any  // the last message that is no M
}

// use prepares for messages whose type has that name.
func (d *arrivalDecoder[M]) use(name string) {
	if d.name != name {
		d.name = name
		d.typed, d.ok = codec.DecoderOf[M](name)
	}
}

// decode decodes a message. It fails with err, or with unfit if the message is no M.
func (d *arrivalDecoder[M]) decode(a *actorhook.Arrival, into *M) (unfit, err error) {
	if d.ok {
		if err := d.typed.Decode(a.Data, a.Own, into, binder{d.sys}); err != nil {
			return nil, fmt.Errorf("%w: %w", payload.ErrNotDecodable, err)
		}
		return nil, nil
	}
	msg, err := unpack(d.sys, a)
	if err != nil {
		return nil, err
	}
	m, ok := payload.As[M](msg)
	if !ok {
		d.other = msg
		return wrongType[M](msg), nil
	}
	*into = m
	return nil, nil
}
