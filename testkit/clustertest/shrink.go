package clustertest

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/simulation"
)

type shrinker struct {
	fails func(Schedule) bool
	runs  int
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

func (s *shrinker) shrink(failing Schedule) Schedule {
	failing = simulation.Shrink(failing, s.try)
	failing = s.shorten(failing)
	return s.bringForward(failing)
}

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
