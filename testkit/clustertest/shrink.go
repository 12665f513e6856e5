package clustertest

import (
	"slices"
	"time"
)

// A shrinker looks for a smaller schedule that still fails.
type shrinker struct {
	fails func(Schedule) bool
	runs  int       // how many are left
	until time.Time // in real time
	spent int
}

func (s *shrinker) try(c Schedule) bool {
	if s.runs <= 0 || time.Now().After(s.until) {
		return false
	}
	s.runs--
	s.spent++
	return s.fails(c)
}

// shrink leaves out faults, parts of them at first and then one by one, and shortens those
// that stay.
func (s *shrinker) shrink(failing Schedule) Schedule {
	failing = s.leaveOut(failing)
	failing = s.shorten(failing)
	return s.bringForward(failing)
}

// leaveOut is delta debugging: it tries without each of n parts, and then with more parts.
func (s *shrinker) leaveOut(failing Schedule) Schedule {
	for parts := 2; len(failing) > 0; {
		size := max(1, (len(failing)+parts-1)/parts)
		smaller, found := s.without(failing, size)
		switch {
		case found:
			failing, parts = smaller, max(2, parts-1)
		case size == 1:
			return failing
		default:
			parts = min(2*parts, len(failing))
		}
	}
	return failing
}

// without looks for size faults in a row that are not needed.
func (s *shrinker) without(failing Schedule, size int) (Schedule, bool) {
	for from := 0; from < len(failing); from += size {
		rest := slices.Delete(slices.Clone(failing), from, min(from+size, len(failing)))
		if s.try(rest) {
			return rest, true
		}
	}
	return failing, false
}

// shorten halves what lasts for long.
func (s *shrinker) shorten(failing Schedule) Schedule {
	for i := range failing {
		for failing[i].For >= 100*time.Millisecond {
			shorter := slices.Clone(failing)
			shorter[i].For = (failing[i].For / 2).Round(10 * time.Millisecond)
			if !s.try(shorter) {
				break
			}
			failing = shorter
		}
	}
	return failing
}

// bringForward lets the first fault come at once.
func (s *shrinker) bringForward(failing Schedule) Schedule {
	if len(failing) == 0 || failing[0].At == 0 {
		return failing
	}
	sooner := slices.Clone(failing)
	for i := range sooner {
		sooner[i].At -= failing[0].At
	}
	if s.try(sooner) {
		return sooner
	}
	return failing
}
