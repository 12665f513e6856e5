package actor

import (
	"runtime"
	"slices"
	"time"
)

// armWatchdog schedules one check.
func (s *scheduler) armWatchdog() {
	s.watchdogArmed = true
	if s.watchdog == nil {
		s.limit = processors()
		s.watchdog = time.AfterFunc(watchdogInterval, s.checkRunners)
	} else {
		s.watchdog.Reset(watchdogInterval)
	}
	s.since, s.turns = time.Now(), 0
}

// checkRunners schedules the next check only while actors wait.
func (s *scheduler) checkRunners() {
	s.mu.Lock()
	s.watchdogArmed = false
	// The local queues have no runner of their own: if those that serve them block, their actors
	// wait. So they are emptied at each check, which bounds that wait, and opened again below.
	s.locals.shut(&s.waiting.fresh)
	s.limit = processors()
	s.countTurns()
	turnsAreLong := s.turnsAreLong()
	moving, blocked, batches := s.markAllBlocked(turnsAreLong)
	long := s.waiting.size() > 0 && (turnsAreLong || moving == 0 && blocked > 0)
	switch {
	case s.overcommit > 0:
		s.overcommit--
	case long:
		s.patience = min(max(2*s.patience, minPatience), maxPatience)
		s.overcommit = s.patience
	case moving > 0:
		s.patience = 0
	}
	fresh := s.reinforceAll()
	if s.waiting.size() > 0 || batches {
		s.armWatchdog()
		s.openLocals()
	}
	s.mu.Unlock()
	for _, r := range fresh {
		go r.main()
	}
}

// The watchdog is armed.
func (s *scheduler) openLocals() {
	if s.limit == 1 || s.virtual || s.overcommit > 0 || s.spinning > 0 || s.busy < s.limit {
		return
	}
	s.locals.open(runtime.GOMAXPROCS(0))
}

func (s *scheduler) countTurns() {
	for _, r := range s.runners.all {
		r.mu.Lock()
		s.turns += r.turns
		r.turns = 0
		r.mu.Unlock()
	}
}

// turnsAreLong cannot tell when the check itself comes late, because then no processor was free.
func (s *scheduler) turnsAreLong() bool {
	elapsed := time.Since(s.since)
	return elapsed < 4*watchdogInterval && elapsed > time.Duration(s.turns/max(1, min(s.busy, s.limit)))*longTurn
}

// markAllBlocked returns how many runners have moved, how many are newly marked, and whether any
// has a run batch. If turns are long, it reclaims all batches.
func (s *scheduler) markAllBlocked(turnsAreLong bool) (moving, blocked int, batches bool) {
	for _, r := range slices.Backward(s.runners.all) { // marking removes it
		r.mu.Lock()
		switch {
		case r.at == nil:
			r.stopLending(s)
		case r.moved:
			moving++
			if turnsAreLong {
				s.reclaimBatch(r)
			}
			batches = batches || len(r.batch) > 0
		default:
			blocked++
			r.at.impl.(*cell).setUrgent() // so that its turn ends, if it only takes long
			s.markBlocked(r)
		}
		r.moved = false
		r.mu.Unlock()
	}
	return moving, blocked, batches
}

func (s *scheduler) reinforceAll() (fresh []*runner) {
	for n := s.waiting.size() - s.spinning; n > 0; n-- {
		if s.busy >= s.limit && !s.overcommits() {
			break
		}
		fresh = append(fresh, s.engage())
	}
	return fresh
}

// At most GOMAXPROCS goroutines run at the same time, and not more than the machine has processors.
// Further runners would only share these, and preempt each other while they hold a lock.
func processors() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
