package placement

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The same seed gives exactly the same run, and another seed a different one.
func TestASimulatedScheduleDependsOnItsSeedAlone(t *testing.T) {
	t.Parallel()
	story := func(seed uint64) []string {
		s := newSim(seed, true)
		require.Empty(t, s.run())
		return s.log
	}
	for seed := uint64(1); seed <= 5; seed++ {
		first, again := story(seed), story(seed)
		require.Greater(t, len(first), 100)
		for i := range min(len(first), len(again)) {
			require.Equal(t, first[i], again[i], "seed %d, line %d", seed, i)
		}
		require.Len(t, again, len(first), "seed %d", seed)
		require.NotEqual(t, first, story(seed+100))
	}
}

// A planted law: no node may crash.
func TestABrokenLawIsShrunkToTheFaultThatBreaksIt(t *testing.T) {
	t.Parallel()
	planted := func(s *sim) {
		s.in(170*time.Second, func() {
			if s.found.Crashes > 0 {
				s.breach("a node has crashed")
			}
		})
	}
	for seed := uint64(1); seed <= 20; seed++ {
		s := newSim(seed, false)
		planted(s)
		if s.run() == "" {
			continue
		}
		told := explainBroken(seed, planted)
		require.Contains(t, told, "a node has crashed")
		if regexp.MustCompile(`with the faults \[\d+\] only`).MatchString(told) {
			return
		}
	}
	require.Fail(t, "no schedule was shrunk to one fault")
}
