package sharding

import (
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
)

// A limiter keeps the number of entities that are awake on a node near a limit. Like the clock
// algorithm for pages of memory (Corbató 1968), it goes round all entities, and ends those that
// have not been used since it came by the last time.
type limiter struct {
	limit   int
	awake   atomic.Int64
	running atomic.Bool
	at      int // the shard where it goes on; only used while running
}

// woken notes that an entity has woken up. It reports whether others should end.
func (l *limiter) woken() (over bool) {
	n := l.awake.Add(1)
	return l.limit > 0 && n > int64(l.limit) && l.running.CompareAndSwap(false, true)
}

func (l *limiter) gone() { l.awake.Add(-1) }

// evict ends as many entities as are too many, unless all have been used.
func (r *Region[M]) evict() {
	l := &r.limiter
	defer l.running.Store(false)
	excess := int(l.awake.Load()) - l.limit
	for range 2 * len(r.lanes) {
		if excess <= 0 {
			return
		}
		l.at = (l.at + 1) % len(r.lanes)
		excess -= r.lanes[l.at].evict(excess)
	}
}

// evict ends up to n entities that have not been used since the last call. It returns how many.
func (l *lane[M]) evict(n int) (ended int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.residents
	if r == nil || r.closing {
		return 0
	}
	now := l.region.now()
	for _, e := range r.all {
		if ended == n {
			break
		}
		switch {
		case e.ref == (actor.ActorRef[M]{}):
		case r.actors.Used(e.ref):
			e.worked = true
		case now < e.until:
		default:
			r.actors.Rest(e.ref)
			ended++
		}
	}
	return ended
}
