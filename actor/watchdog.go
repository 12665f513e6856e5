package actor

import (
	"runtime"
	"time"
)

// armWatchdog lets the watch look once.
func (s *scheduler) armWatchdog() {
	s.watchdogArmed = true
	if s.watchdog == nil {
		s.limit = runtime.GOMAXPROCS(0)
		s.watchdog = time.AfterFunc(watchdogInterval, s.checkRunners)
	} else {
		s.watchdog.Reset(watchdogInterval)
	}
	s.since, s.turns = time.Now(), 0
}

// checkRunners is what the watch does. It goes on only as long as there are actors that wait.
func (s *scheduler) checkRunners() {
	s.mu.Lock()
	s.watchdogArmed = false
	s.locals.shut(&s.waiting)
	s.limit = runtime.GOMAXPROCS(0)
	s.countTurns()
	turnsAreLong := s.turnsAreLong()
	moving, blocked, batches := s.markAllBlocked(turnsAreLong)
	long := s.waiting.size > 0 && (turnsAreLong || moving == 0 && blocked > 0)
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
	if s.waiting.size > 0 || batches {
		s.armWatchdog()
		s.openLocals()
	}
	s.mu.Unlock()
	for _, r := range fresh {
		go r.main()
	}
}

// openLocals opens the local queues when every processor has a runner that will come for
// those who wait there. The watch is armed.
func (s *scheduler) openLocals() {
	if s.limit == 1 || s.virtual || s.overcommit > 0 || s.spinning > 0 || s.busy < s.limit {
		return
	}
	s.locals.open(s.limit)
}

// countTurns adds the turns that the runners have not told of yet.
func (s *scheduler) countTurns() {
	for _, r := range s.runners.all {
		r.mu.Lock()
		s.turns += r.turns
		r.turns = 0
		r.mu.Unlock()
	}
}

// turnsAreLong says whether those since the watch looked last were so on average. When the
// watch itself comes late, there was no processor for anybody, and it cannot tell.
func (s *scheduler) turnsAreLong() bool {
	elapsed := time.Since(s.since)
	return elapsed < 4*watchdogInterval && elapsed > time.Duration(s.turns/max(1, min(s.busy, s.limit)))*longTurn
}

// markAllBlocked marks the runners that have not moved, and returns how many have, how many
// have not since the last time, and whether any has taken more than it is at. Where turns
// are long, what runners have taken is for others, whether they move or not.
func (s *scheduler) markAllBlocked(turnsAreLong bool) (moving, blocked int, batches bool) {
	for _, r := range s.runners.all {
		r.mu.Lock()
		switch {
		case r.at == nil:
		case r.moved:
			moving++
			if turnsAreLong {
				s.reclaimBatch(r)
			}
			batches = batches || len(r.batch) > 0
		case !r.blocked:
			blocked++
			s.markBlocked(r)
		}
		r.moved = false
		r.mu.Unlock()
	}
	return moving, blocked, batches
}

// reinforceAll returns the runners that are to be started for all who wait.
func (s *scheduler) reinforceAll() (fresh []*runner) {
	for n := s.waiting.size - s.spinning; n > 0; n-- {
		if s.busy >= s.limit && !s.overcommits() {
			break
		}
		fresh = append(fresh, s.engage())
	}
	return fresh
}
