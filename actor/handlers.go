package actor

import "time"

// A runnerList holds blocked runners, those first that have been inside the same handler for
// longest. The zero value is empty. The mutex of the scheduler guards it and its runners' links.
type runnerList struct {
	first, last *runner
	size        int
}

func (l *runnerList) add(r *runner) {
	r.in, r.before, r.after = l, l.last, nil
	if l.last == nil {
		l.first = r
	} else {
		l.last.after = r
	}
	l.last = r
	l.size++
}

// remove takes r out of its list.
func (r *runner) remove() {
	l := r.in
	if r.before == nil {
		l.first = r.after
	} else {
		r.before.after = r.after
	}
	if r.after == nil {
		l.last = r.before
	} else {
		r.after.before = r.before
	}
	l.size--
	r.in, r.before, r.after = nil, nil, nil
}

// blockedRunners are the runners that do not count. Each is in one of two lists, so that neither
// blocking nor the number of those that are slow takes longer the more there are. The mutex of the
// scheduler guards all.
type blockedRunners struct {
	recent runnerList
	slow   runnerList // for slowAfter or longer, as of the last look
}

// slowAfter is how long a handler is under way until it is slow.
const slowAfter = time.Second

func (b *blockedRunners) size() int { return b.recent.size + b.slow.size }

// add notes that r is blocked now. Its handler is under way at least since then, or since somebody
// has looked at it.
func (b *blockedRunners) add(r *runner) {
	now := time.Since(epoch)
	if r.since == 0 {
		r.since = now
	}
	if now-r.since < slowAfter {
		b.recent.add(r)
	} else {
		b.slow.add(r)
	}
}

// again notes that r, which is blocked, begins another handler.
func (b *blockedRunners) again(r *runner) {
	r.remove()
	r.since = 0
	b.add(r)
}

// lookAtOnce is how many runners are moved while the mutex of the scheduler is held.
const lookAtOnce = 1000

// age moves up to lookAtOnce runners that have become slow, and reports whether there may be more.
func (b *blockedRunners) age(now time.Duration) (more bool) {
	for range lookAtOnce {
		r := b.recent.first
		if r == nil || now-r.since < slowAfter {
			return false
		}
		r.remove()
		b.slow.add(r)
	}
	return true
}

// movedOn notes that r, whose handler somebody has found under way, begins another one.
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
