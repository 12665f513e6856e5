package sharding

import (
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// A limiter keeps the number of entities that are awake on a node near a limit. Like the clock
// algorithm for pages of memory (Corbató 1968), it goes round all entities, and ends those that
// have not been used since it came by the last time. While too many are in use, it comes by again.
type limiter struct {
	limit   int
	awake   atomic.Int64
	running atomic.Bool
	at      int         // the shard where it goes on; only used while running, as inVain is
	inVain  int         // how often in a row it has left more awake than the limit
	waits   atomic.Bool // it goes round again later
}

// limitBackoff is after which time a limiter goes round again when too many entities were in use.
var limitBackoff = actor.Backoff{Min: time.Second, Max: time.Minute}

// woken notes that an entity has woken up. It reports whether others should end.
func (l *limiter) woken() (over bool) {
	l.awake.Add(1)
	return l.begin()
}

// begin reports whether entities should end, and nobody sees to it.
func (l *limiter) begin() bool {
	return l.limit > 0 && l.awake.Load() > int64(l.limit) && l.running.CompareAndSwap(false, true)
}

func (l *limiter) gone() { l.awake.Add(-1) }

// evict lets as many entities rest as are too many. It looks again later: too many may be in use,
// and one that got a message meanwhile does not rest.
func evict[M any](r *Region[M]) {
	l := &r.limiter
	defer l.running.Store(false)
	excess := int(l.awake.Load()) - l.limit
	for range 2 * len(r.lanes) {
		if excess <= 0 {
			break
		}
		l.at = (l.at + 1) % len(r.lanes)
		excess -= r.lanes[l.at].evict(excess)
	}
	if excess <= 0 {
		l.inVain = 0
	}
	if l.waits.CompareAndSwap(false, true) {
		time.AfterFunc(limitBackoff.Delay(l.inVain), func() { evictAgain(r) })
		l.inVain++
	}
}

func evictAgain[M any](r *Region[M]) {
	r.limiter.waits.Store(false)
	if r.limiter.begin() {
		r.hub.later(func() { evict(r) })
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
			e.handled()
		case now < e.until:
		default:
			r.rest(e)
			ended++
		}
	}
	if ended > 0 {
		r.hooks.asked()
	}
	return ended
}
