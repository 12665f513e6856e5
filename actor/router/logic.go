package router

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
)

type logic[M any] interface {
	// The order of the routees is stable.
	change(routees []actor.ActorRef[M])
	// There is at least one routee.
	route(d extension.Described[M])
}

// route calls functions of options. If one of them panics, msg becomes a dead letter with that
// reason, and the router continues.
func orDrop[M any](ctx *actor.Context[M], counted *share, msg M, route func()) {
	if err := guard.Do(route); err != nil {
		counted.dropped.Add(1)
		extension.DeadLetter(ctx.System(), ctx.Self().String(), msg, fmt.Errorf("router: a function of an option: %w", err))
	}
}

type roundRobin[M any] struct {
	routees []actor.ActorRef[M]
	next    int
}

func (r *roundRobin[M]) change(routees []actor.ActorRef[M]) { r.routees = routees }

func (r *roundRobin[M]) route(d extension.Described[M]) {
	if r.next >= len(r.routees) {
		r.next = 0
	}
	to := r.routees[r.next]
	r.next++
	d.To(to)
}

type random[M any] struct{ routees []actor.ActorRef[M] }

func (r *random[M]) change(routees []actor.ActorRef[M]) { r.routees = routees }

func (r *random[M]) route(d extension.Described[M]) {
	d.To(r.routees[rand.IntN(len(r.routees))]) //nolint:gosec // need not be secret
}

type hashing[M any] struct {
	key  func(M) string
	ring ring[M]
}

func (h *hashing[M]) change(routees []actor.ActorRef[M]) { h.ring = newRing(routees) }

func (h *hashing[M]) route(d extension.Described[M]) { d.To(h.ring.of(h.key(d.Message))) }

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

// virtualNodes is the number of points of each routee on the ring. With so many the shares are
// similar: the largest of ten is about 1.2 times the mean.
const virtualNodes = 128

// A ring is a circle of numbers on which each key belongs to the next point of a routee. It depends
// only on the paths of routees, so equal sets of routees make equal rings on all nodes.
type ring[M any] []place[M]

type place[M any] struct {
	at     uint64
	routee actor.ActorRef[M]
}

func newRing[M any](routees []actor.ActorRef[M]) ring[M] {
	r := make(ring[M], 0, virtualNodes*len(routees))
	for _, routee := range routees {
		path := routee.Path()
		for i := range virtualNodes {
			r = append(r, place[M]{hash(path + "#" + strconv.Itoa(i)), routee})
		}
	}
	slices.SortFunc(r, func(a, b place[M]) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.routee.Path(), b.routee.Path()))
	})
	return r
}

// The ring must not be empty.
func (r ring[M]) of(key string) actor.ActorRef[M] {
	i, _ := slices.BinarySearchFunc(r, hash(key), func(p place[M], at uint64) int { return cmp.Compare(p.at, at) })
	return r[i%len(r)].routee
}

// hash is the same in every process. FNV alone puts similar keys side by side, so its bits are
// mixed.
func hash(key string) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(key)) // never fails
	x := sum.Sum64()
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
