package actor

import (
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/internal/actorhook"
)

type transport interface {
	Send(s *System, target actorhook.Target, msg any)
}

func (s internals) DispatchAll(path string, uid uint64, msgs []any, sizes []int) {
	c, reason := s.recipient(path, uid)
	if c == nil {
		for _, msg := range msgs {
			s.reportDeadLetter(s.pathOf(path, uid), msg, reason)
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
		s.reportDeadLetter(internals{s}.pathOf(path, uid), msg, reason)
	}
}

func (s internals) StringOf(path string, uid uint64) string {
	if uid == 0 {
		return s.pathOf(path, uid)
	}
	return s.pathOf(path, uid) + "#" + strconv.FormatUint(uid, 10)
}

func (s internals) pathOf(path string, uid uint64) string {
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
		return nil, errShutDown // all actors have ended
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
