package sharding

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// A limiter keeps the number of entities that are awake on a node near a limit: it ends those
// that were used longest ago, and none that starts. Each entity that wakes up begins a round, so
// that the entities know when they were used without a look at the clock.
type limiter struct {
	limit   int
	rounds  extension.Rounds
	awake   atomic.Int64
	running atomic.Bool
	inVain  int         // how often in a row it has left more awake than the limit; only used while running
	waits   atomic.Bool // it looks again later
}

// limitBackoff is after which time a limiter looks again when too many entities were in use.
var limitBackoff = actor.Backoff{Min: time.Second, Max: time.Minute}

// spareShare is the share of the limit that a limiter ends at once beyond what is too many. It has
// to look at all entities, and does so once for as many new ones.
const spareShare = 16

// woken notes that an entity has woken up. It reports whether others should end.
func (l *limiter) woken() (over bool) {
	l.rounds.Begin()
	l.awake.Add(1)
	return l.begin()
}

// begin reports whether entities should end, and nobody sees to it.
func (l *limiter) begin() bool {
	return l.limit > 0 && l.awake.Load() > int64(l.limit) && l.running.CompareAndSwap(false, true)
}

func (l *limiter) gone() { l.awake.Add(-1) }

// A candidate is an entity that a limiter may end.
type candidate struct {
	lane *lane
	of   *resident
	ref  actor.AnyRef
	age  int32 // how many rounds ago it has started or was used
}

// evict lets as many entities rest as are too many. It looks again later: too many may be in use,
// and one that got a message meanwhile does not rest.
func evict(r *region) {
	l := &r.limiter
	defer l.running.Store(false)
	if excess := int(l.awake.Load()) - l.limit; excess > 0 {
		excess -= r.restOldest(excess + l.limit/spareShare)
		if excess <= 0 {
			l.inVain = 0
		}
	}
	if l.waits.CompareAndSwap(false, true) {
		time.AfterFunc(limitBackoff.Delay(l.inVain), func() { evictAgain(r) })
		l.inVain++
	}
}

func evictAgain(r *region) {
	r.limiter.waits.Store(false)
	if r.limiter.begin() {
		r.hub.later(func() { evict(r) })
	}
}

// restOldest lets up to n entities rest, those first that were used longest ago. It returns how
// many.
func (r *region) restOldest(n int) (resting int) {
	now := r.limiter.rounds.Begin()
	var all []candidate
	for _, l := range r.lanes {
		all = l.candidates(all, now)
	}
	slices.SortFunc(all, func(x, y candidate) int { return cmp.Compare(y.age, x.age) })
	for _, c := range all {
		if resting == n {
			break
		}
		if c.lane.rest(c, now) {
			resting++
		}
	}
	return resting
}

// candidates appends the entities of a shard that may end. now is the present round.
func (l *lane) candidates(all []candidate, now uint32) []candidate {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.residents
	if r == nil || r.closing {
		return all
	}
	awake := l.region.now()
	for _, e := range r.all {
		switch {
		case e.ref == nil:
		case r.actors.Starting(e.ref): // it would have to recover again
		case r.actors.Resting(e.ref): // it is about to end, and is one of those that are too many
			all = append(all, candidate{lane: l, of: e, ref: e.ref, age: math.MaxInt32})
		case !r.keptAwake(e, awake):
			all = append(all, candidate{lane: l, of: e, ref: e.ref, age: r.unused(e, now)})
		}
	}
	return all
}

// unused returns how many rounds ago an entity has started or was used. One that was told to rest
// and is still here counts as used then, so that it is the turn of others.
func (r *residents) unused(e *resident, now uint32) int32 {
	used, _ := r.actors.Used(e.ref)
	age := extension.Since(used, now)
	if e.spared != 0 {
		age = min(age, extension.Since(e.spared, now))
	}
	return age
}

// rest lets an entity rest, unless it was used meanwhile.
func (l *lane) rest(c candidate, now uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.residents
	switch {
	case r == nil || r.closing || c.of.ref != c.ref:
		return false
	case r.actors.Resting(c.ref):
		return true
	case r.keptAwake(c.of, l.region.now()) || r.unused(c.of, now) < c.age:
		return false
	}
	c.of.spared = now
	r.rest(c.of)
	r.hooks.asked()
	return true
}
