package actor

import (
	"cmp"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
)

const mostHandlers = 20

func (s internals) Activity() actorhook.Activity {
	seen, found := lookAt(&s.scheduler, time.Since(epoch))
	for _, h := range found {
		of := h.of.impl.(*cell) // only cells have turns
		seen.Handlers = append(seen.Handlers, actorhook.Handler{
			Path: h.of.path(), Kind: of.tally.counts.of.name, Message: actorhook.ShortName(of.messageType()), For: h.took, Blocked: h.blocked,
		})
	}
	if len(found) > 0 {
		seen.Slowest = found[0].took
	}
	return seen
}

type underway struct {
	of      *core
	took    time.Duration // at least
	blocked bool
}

// The time of a handler that is under way counts from when it was found to block, or from the first
// look: no clock is read when a handler begins. Each look therefore asks the turns to say when they
// have moved on, see [movedOn].
func lookAt(s *scheduler, now time.Duration) (seen actorhook.Activity, slowest []underway) {
	s.mu.Lock()
	for s.blocked.age(now) {
		s.mu.Unlock() // let the runners go on
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	seen.Runners, seen.Blocked, seen.Slow = s.busy+s.blocked.size(), s.blocked.size(), s.blocked.slow.size
	seen.Ready = s.waiting.size() + s.locals.size()
	for _, r := range s.runners.all {
		h, ready := r.sight(now)
		seen.Ready += ready
		if h.of == nil {
			continue
		}
		if h.took >= slowAfter {
			seen.Slow++
		}
		slowest = append(slowest, h)
	}
	slowest = sightFirst(slowest, &s.blocked.slow, now)
	slowest = sightFirst(slowest, &s.blocked.recent, now)
	slices.SortStableFunc(slowest, func(a, b underway) int { return cmp.Compare(b.took, a.took) })
	return seen, slowest[:min(len(slowest), mostHandlers)]
}

// The mutex of the scheduler is held.
func (r *runner) sight(now time.Duration) (h underway, ready int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		return h, len(r.batch)
	}
	if r.since == 0 {
		r.since = now
		r.at.impl.(*cell).setUrgent()
	}
	return underway{r.at, max(now-r.since, 0), r.blocked}, len(r.batch)
}

// The mutex of the scheduler is held.
func sightFirst(to []underway, of *linkedList[runner], now time.Duration) []underway {
	n := 0
	for r := range of.all {
		if n++; n > mostHandlers {
			break
		}
		h, _ := r.sight(now)
		to = append(to, h)
	}
	return to
}

// blockedRunners are the runners that do not count. Each is in one of two lists, those first that
// have been inside the same handler for longest, so that neither
// blocking nor the number of those that are slow takes longer the more there are. The mutex of the
// scheduler guards all.
type blockedRunners struct {
	recent linkedList[runner]
	slow   linkedList[runner] // for slowAfter or longer, as of the last look
}

// slowAfter is how long a handler is under way until it is slow.
const slowAfter = time.Second

func (b *blockedRunners) size() int { return b.recent.size + b.slow.size }

// Its handler is under way at least since then, or since the first look at it.
func (b *blockedRunners) add(r *runner) {
	now := time.Since(epoch)
	if r.since == 0 {
		r.since = now
	}
	if now-r.since < slowAfter {
		b.recent.add(&r.blockedAt, r)
	} else {
		b.slow.add(&r.blockedAt, r)
	}
}

func (b *blockedRunners) again(r *runner) {
	r.blockedAt.remove()
	r.since = 0
	b.add(r)
}

const lookAtOnce = 1000

func (b *blockedRunners) age(now time.Duration) (more bool) {
	for range lookAtOnce {
		first := b.recent.first
		if first == nil || now-first.value.since < slowAfter {
			return false
		}
		r := first.value
		r.blockedAt.remove()
		b.slow.add(&r.blockedAt, r)
	}
	return true
}

func (s *scheduler) handles(r *metadata.Request) bool {
	has := func(of *runner) bool { return of.request.Load() == r }
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.runners.all, has) {
		return true
	}
	for _, l := range []*linkedList[runner]{&s.blocked.recent, &s.blocked.slow} {
		for of := range l.all {
			if has(of) {
				return true
			}
		}
	}
	return false
}

func movedOn(s *scheduler, r *runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blocked {
		s.blocked.again(r)
	} else {
		r.since = 0
	}
}
