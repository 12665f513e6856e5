package actor

import (
	"slices"
	"time"
)

// lending lets a goroutine that has read a message from another node run the actor that the message
// wakes. To start a goroutine for that wakes a thread, which takes longer than most handlers: it is
// a quarter of a lone remote ask (peerbench remote-ask-1). If the turn blocks or takes long,
// another goroutine goes on with reading, and this one remains with the actor.
//
// The mutex of the scheduler guards all.
type lending struct {
	check *time.Timer
	armed bool
	used  bool          // since the last check
	brief bool          // a lent goroutine delivers a message, and then runs what waits
	again time.Duration // since epoch: nothing is lent before; 0 after a short turn
	pause time.Duration // after the next long turn
}

// A lent goroutine has something else to do. The mutex of the scheduler guards all.
type lent struct {
	goOn func() // does that in another goroutine; nil if r has a goroutine of its own
	seen bool   // by a check, since the delivery or the turn began
}

const (
	// A goroutine whose handler blocks without announcing it is replaced after at most two checks.
	// An actor that another goroutine makes ready waits that long, too, if the user's code that
	// decodes the message blocks.
	lentInterval = 2 * time.Millisecond
	// After a turn of that length, nothing is lent for a while: one connection may bring messages
	// for many actors, which are to run at once. Each long turn in a row doubles the pause.
	longLent                   = 250 * time.Microsecond
	minLentPause, maxLentPause = 2 * time.Millisecond, 500 * time.Millisecond
)

// Lend calls deliver, and runs the actor that this makes ready for one turn. If that blocks or
// takes long, goOn is called in another goroutine, once, and Lend returns true when nothing is left
// to do.
func (s internals) Lend(deliver, goOn func()) (replaced bool) {
	r := s.scheduler.lend(goOn)
	deliver()
	return r != nil && s.scheduler.workLent(r)
}

// The runner counts as spinning, so that no other one is started for what becomes ready. It is nil
// while others run or turns are long.
func (s *scheduler) lend(goOn func()) *runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy > 0 || s.virtual || s.overcommit > 0 {
		return nil
	}
	if again := s.lending.again; again != 0 && time.Since(epoch) < again {
		return nil
	}
	r := s.engage()
	r.lent = lent{goOn: goOn}
	s.lending.brief = true
	s.watchLent()
	return r
}

func (s *scheduler) workLent(r *runner) (replaced bool) {
	s.mu.Lock()
	if r.lent.goOn == nil { // see stopLending
		s.mu.Unlock()
		return false
	}
	s.spinning--
	s.lending.brief, r.lent.seen = false, false
	if !s.workLeft() { // the message has woken nothing, or another runner has come
		r.lent = lent{}
		s.dismiss(r)
		s.mu.Unlock()
		return false
	}
	c, begun := s.begin(r), time.Since(epoch)
	r.labelled = nil // the goroutine is another one than before
	var again *core
	if c.impl.(*cell).turn(s, r) { // only cells get ready
		again = c
	}
	return s.endLent(r, again, time.Since(epoch)-begun)
}

// What is left to do is for another goroutine, if this one was not replaced.
func (s *scheduler) endLent(r *runner, again *core, took time.Duration) (replaced bool) {
	s.mu.Lock()
	replaced = r.lent.goOn == nil
	r.lent = lent{}
	if !replaced {
		s.labels.give(r, nil)
	}
	s.lending.took(took)
	done := !replaced && again == nil && !r.hasBatch && !s.workLeft()
	if done {
		s.returned(r)
		s.dismiss(r)
	}
	s.mu.Unlock()
	switch {
	case replaced:
		s.work(r, s.goOn(r, again))
	case !done:
		go func() {
			s.labels.renew(r, nil)
			s.work(r, s.goOn(r, again))
		}()
	}
	return replaced
}

func (l *lending) took(d time.Duration) {
	if d <= longLent {
		l.again, l.pause = 0, minLentPause
		return
	}
	l.again = time.Since(epoch) + l.pause
	l.pause = min(2*l.pause, maxLentPause)
}

// takeBack lets another goroutine do what the one of r has to do besides, if it is lent.
func (r *runner) takeBack() {
	if goOn := r.lent.goOn; goOn != nil {
		r.lent = lent{}
		go goOn()
	}
}

// stopLending forgets r if its goroutine still delivers. That may call the user's code, to decode a
// message, and as long as r counts as spinning nobody else runs what waits.
func (r *runner) stopLending(s *scheduler) {
	if r.lent.goOn == nil {
		return
	}
	r.lent = lent{}
	s.lending.brief = false
	s.spinning--
	s.busy--
	s.runners.remove(r)
}

func (s *scheduler) watchLent() {
	l := &s.lending
	l.used = true
	if l.armed {
		return
	}
	l.armed = true
	if l.check == nil {
		l.check = time.AfterFunc(lentInterval, s.checkLent)
	} else {
		l.check.Reset(lentInterval)
	}
}

// checkLent schedules the next check only while goroutines are lent.
func (s *scheduler) checkLent() {
	s.mu.Lock()
	s.lending.armed = false
	used := s.lending.used
	for _, r := range slices.Backward(s.runners.all) { // marking removes it
		if r.lent.goOn != nil {
			used = true
			r.checkLent(s)
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

func (r *runner) checkLent(s *scheduler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.lent.seen:
		r.lent.seen = true
	case r.at == nil: // it still delivers
		r.stopLending(s)
	default:
		r.at.impl.(*cell).setUrgent() // so that its turn ends, if it only takes long
		s.markBlocked(r)
	}
}
