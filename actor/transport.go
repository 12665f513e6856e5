package actor

import "strings"

// A Transport carries messages to actors on other nodes. Package remote has one, which can
// also watch them: it has a method
//
//	Watch(s *System, target Target, ended func()) (stop func())
//
// that calls ended, once, when the actor is known to have ended or its node to be gone.
// Without one, [Context.Watch] panics for actors on other nodes. It may have further methods:
// MaxMessage() int says what [System.MaxMessage] returns; CheckSize(of string, bytes int) error
// what [System.CheckSize] does; FirstUID() uint64, unless it is 0, from which number the actors of
// the system count: no process before it at the address may have had those.
type Transport interface {
	// Send hands msg over for the actor at target, on behalf of s. It encodes msg before
	// it returns, never blocks and never fails: what cannot be sent is given to
	// s.DeadLetter.
	Send(s *System, target Target, msg any)
}

// A Target is the address of an actor on another node.
type Target struct {
	Address string // host:port of its node
	Path    string // within the system: "/user/name"
	UID     uint64 // 0 means whoever lives at Path
	Full    string // for people, and for dead letters
}

// MaxMessage returns how many bytes a message to another node may have, with all that goes
// with it; 0 when there is no other node, or no limit is known. It is for extensions that
// can do something about what is larger.
func (s *System) MaxMessage() int {
	if t, ok := s.transport.(interface{ MaxMessage() int }); ok {
		return t.MaxMessage()
	}
	return 0
}

// CheckSize returns why a message of so many bytes, with all that goes with it, cannot be sent
// to another node; nil when it can, or no limit is known. What it is of is for the text. It is
// for extensions that carry messages of the user's, and send them again until they arrive.
func (s *System) CheckSize(of string, bytes int) error {
	if t, ok := s.transport.(interface {
		CheckSize(of string, bytes int) error
	}); ok {
		return t.CheckSize(of, bytes)
	}
	return nil
}

// Deliver tells msg, which came from another node, to the actor at path. When uid is
// not 0 it must be that actor's. What cannot be delivered is a dead letter. It does not wait
// in a mailbox that blocks: that keeps up to 10,000 such messages, and 16 MiB of them, beyond
// its bound, in order, for as long as [Mailbox.Block] says. What is beyond that, or has waited
// for too long, is a dead letter with [ErrMailboxFull].
func (s *System) Deliver(path string, uid uint64, msg any) {
	s.DeliverAll(path, uid, []any{msg}, nil)
}

// DeliverAll is [System.Deliver] for many messages, in their order. It takes less time than
// one after the other, and wakes the actor once. sizes are how many bytes each had when it
// came; nil is unknown. It keeps neither slice.
func (s *System) DeliverAll(path string, uid uint64, msgs []any, sizes []int) {
	c, reason := s.recipient(path, uid)
	if c == nil {
		for _, msg := range msgs {
			s.DeadLetter(formatPath(s.name, s.address, path), msg, reason)
		}
		return
	}
	if c.outside {
		c.deliverOutside(msgs, sizes)
		return
	}
	if many, ok := c.impl.(interface{ deliverAll(msgs []any, sizes []int) }); ok {
		many.deliverAll(msgs, sizes)
		return
	}
	for i, msg := range msgs {
		c.impl.deliver(msg, arrival(sizes, i))
	}
}

// arrival is how one of many messages comes from another node.
func arrival(sizes []int, i int) entrance {
	if sizes == nil {
		return entrance{parked: true}
	}
	return entrance{parked: true, size: sizes[i]}
}

// deliver tells msg, which was told here, to the actor at path.
func (s *System) deliver(path string, uid uint64, msg any, by entrance) {
	if c, reason := s.recipient(path, uid); c != nil {
		c.impl.deliver(msg, by)
	} else {
		s.DeadLetter(formatPath(s.name, s.address, path), msg, reason)
	}
}

// recipient returns the actor at path, whose number is uid unless that is 0, or why there is
// none.
func (s *System) recipient(path string, uid uint64) (c *core, reason error) {
	switch c = s.lookup(path); {
	case c == nil:
		return nil, ErrNoSuchActor
	case uid != 0 && c.uid != uid:
		return nil, ErrStaleRef
	}
	return c, nil
}

// Starting reports whether the actor at path has been spawned, and its behavior has not
// run yet. It is for extensions that must not overlook an actor which will make itself
// known to them.
func (s *System) Starting(path string) bool {
	c := s.lookup(path)
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unborn
}

// lookup returns what lives at a path of this system.
func (s *System) lookup(path string) *core {
	if strings.HasPrefix(path, tempPrefix) {
		return s.exports.find(path)
	}
	for _, g := range []*guardian{s.user, s.system} {
		if rest, below := strings.CutPrefix(path, g.label); below && strings.HasPrefix(rest, "/") {
			return g.find(rest[1:])
		}
	}
	return nil
}
