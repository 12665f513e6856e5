package actor

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/metadata"
)

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
