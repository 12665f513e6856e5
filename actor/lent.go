package actor

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// A runner may be lent: a goroutine that has read messages from another node runs the actor that
// they have woken, instead of starting a goroutine for it. That saves waking a thread, which takes
// longer than most handlers. If the turn blocks or takes long, the goroutine is replaced: another
// one continues to read, and the runner keeps the first.
type lent struct {
	run     actorhook.Lent // created once
	replace func()         // of the goroutine that runs a turn; nil unless one does; guarded by the mutex of the scheduler
	seen    bool           // a check has seen it in this turn; likewise
}

const (
	// lentInterval is the time between two looks at lent runners. A goroutine that has lent itself
	// for a turn that blocks without announcing it is replaced after at most two.
	lentInterval = time.Millisecond
	// longLent is the length of a lent turn after which no runner is lent for lentPause.
	longLent  = 100 * time.Microsecond
	lentPause = 10 * time.Millisecond
)

// lending says whether runners are lent. The mutex of the scheduler guards all.
type lending struct {
	watch *time.Timer
	armed bool          // it will look
	used  bool          // a runner has been lent since the last look
	again time.Duration // since epoch: none is lent before
}

// readyFor is ready for messages that by has read: it may run the actor itself.
func (s *scheduler) readyFor(c *core, by actorhook.Dispatcher) {
	if s.locals.add(c) {
		return
	}
	s.mu.Lock()
	s.push(c)
	r := s.reinforce()
	lends := r != nil && !s.virtual && s.overcommit == 0 && time.Since(epoch) > s.lending.again
	s.mu.Unlock()
	if r == nil || lends && by.Lend(r.lent.run) {
		return
	}
	go r.main()
}

// runLent runs a turn of the actor for which r was engaged. If it returns true, the calling
// goroutine has been replaced.
func (s *scheduler) runLent(r *runner, replace func()) (replaced bool) {
	s.mu.Lock()
	s.spinning--
	if !s.workLeft() { // another runner has taken it
		s.dismiss(r)
		s.mu.Unlock()
		return false
	}
	r.lent.replace, r.lent.seen = replace, false
	s.watchLent()
	c, begun := s.begin(r), time.Since(epoch)
	r.labelled = nil // the goroutine is another one than before
	var again *core
	if c.impl.(*cell).turn(s, r) { // only cells get ready
		again = c
	}
	return s.endLent(r, again, begun)
}

// endLent ends r after a turn, or starts a goroutine for what it has left to do.
func (s *scheduler) endLent(r *runner, again *core, begun time.Duration) (replaced bool) {
	s.mu.Lock()
	replaced = r.lent.replace == nil
	r.lent.replace = nil
	if !replaced {
		s.labels.give(r, nil)
	}
	if now := time.Since(epoch); now-begun > longLent {
		s.lending.again = now + lentPause
	}
	done := !replaced && again == nil && len(r.batch) == 0 && s.waiting.size() == 0
	if done {
		s.returned(r)
		s.dismiss(r)
	}
	s.mu.Unlock()
	switch {
	case replaced:
		s.workOn(r, again)
	case !done:
		go s.workOn(r, again)
	}
	return replaced
}

// replaceLent replaces the goroutine of r, if that is lent.
func (r *runner) replaceLent() {
	if r.lent.replace != nil {
		r.lent.replace()
		r.lent.replace = nil
	}
}

// watchLent makes sure that lent runners are looked at.
func (s *scheduler) watchLent() {
	l := &s.lending
	l.used = true
	if l.armed {
		return
	}
	l.armed = true
	if l.watch == nil {
		l.watch = time.AfterFunc(lentInterval, s.checkLent)
	} else {
		l.watch.Reset(lentInterval)
	}
}

// checkLent replaces the goroutines of runners that have been lent since the check before. It
// schedules the next check only while runners are lent.
func (s *scheduler) checkLent() {
	s.mu.Lock()
	s.lending.armed = false
	used := s.lending.used
	for _, r := range slices.Backward(s.runners.all) { // marking removes it
		switch {
		case r.lent.replace == nil:
		case r.lent.seen:
			r.mu.Lock()
			r.at.impl.(*cell).setUrgent() // so that its turn ends, if it only takes long
			s.markBlocked(r)
			r.mu.Unlock()
		default:
			r.lent.seen = true
			used = true
		}
	}
	if used {
		s.watchLent()
		s.lending.used = false
	}
	more := s.reinforce()
	s.mu.Unlock()
	if more != nil {
		go more.main()
	}
}
