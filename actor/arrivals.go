package actor

import (
	"fmt"
	"weak"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/payload"
)

// recipients finds the actors for the messages of one connection, which arrive one after the other.
// It remembers actors, since finding one by its path takes longer than delivering a small message.
type recipients struct {
	of    internals
	known map[string]weak.Pointer[core] // by path; some may have ended
}

// They bound the memory of one connection.
const maxRecipients = 4096

// Arrivals returns a function that delivers messages of one connection. It retains nothing of all,
// unless a message is its own.
func (s internals) Arrivals() func(path string, uid uint64, all []actorhook.Arrival, by actorhook.Dispatcher) {
	return (&recipients{s, map[string]weak.Pointer[core]{}}).dispatch
}

func (r *recipients) dispatch(path string, uid uint64, all []actorhook.Arrival, by actorhook.Dispatcher) {
	// An actor that has ended takes no message plainly, so one that does is still at its path.
	if c := r.known[path].Value(); c != nil && (uid == 0 || c.uid == uid) {
		taken := c.impl.(*cell).box.deliverEncoded(all, by, plainly)
		if taken == len(all) {
			return
		}
		all, by = all[taken:], laterDispatcher{by, taken}
	}
	taken := r.of.straight.arrive(path, uid, all, by)
	if taken == len(all) {
		return
	}
	c, reason := r.of.recipient(path, uid)
	if c == nil {
		r.lose(path, uid, all, taken, by, reason)
		return
	}
	switch to := c.impl.(type) {
	case *routed:
		to.arrive(uid, all, taken, by)
	case interface { // an actor, or an ask
		deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher)
	}:
		to.deliverEncoded(all, by)
		r.remember(path, c)
	default:
		for i := range all {
			c.deliverUnpacked(&all[i], i, by)
		}
	}
}

func (r *recipients) lose(path string, uid uint64, all []actorhook.Arrival, taken int, by actorhook.Dispatcher, reason error) {
	for i := taken; i < len(all); i++ {
		if msg, err := unpack(r.of.System, &all[i]); err != nil {
			by.Undecodable(i, err)
		} else {
			r.of.reportDeadLetter(pathOf(r.of.System, path, uid), msg, reason)
		}
	}
}

// If there are too many, it forgets any one, for the same reason as an EnvelopeReader.
func (r *recipients) remember(path string, c *core) {
	if !c.ofCell() {
		return
	}
	if len(r.known) == maxRecipients {
		for one := range r.known {
			delete(r.known, one)
			break
		}
	}
	r.known[path] = weak.Make(c)
}

// The messages of a laterDispatcher come after so many others.
type laterDispatcher struct {
	actorhook.Dispatcher
	before int
}

func (d laterDispatcher) Undecodable(i int, err error) { d.Dispatcher.Undecodable(d.before+i, err) }

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
