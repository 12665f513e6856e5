package router

import (
	"errors"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// smallest counts the unhandled messages of its routees, since it learns the outcome of each.
type smallest[M any] struct {
	system *actor.System
	loads  []*load[M]
	next   int // where to begin to look, so that among equals each has its turn
}

type load[M any] struct {
	routee actor.ActorRef[M]
	left   atomic.Int64
}

func (s *smallest[M]) change(routees []actor.ActorRef[M]) {
	known := map[actor.ActorRef[M]]*load[M]{}
	for _, l := range s.loads {
		known[l.routee] = l
	}
	s.loads = nil
	for _, r := range routees {
		l := known[r]
		if l == nil {
			l = &load[M]{routee: r}
		}
		s.loads = append(s.loads, l)
	}
}

func (s *smallest[M]) route(d extension.Described[M]) { s.tell(s.least(), d) }

func (s *smallest[M]) tellAll(d extension.Described[M]) {
	for _, l := range s.loads {
		s.tell(l, d)
	}
}

func (s *smallest[M]) tell(l *load[M], d extension.Described[M]) {
	l.left.Add(1)
	extension.DeliverWith(l.routee, d.Message, d.Metadata, func(err error) {
		l.left.Add(-1)
		var failed *extension.HandlingError
		if err != nil && !errors.As(err, &failed) {
			extension.DeadLetter(s.system, l.routee.String(), d.Message, err)
		}
	})
}

func (s *smallest[M]) least() *load[M] {
	s.next++
	var best *load[M]
	var fewest int64
	for i := range s.loads {
		l := s.loads[(s.next+i)%len(s.loads)]
		left := l.left.Load()
		if left == 0 {
			return l
		}
		if best == nil || left < fewest {
			best, fewest = l, left
		}
	}
	return best
}
