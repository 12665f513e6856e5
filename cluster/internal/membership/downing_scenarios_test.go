package membership

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/internal/effort"
)

// The times to expect on a local network with the default settings.
const (
	detected = 900 * time.Millisecond // a silent member is unreachable
	decided  = detected + downing.DefaultStableAfter
)

// A tale is a world in which all nodes are up and n1 is the oldest. It keeps the IDs from then.
type tale struct {
	*world
	before []ID
}

func tell(t *testing.T, seed uint64, size int, strategy downing.Strategy) *tale {
	t.Helper()
	w := newWorld(t, seed, size)
	w.tune = func(set *Settings) { set.Downing = strategy }
	for _, n := range w.nodes {
		n.start()
		w.run(2 * time.Second)
	}
	w.run(10 * time.Second)
	w.checkOneCluster()
	s := &tale{world: w}
	for _, n := range w.nodes {
		s.before = append(s.before, n.machine.self)
	}
	return s
}

// cutApart cuts all links between nodes of different sides; nodes are named by number.
func (s *tale) cutApart(sides ...[]int) {
	side := map[int]int{}
	for k, numbers := range sides {
		for _, n := range numbers {
			side[n-1] = k
		}
	}
	for i := range s.nodes {
		for j := range s.nodes {
			if side[i] != side[j] {
				s.cuts[[2]int{i, j}] = 1
			}
		}
	}
}

// survivors returns the numbers of the nodes that are members with the same identity as at the
// beginning.
func (s *tale) survivors() (numbers []int) {
	for i, n := range s.nodes {
		if n.machine != nil && n.machine.self == s.before[i] && n.machine.phase == phaseMember {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// knows returns the numbers of the initial members that a node does not see as down.
func (s *tale) knows(number int) (numbers []int) {
	for i, id := range s.before {
		if status := s.nodes[number-1].machine.table.status(id); status != 0 && status < Down {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// requireSurvivors fails the test unless exactly these nodes continue, and know it.
func (s *tale) requireSurvivors(numbers ...int) {
	s.t.Helper()
	require.Equal(s.t, numbers, s.survivors(), "history:\n%s", strings.Join(s.log, "\n"))
	for _, n := range numbers {
		require.Equal(s.t, numbers, s.knows(n), "in the eyes of n%d; history:\n%s", n, strings.Join(s.log, "\n"))
	}
}

// requireOneSide runs the world for a while, and fails the test if two sides continue.
func (s *tale) requireOneSide(d time.Duration) {
	s.t.Helper()
	for end := s.now.Add(d); s.now.Before(end); s.run(100 * time.Millisecond) {
		if s.twoSides() {
			s.fail("two sides")
		}
	}
}

// twoSides reports whether two members have taken down each other.
func (s *tale) twoSides() bool {
	for _, a := range s.nodes {
		for _, b := range s.nodes {
			if a.machine != nil && b.machine != nil && a.machine.phase == phaseMember && b.machine.phase == phaseMember &&
				a.machine.table.status(b.machine.self) >= Down && b.machine.table.status(a.machine.self) >= Down {
				return true
			}
		}
	}
	return false
}

// awaitOneCluster heals everything, and fails the test unless all nodes are up in one cluster
// in time.
func (s *tale) awaitOneCluster(limit time.Duration) {
	s.t.Helper()
	s.heal()
	s.run(limit)
	s.checkOneCluster()
}

// happened returns when a line with the given end was first written to the log.
func (s *tale) happened(line string) time.Duration {
	s.t.Helper()
	i := slices.IndexFunc(s.log, func(l string) bool { return strings.Contains(l, line) })
	require.GreaterOrEqual(s.t, i, 0, "%q; history:\n%s", line, strings.Join(s.log, "\n"))
	var seconds float64
	_, err := fmt.Sscan(s.log[i], &seconds)
	require.NoError(s.t, err)
	return time.Duration(seconds * float64(time.Second))
}

func strategies() []downing.Strategy {
	return []downing.Strategy{
		downing.KeepMajority{},
		downing.StaticQuorum{Size: 3},
		downing.KeepOldest{},
		downing.KeepReferee{Name: "n3"},
		downing.DownAll{},
		downing.LeaseMajority{Lease: grantedLease{}},
		downing.Manual{},
	}
}

func TestAPartitionOfTwoSecondsDownsNobody(t *testing.T) {
	for _, strategy := range strategies() {
		s := tell(t, 25, 5, strategy)
		s.cutApart([]int{1, 2}, []int{3, 4, 5})
		s.run(2 * time.Second)
		require.Len(t, s.nodes[0].shown.Unreachable(), 3)
		s.heal()
		s.run(detected)
		s.checkOneCluster()
		s.run(10 * time.Second)
		s.requireSurvivors(1, 2, 3, 4, 5)
	}
}

func TestAPartitionOfAMinuteEndsOneSide(t *testing.T) {
	for _, tt := range []struct {
		strategy downing.Strategy
		goOn     []int
	}{
		{downing.KeepMajority{}, []int{3, 4, 5}},
		{downing.StaticQuorum{Size: 3}, []int{3, 4, 5}},
		{downing.KeepOldest{}, []int{1, 2}},
		{downing.KeepReferee{Name: "n2"}, []int{1, 2}},
		{downing.KeepReferee{Name: "n2", Quorum: 3}, nil},
		{downing.DownAll{}, nil},
		{downing.LeaseMajority{Lease: grantedLease{}}, []int{3, 4, 5}},
	} {
		s := tell(t, 26, 5, tt.strategy)
		s.cutApart([]int{1, 2}, []int{3, 4, 5})
		s.requireOneSide(decided + time.Second + tt.strategy.Skew())
		s.requireSurvivors(tt.goOn...)
		s.requireOneSide(time.Minute)
		s.requireSurvivors(tt.goOn...)
		s.awaitOneCluster(8 * time.Second)
		s.requireSurvivors(tt.goOn...)
	}
}

// The host of singletons is the leader here: the oldest member that is up.
func TestTheHostMovesOnlyIfItIsInTheMinority(t *testing.T) {
	host := func(s *tale, number int) string {
		m, ok := s.nodes[number-1].shown.Leader()
		require.True(t, ok)
		return m.Name
	}
	s := tell(t, 26, 5, downing.KeepMajority{})
	s.cutApart([]int{1, 2, 3}, []int{4, 5})
	s.run(time.Minute)
	require.Equal(t, "n1", host(s, 3))

	s = tell(t, 26, 5, downing.KeepMajority{})
	s.cutApart([]int{1, 2}, []int{3, 4, 5})
	s.run(detected + time.Second)
	require.Equal(t, "n1", host(s, 3), "nothing moves before a decision")
	s.run(decided)
	require.Equal(t, "n3", host(s, 5))
	require.Empty(t, s.nodes[0].shown.Members)
	s.awaitOneCluster(8 * time.Second)
	require.Equal(t, "n3", host(s, 1), "and it does not move back")
}

func TestTheLosingSideStopsItsSingletonsFirst(t *testing.T) {
	for _, stayDown := range []bool{false, true} {
		s := tell(t, 29, 3, downing.KeepMajority{})
		m := s.nodes[0].machine
		m.set.Rejoin = !stayDown
		at := s.now.Sub(s.begin)
		s.cutApart([]int{1}, []int{2, 3})
		s.log = nil
		s.run(decided + time.Second)
		require.InDelta(t, decided, s.happened("n1: this node is down")-at, float64(300*time.Millisecond))
		require.Equal(t, s.happened("n1: this node is down"), s.happened("n1 drains"))
		if stayDown {
			s.run(time.Second)
			require.Nil(t, s.nodes[0].machine)
			require.Greater(t, s.happened("n1 ends"), s.happened("n1 drains"))
			continue
		}
		require.Greater(t, s.happened("n1 starts as"), s.happened("n1 drains"))
		s.awaitOneCluster(8 * time.Second)
		require.NotEqual(t, s.before[0], s.nodes[0].machine.self)
	}
}

func TestWhoFallsDoesNothingBeforeItsSingletonsHaveStopped(t *testing.T) {
	r := splitRig(t, "n2")
	r.said = nil
	r.happens(LeaseAnswered{Number: 1})
	r.wait(time.Minute)
	require.True(t, slices.ContainsFunc(r.said, func(a Action) bool { _, is := a.(Drain); return is }))
	for _, a := range r.said {
		_, over := a.(End)
		require.False(t, over)
	}
	require.Empty(t, told[gone](r, "n2:1"), "it is not gone yet")
	r.happens(Drained{})
	r.wait(departPatience)
	require.True(t, r.ending().Rejoin)
}

func TestASplitInThreeEndsEverybodyWithoutALease(t *testing.T) {
	s := tell(t, 27, 5, downing.KeepMajority{})
	s.cutApart([]int{1, 2}, []int{3, 4}, []int{5})
	s.run(decided + time.Second)
	s.requireSurvivors()
	s.run(time.Minute)
	s.awaitOneCluster(8 * time.Second)

	s = tell(t, 27, 5, downing.LeaseMajority{Lease: grantedLease{}})
	s.cutApart([]int{1, 2}, []int{3, 4}, []int{5})
	s.requireOneSide(time.Minute)
	require.NotEmpty(t, s.survivors())
	require.Equal(t, 1, s.lease.grants)
	s.requireSurvivors(s.survivors()...)
	s.awaitOneCluster(8 * time.Second)
}

// The remaining members agree all the time.
func TestAMemberThatStumblesBeforeItDiesTakesNobodyAlong(t *testing.T) {
	for _, stop := range []time.Duration{2500 * time.Millisecond, 3 * time.Second, 3500 * time.Millisecond} {
		for _, well := range []time.Duration{time.Second, 1500 * time.Millisecond, 2 * time.Second} {
			s := tell(t, 40, 5, downing.KeepMajority{})
			s.nodes[0].pause(stop)
			s.run(stop + well)
			s.nodes[0].pause(time.Minute)
			s.run(decided + time.Second)
			require.Equal(t, []int{2, 3, 4, 5}, s.knows(2), "stopped for %v, well for %v, and stopped for long; history:\n%s", stop, well, strings.Join(s.log, "\n"))
			require.Subset(t, s.survivors(), []int{2, 3, 4, 5})
		}
	}
}

func TestOfTwoHalvesThatWithTheLowestAddressGoesOn(t *testing.T) {
	s := tell(t, 28, 4, downing.KeepMajority{})
	s.cutApart([]int{1, 4}, []int{2, 3})
	s.run(decided + time.Second)
	s.requireSurvivors(1, 4)
	s.awaitOneCluster(8 * time.Second)
}

// n2 is lost, and n1 is about to take it down. Then n1 and n4 are cut off from n3 and n5, which
// hear from n2 again. n1 and n4 decide as two of four, with the lowest address. The others
// decide as three of five.
func aDowningInFlight(t *testing.T, strategy downing.Strategy) *tale {
	s := tell(t, 30, 5, strategy)
	s.cutApart([]int{2}, []int{1, 3, 4, 5})
	n1 := s.nodes[0].machine
	s.run(time.Second)
	s.run(2700*time.Millisecond - s.now.Sub(n1.resolver.stability.since))
	require.Len(t, n1.table.unreachable(), 1)
	require.Equal(t, Up, n1.table.status(s.before[1]))
	clear(s.cuts)
	s.cutApart([]int{1, 4}, []int{2, 3, 5})
	s.run(20 * time.Second)
	return s
}

func TestADowningInFlightMayLeaveTwoSidesOfWhichTheSmallerDissolves(t *testing.T) {
	s := aDowningInFlight(t, downing.KeepMajority{})
	require.True(t, s.twoSides(), "that is the gap of this strategy; history:\n%s", strings.Join(s.log, "\n"))
	require.Equal(t, []int{1, 4}, s.knows(1))
	require.Equal(t, []int{2, 3, 5}, s.knows(3))
	s.awaitOneCluster(5 * time.Second)
	require.Equal(t, []int{2, 3, 5}, s.survivors())
}

func TestADowningInFlightLeavesOneSideOfAStaticQuorum(t *testing.T) {
	s := aDowningInFlight(t, downing.StaticQuorum{Size: 3})
	require.False(t, s.twoSides())
	s.requireSurvivors(2, 3, 5)
	s.awaitOneCluster(8 * time.Second)
}

func TestADowningInFlightLeavesOneSideWithALease(t *testing.T) {
	s := aDowningInFlight(t, downing.LeaseMajority{Lease: grantedLease{}})
	require.False(t, s.twoSides())
	require.Equal(t, 1, s.lease.grants)
}

func TestAHostThatCannotSendIsTakenDown(t *testing.T) {
	s := tell(t, 31, 5, downing.KeepMajority{})
	for i := 1; i < 5; i++ {
		s.cuts[[2]int{0, i}] = 1
	}
	s.run(decided + 2*time.Second)
	s.requireSurvivors(2, 3, 4, 5)
	s.awaitOneCluster(8 * time.Second)
}

func TestOneBrokenLinkCostsBothEnds(t *testing.T) {
	for _, strategy := range []downing.Strategy{downing.KeepMajority{}, downing.StaticQuorum{Size: 3}, downing.LeaseMajority{Lease: grantedLease{}}} {
		s := tell(t, 32, 5, strategy)
		s.cuts[[2]int{1, 3}], s.cuts[[2]int{3, 1}] = 1, 1
		s.run(decided - 200*time.Millisecond)
		s.requireSurvivors(1, 2, 3, 4, 5)
		s.run(time.Second)
		s.requireSurvivors(1, 3, 5)
		require.Zero(t, s.lease.grants)
		s.awaitOneCluster(8 * time.Second)
	}
}

// flap cuts two sides apart and heals them again, for a minute.
func (s *tale) flap(period time.Duration, sides ...[]int) {
	s.t.Helper()
	for end := s.now.Add(time.Minute); s.now.Before(end); {
		s.cutApart(sides...)
		s.requireOneSide(period)
		clear(s.cuts)
		s.requireOneSide(period)
	}
}

func TestAFlappingLinkNeverLeavesTwoSides(t *testing.T) {
	for seed := range effort.Of[uint64](1, 1, 5) {
		for kind, strategy := range strategies() {
			for i, period := range []time.Duration{time.Second, 2 * time.Second} {
				if kind%2 == i && effort.Of(true, true, false) { // one of both, except in make long
					continue
				}
				s := tell(t, seed, 5, strategy)
				s.flap(period, []int{1, 2}, []int{3, 4, 5})
				s.awaitOneCluster(20 * time.Second)
			}
		}
	}
}

func TestWhatNeverSettlesEndsTheMinorityInTime(t *testing.T) {
	s := tell(t, 37, 5, downing.KeepMajority{})
	for begin := s.now; s.now.Sub(begin) < time.Minute; {
		s.cutApart([]int{1, 2}, []int{3, 4, 5})
		s.requireOneSide(2 * time.Second)
		clear(s.cuts)
		s.requireOneSide(2 * time.Second)
		if s.now.Sub(begin) > 12*time.Second {
			require.Equal(t, []int{3, 4, 5}, s.survivors(), "it lasts 7 s, then the next cut ends those who would not go on")
		}
	}

	s = tell(t, 37, 5, downing.KeepMajority{KeepUnstable: true})
	s.flap(2*time.Second, []int{1, 2}, []int{3, 4, 5})
	s.requireSurvivors(1, 2, 3, 4, 5)
}

func TestTheSideThatReachesTheLeaseGoesOn(t *testing.T) {
	for _, tt := range []struct {
		what string
		lost []int
		goOn []int
	}{
		{"both reach it", nil, []int{3, 4, 5}},
		{"only the minority reaches it", []int{3, 4, 5}, []int{1, 2}},
		{"only the majority reaches it", []int{1, 2}, []int{3, 4, 5}},
		{"nobody reaches it", []int{1, 2, 3, 4, 5}, nil},
	} {
		s := tell(t, 163, 5, downing.LeaseMajority{Lease: grantedLease{}})
		s.lease.lost = map[int]bool{}
		for _, n := range tt.lost {
			s.lease.lost[n-1] = true
		}
		s.cutApart([]int{1, 2}, []int{3, 4, 5})
		s.requireOneSide(decided + time.Second + downing.DefaultMinorityDelay + downing.DefaultLeaseTimeout)
		s.requireSurvivors(tt.goOn...)
		s.requireOneSide(time.Minute)
		s.awaitOneCluster(8 * time.Second)
	}
}

func TestWithALeaseTwoOfFiveGoOnWhenTheOthersCrash(t *testing.T) {
	s := tell(t, 163, 5, downing.LeaseMajority{Lease: grantedLease{}})
	for _, n := range s.nodes[:3] {
		n.stop(false)
	}
	s.run(decided + downing.DefaultMinorityDelay + time.Second)
	s.requireSurvivors(4, 5)
}
