package actor

import "runtime"

// A runner is a goroutine that works for a scheduler, and what is known of it. The mutex
// of the scheduler guards it all.
type runner struct {
	main  func() // of the goroutine, made once
	at    *core  // whose turn it is inside of; nil: none
	place int    // in the set of runners
	moved bool   // since the watch looked last
	stuck bool   // it has not, or has said that it will not; it does not count
	after *runner
}

// A worker is a core that can be ready.
type worker interface {
	// turn does a part of what there is to do, and reports whether there may be more. It
	// may end its goroutine, then it calls replace before.
	turn(s *scheduler, r *runner) (more bool)
}

// engage returns a runner whose main is to be called in a goroutine of its own. It looks
// for work, as far as the scheduler is concerned.
func (s *scheduler) engage() *runner {
	r := s.spare
	if r == nil {
		r = new(runner)
		r.main = func() {
			if c := s.look(r); c != nil {
				s.work(r, c)
			}
		}
	} else {
		s.spare, r.after = r.after, nil
		s.spares--
	}
	s.busy++
	s.looking++
	return r
}

// work is the life of a runner.
func (s *scheduler) work(r *runner, c *core) {
	for turns := 1; c != nil; turns++ {
		var again *core
		if c.impl.(worker).turn(s, r) { // only workers get ready
			again = c
		}
		if again != nil || turns%yieldAfter == 0 {
			runtime.Gosched()
		}
		c = s.next(r, again)
	}
}

// replace puts another goroutine into the place of the one that runs as r: it calls f for
// c, whose turn it was, and goes on.
func (s *scheduler) replace(r *runner, c *core, f func()) {
	go func() {
		f()
		s.work(r, s.next(r, c))
	}()
}

// begin gives r the first of those who wait, and gives back the mutex.
func (s *scheduler) begin(r *runner) *core {
	c := s.pop()
	r.at, r.moved = c, true
	s.turns++
	s.runners.add(r)
	more := s.reinforce()
	s.mu.Unlock()
	if more != nil {
		go more.main()
	}
	return c
}

// returned notes that r is at nothing, and counts again.
func (s *scheduler) returned(r *runner) {
	r.at = nil
	s.runners.remove(r)
	if r.stuck {
		r.stuck = false
		s.busy++
	}
}

// dismiss notes that r ends.
func (s *scheduler) dismiss(r *runner) {
	s.busy--
	if s.spares < maxSpares {
		s.spares++
		r.after, s.spare = s.spare, r
	}
	if s.waiting > 0 && !s.watching && !s.virtual {
		s.armWatch()
	}
}

// A runnerSet has the runners that are inside turns.
type runnerSet struct{ all []*runner }

func (s *runnerSet) add(r *runner) {
	r.place = len(s.all)
	s.all = append(s.all, r)
}

func (s *runnerSet) remove(r *runner) {
	end := len(s.all) - 1
	last := s.all[end]
	s.all[r.place], s.all[end] = last, nil
	last.place = r.place
	s.all = s.all[:end]
}

// at returns the runner that is inside a turn of c; nil when none is.
func (s *runnerSet) at(c *core) *runner {
	for _, r := range s.all {
		if r.at == c {
			return r
		}
	}
	return nil
}
