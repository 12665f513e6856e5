package actor

import (
	"bytes"
	"runtime"
	"time"
)

// inBubble says whether the caller is in a bubble of testing/synctest. Nothing but its
// stack says so, in the first line.
func inBubble() bool {
	var space [128]byte
	line, _, _ := bytes.Cut(space[:runtime.Stack(space[:], false)], []byte("\n"))
	return bytes.Contains(line, []byte(", synctest bubble "))
}

// armWatch lets the watch look once.
func (s *scheduler) armWatch() {
	s.watching = true
	if s.watch == nil {
		s.limit = runtime.GOMAXPROCS(0)
		s.watch = time.AfterFunc(watchInterval, s.lookAfter)
	} else {
		s.watch.Reset(watchInterval)
	}
	s.since, s.turns = time.Now(), 0
}

// lookAfter is what the watch does. It goes on only as long as there are actors that wait.
func (s *scheduler) lookAfter() {
	s.mu.Lock()
	s.watching = false
	s.locals.shut(&s.waiting)
	s.limit = runtime.GOMAXPROCS(0)
	s.countTurns()
	turnsAreLong := s.turnsAreLong()
	moving, stuck, shares := s.markStuck(turnsAreLong)
	long := s.waiting.size > 0 && (turnsAreLong || moving == 0 && stuck > 0)
	switch {
	case s.generous > 0:
		s.generous--
	case long:
		s.patience = min(max(2*s.patience, minPatience), maxPatience)
		s.generous = s.patience
	case moving > 0:
		s.patience = 0
	}
	fresh := s.reinforceAll()
	if s.waiting.size > 0 || shares {
		s.armWatch()
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
	if s.limit == 1 || s.virtual || s.generous > 0 || s.looking > 0 || s.busy < s.limit {
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
	return elapsed < 4*watchInterval && elapsed > time.Duration(s.turns/max(1, min(s.busy, s.limit)))*longTurn
}

// markStuck marks the runners that have not moved, and returns how many have, how many
// have not since the last time, and whether any has taken more than it is at. Where turns
// are long, what runners have taken is for others, whether they move or not.
func (s *scheduler) markStuck(turnsAreLong bool) (moving, stuck int, shares bool) {
	for _, r := range s.runners.all {
		r.mu.Lock()
		switch {
		case r.at == nil:
		case r.moved:
			moving++
			if turnsAreLong {
				s.takeShare(r)
			}
			shares = shares || len(r.share) > 0
		case !r.stuck:
			stuck++
			s.strand(r)
		}
		r.moved = false
		r.mu.Unlock()
	}
	return moving, stuck, shares
}

// reinforceAll returns the runners that are to be started for all who wait.
func (s *scheduler) reinforceAll() (fresh []*runner) {
	for n := s.waiting.size - s.looking; n > 0; n-- {
		if s.busy >= s.limit && !s.isGenerous() {
			break
		}
		fresh = append(fresh, s.engage())
	}
	return fresh
}
