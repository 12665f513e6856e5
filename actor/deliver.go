package actor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/metadata"
)

func (r refInternals) Deliver(msg any, m metadata.Metadata, done func(err error)) {
	if r.c == nil {
		done(ErrNoRef)
		return
	}
	c, ok := r.c.impl.(*cell)
	if !ok || c.box.takes(msg) != nil {
		done(ErrNoSuchActor)
		return
	}
	copied, err := carried(r.c, msg)
	if err != nil {
		done(err)
		return
	}
	c.post(item{task: &delivered{to: r.c, msg: copied, done: done}}, entrance{parked: true, metadata: m})
}

type delivered struct {
	to   *core
	msg  any
	done func(error)
}

func (d *delivered) run(c *cell) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if r := recover(); r != nil {
			d.fail(c, guard.Recovered(r))
			return
		}
		d.tellAtTheEnd(c, guard.ErrGoexit) // the turn ends the actor
	}()
	err := d.handle(c)
	returned = true
	if err != nil {
		d.fail(c, err)
		return
	}
	d.tell(nil)
}

// Unlike handleMessage it returns the failure instead of failing the actor.
func (d *delivered) handle(c *cell) (failure error) {
	if in := c.inner(); in != nil {
		in.told(d.msg)
	}
	if c.timers.idle != nil {
		c.timers.idle.told(d.msg)
	}
	b := c.box.receive(d.msg)
	if b == nil {
		return nil
	}
	handled := c.box.become(b, func(n *next) bool {
		if failure = n.failure(); failure == nil {
			d.tell(nil) // now, as it may be the end
		}
		return failure == nil // stay, until it is decided what to do about it
	})
	if !handled {
		c.unhandled(d.msg)
	}
	return failure
}

// fail reports whether that ends the actor before its watchers learn of the end.
func (d *delivered) fail(c *cell, err error) {
	deferred, of := c.core.deferred(), c.core.actor()
	last := len(*deferred)
	d.tellAtTheEnd(c, err)
	c.fail(err)
	if d.done == nil {
		return
	}
	if of.phase == running {
		*deferred = slices.Delete(*deferred, last, last+1)
	}
	d.tell(&actorhook.HandlingError{Err: err, Ended: of.phase >= stopping})
}

// The failure may have been reported before.
func (d *delivered) tellAtTheEnd(c *cell, err error) {
	c.core.deferred().add(cleanup{depth: math.MaxInt, run: func() {
		d.tell(&actorhook.HandlingError{Err: err, Ended: c.core.actor().phase >= stopping})
	}})
}

func (d *delivered) tell(err error) {
	done := d.done
	if done == nil {
		return
	}
	d.done = nil
	if panicked := guard.Do(func() { done(err) }); panicked != nil {
		d.to.logOutside("function given to Deliver", panicked)
	}
}

func (d *delivered) delivering() (kind string, msg any) {
	return actorhook.ShortName(d.to.impl.(*cell).messageType()), d.msg
}

func (d *delivered) exempt() bool { return false }

func (d *delivered) undelivered() (any, bool) { return nil, false }

func (d *delivered) abandon(reason error) { d.tell(reason) }

type transport interface {
	Send(s *System, target actorhook.Target, msg any)
}

func (s internals) DispatchAll(path string, uid uint64, msgs []any, sizes []int) {
	c, reason := s.recipient(path, uid)
	if c == nil {
		for _, msg := range msgs {
			s.reportDeadLetter(pathOf(s.System, path, uid), msg, reason)
		}
		return
	}
	for i, msg := range msgs {
		if c.outside {
			c.deliverOutside(msg, arrival(sizes, i))
		} else {
			c.impl.deliver(msg, arrival(sizes, i))
		}
	}
}

func arrival(sizes []int, i int) entrance {
	if sizes == nil {
		return entrance{parked: true}
	}
	return entrance{parked: true, size: int32(sizes[i])} //nolint:gosec // no message is that large
}

func (s *System) deliver(path string, uid uint64, msg any, by entrance) {
	if c, reason := s.recipient(path, uid); c != nil {
		c.impl.deliver(msg, by)
	} else {
		s.reportDeadLetter(pathOf(s, path, uid), msg, reason)
	}
}

func (s internals) StringOf(path string, uid uint64) string {
	if uid == 0 {
		return pathOf(s.System, path, uid)
	}
	return pathOf(s.System, path, uid) + "#" + strconv.FormatUint(uid, 10)
}

func pathOf(s *System, path string, uid uint64) string {
	if path == askPath || path == tempPath {
		path += "/" + strconv.FormatUint(uid, 10)
	}
	return formatPath(s.name, s.address, path)
}

// Unless uid is 0, the actor must have that number.
func (s *System) recipient(path string, uid uint64) (c *core, reason error) {
	switch c = s.lookup(path, uid); {
	case c == nil && (path == askPath || strings.HasPrefix(path, askPath+"/")):
		return nil, ErrLateReply // other nodes know the path of an ask from its request only
	case c == nil && s.asksOver.Load():
		return nil, fmt.Errorf("%w: all actors of %s have ended", ErrUnreachable, cmp.Or(s.address, s.name)) // another node may read it
	case c == nil:
		return nil, noActorAt(s, path)
	case uid != 0 && c.uid != uid && !isRouted(c):
		return nil, ErrStaleRef
	}
	return c, nil
}

func (s internals) Starting(path string) bool {
	c := s.lookup(path, 0)
	if c == nil {
		return false
	}
	return c.flags.has(notStarted)
}

// Only for a core outside of the tree uid matters.
func (s *System) lookup(path string, uid uint64) *core {
	for _, g := range []*guardian{s.user, s.system} {
		if rest, below := strings.CutPrefix(path, g.label); below && strings.HasPrefix(rest, "/") {
			return g.find(rest[1:])
		}
	}
	if c, _ := routedAt(s, path); c != nil {
		return c
	}
	return s.exports.lookup(path, uid)
}
