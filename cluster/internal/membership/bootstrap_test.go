package membership

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func discovering(minSeeds int) func(*Settings) {
	return func(set *Settings) { set.Discovers, set.MinSeeds = true, minSeeds }
}

// finds makes discovery return the same addresses once a second for a while. The denied
// addresses answer that there is no cluster.
func (r *rig) finds(d time.Duration, addresses []string, denied ...string) {
	for end := r.clock.Add(d); !r.clock.After(end); {
		r.happens(Found{Addresses: addresses})
		for _, address := range denied {
			r.happens(DialFailed{Address: address, Refused: true})
		}
		r.wait(time.Second)
	}
}

func TestTheLowestAddressFoundFoundsACluster(t *testing.T) {
	r := newRig(discovering(2))
	both := []string{"n1:1", "n2:1"}
	r.finds(3*time.Second, both, "n2:1")
	require.Equal(t, phaseJoining, r.phase, "somebody else may be found as yet")
	r.finds(2*time.Second, both, "n2:1")
	require.Equal(t, phaseMember, r.phase)
	require.Equal(t, Up, r.table.status(r.self))
}

func TestAnotherAddressFoundDoesNot(t *testing.T) {
	r := newRig(discovering(2))
	r.finds(time.Minute, []string{"n0:1", "n1:1", "n2:1"}, "n0:1", "n2:1")
	require.Equal(t, phaseJoining, r.phase)
	require.Contains(t, r.view().Waiting(), "only the lowest address, n0:1,")
}

func TestNobodyFoundsAClusterOnFewerThanRequired(t *testing.T) {
	r := newRig(discovering(3))
	r.finds(time.Hour, []string{"n1:1", "n2:1"}, "n2:1")
	require.Equal(t, phaseJoining, r.phase)
	require.Contains(t, r.view().Waiting(), "found 2 of at least 3 nodes (Config.MinSeeds)")
	r.finds(10*time.Second, []string{"n1:1", "n2:1", "n3:1"}, "n2:1", "n3:1")
	require.Equal(t, phaseMember, r.phase)
}

func TestSeedsCountAsFound(t *testing.T) {
	r := newRig(discovering(3), "n3:1", "n1:1")
	r.finds(10*time.Second, []string{"n1:1", "n2:1"}, "n2:1", "n3:1")
	require.Equal(t, phaseMember, r.phase, "the order of seeds does not count with discovery")
}

func TestNobodyFoundsAClusterWhileWhatIsFoundChanges(t *testing.T) {
	r := newRig(discovering(2))
	for i := range 60 {
		addresses := []string{"n1:1", "n2:1", fmt.Sprintf("n%d:1", 3+i%2)}
		r.finds(3*time.Second, addresses, addresses...)
	}
	require.Equal(t, phaseJoining, r.phase)
	require.Contains(t, r.view().Waiting(), "changed just now")
}

func TestNobodyFoundsAClusterWhileDiscoveryFails(t *testing.T) {
	r := newRig(discovering(2))
	both := []string{"n1:1", "n2:1"}
	r.finds(3*time.Second, both)
	for range 60 {
		r.happens(Found{Failed: true})
		r.wait(time.Second)
	}
	r.happens(DialFailed{Address: "n2:1", Refused: true})
	require.Equal(t, phaseJoining, r.phase, "what was found a minute ago says nothing")
	require.Contains(t, r.view().Waiting(), "not answered lately")
	r.finds(0, both, "n2:1")
	require.Equal(t, phaseMember, r.phase)
}

func TestOneFailureOfDiscoveryDelaysNothing(t *testing.T) {
	r := newRig(discovering(2))
	both := []string{"n1:1", "n2:1"}
	r.finds(3*time.Second, both, "n2:1")
	r.happens(Found{Failed: true})
	r.finds(2*time.Second, both, "n2:1")
	require.Equal(t, phaseMember, r.phase)
}

func TestFoundingGoesOnWhenADeadAddressIsNotFoundAnyMore(t *testing.T) {
	r := newRig(discovering(2))
	r.finds(time.Minute, []string{"n1:1", "n2:1", "n3:1"}, "n2:1")
	require.Equal(t, phaseJoining, r.phase)
	require.Contains(t, r.view().Waiting(), "n3:1")
	r.finds(6*time.Second, []string{"n1:1", "n2:1"}, "n2:1")
	require.Equal(t, phaseMember, r.phase)
}

func TestAFormerPeerThatIsNotFoundForAMinuteIsNotWaitedFor(t *testing.T) {
	former := func(set *Settings) {
		discovering(2)(set)
		set.Known, set.Earlier = []string{"n9:1"}, []uint64{7}
	}
	r := newRig(former)
	r.finds(50*time.Second, []string{"n1:1", "n2:1"}, "n2:1")
	require.Equal(t, phaseJoining, r.phase, "n9 may go on with the cluster")
	r.finds(20*time.Second, []string{"n1:1", "n2:1"}, "n2:1")
	require.Equal(t, phaseMember, r.phase)

	r = newRig(former, "n9:1")
	r.finds(time.Hour, []string{"n1:1", "n2:1"}, "n2:1")
	require.Equal(t, phaseJoining, r.phase, "a seed is waited for")
}

func TestAnAliasIsThisNodeAndCountsOnce(t *testing.T) {
	r := newRig(discovering(2))
	mine := []string{"alias:1", "n1:1"}
	r.happens(Found{Addresses: mine})
	r.hears(r.self, joinRequest{To: "alias:1"})
	r.finds(time.Minute, mine)
	require.Equal(t, phaseJoining, r.phase)
	require.Contains(t, r.view().Waiting(), "found 1 of at least 2")
	r.finds(10*time.Second, append(mine, "n2:1"), "n2:1")
	require.Equal(t, phaseMember, r.phase, "the lowest address is this node")
	r.said = nil
	r.wait(time.Minute)
	require.Empty(t, told[greeting](r, "alias:1"))
}

func TestTwoAddressesOfAnotherNodeCountOnce(t *testing.T) {
	r := newRig(discovering(3))
	for range 60 {
		r.finds(0, []string{"n1:1", "n2:1", "x2:1"})
		for _, address := range []string{"n2:1", "x2:1"} {
			r.hears(id("n2:1", 2), joinAnswer{To: address, Verdict: notMember})
		}
	}
	require.Equal(t, phaseJoining, r.phase)
	require.Contains(t, r.view().Waiting(), "found 2 of at least 3")
}

func TestANodeThatIsFoundUnderNoNameOfItsOwnSaysSo(t *testing.T) {
	r := newRig(discovering(2))
	r.finds(time.Minute, []string{"10.0.0.1:1", "10.0.0.2:1"}, "10.0.0.1:1", "10.0.0.2:1")
	require.Equal(t, phaseJoining, r.phase)
	require.Contains(t, r.view().Waiting(), "does not find this node, which advertises n1:1: set Config.Advertise")
}

func TestANodeJoinsWhereDiscoveryFindsMembers(t *testing.T) {
	r := newRig(discovering(2))
	r.said = nil
	r.happens(Found{Addresses: []string{"n2:1"}})
	require.Len(t, told[joinRequest](r, "n2:1"), 1, "a new address is asked at once")
	welcomed := newTable(ClusterID{7})
	welcomed.members[id("n2:1", 2)] = Member{Name: "n2", Address: "n2:1", Incarnation: 2, Status: Up, UpNumber: 1}
	welcomed.members[r.self] = Member{Name: "n1", Address: "n1:1", Incarnation: 1, Status: Joining}
	r.hears(id("n2:1", 2), joinAnswer{To: "n2:1", Verdict: welcome, Table: welcomed.pack()})
	require.Equal(t, phaseMember, r.phase, "neither number nor time matters for that")
}

func TestDiscoveryIsAskedEverySecondAndThenEveryHalfMinute(t *testing.T) {
	r := newRig(discovering(1))
	asked := func(d time.Duration) int {
		n := 0
		for end := r.clock.Add(d); r.clock.Before(end); {
			r.said = nil
			r.wait(50 * time.Millisecond)
			for _, a := range r.said {
				if _, ok := a.(Discover); ok {
					n++
					r.happens(Found{Addresses: []string{"n2:1"}})
				}
			}
		}
		return n
	}
	require.Zero(t, asked(time.Minute), "it is still busy with the first question")
	r.happens(Found{Failed: true})
	require.InDelta(t, 60, asked(time.Minute), 1)
	r.finds(6*time.Second, []string{"n1:1"})
	require.Equal(t, phaseMember, r.phase)
	asked(time.Second)
	require.InDelta(t, 20, asked(10*time.Minute), 1)
}

func TestAMemberGreetsWhoIsFoundAndNoMember(t *testing.T) {
	r := newRig(nil)
	r.set.Discovers = true
	r.joins(id("n2:1", 2), "n2")
	r.happens(Found{Addresses: []string{"n1:1", "n2:1", "n3:1"}})
	r.said = nil
	r.wait(greetEvery)
	said := r.said
	require.Len(t, told[greeting](r, "n3:1"), 1)
	r.said = said
	require.Empty(t, told[greeting](r, "n2:1"))
	r.happens(Found{Addresses: []string{"n1:1", "n2:1"}})
	r.said = nil
	r.wait(time.Minute)
	require.Empty(t, told[greeting](r, "n3:1"), "it is not there any more")
}

func TestWhoFoundsNothingAsksAFewAtATime(t *testing.T) {
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf("s%02d:1", i))
	}
	r := newRig(nil, many...)
	asked := map[string]bool{}
	for range 3 {
		r.said = nil
		r.wait(askAgain)
		n := 0
		for _, a := range r.said {
			if s, ok := a.(Send); ok {
				asked[s.To.Address] = true
				n++
			}
		}
		require.Equal(t, askAtOnce, n)
	}
	require.Len(t, asked, 40)
}

func TestAClusterIsFoundedByForceWhenTheFirstSeedIsDead(t *testing.T) {
	r := newRig(nil, "n0:1", "n1:1")
	r.wait(time.Hour)
	require.Equal(t, phaseJoining, r.phase)
	require.Contains(t, r.view().Waiting(), "only the first one founds a cluster")

	r = newRig(func(set *Settings) { set.Force = true }, "n0:1", "n1:1")
	r.wait(4 * time.Second)
	require.Equal(t, phaseJoining, r.phase, "somebody may let it in")
	r.wait(2 * time.Second)
	require.Equal(t, phaseMember, r.phase)
	require.Equal(t, Up, r.table.status(r.self))
}

func TestAClusterIsFoundedByForceWhenDiscoveryFails(t *testing.T) {
	r := newRig(func(set *Settings) {
		discovering(3)(set)
		set.Force = true
	})
	r.wait(6 * time.Second)
	require.Equal(t, phaseMember, r.phase)
}

func TestNothingIsFoundedByForceWhereThereIsACluster(t *testing.T) {
	r := newRig(func(set *Settings) { set.Force = true }, "n0:1", "n1:1")
	for range 60 {
		r.hears(id("n0:1", 1), joinAnswer{To: "n0:1", Verdict: busy})
		r.wait(time.Second)
	}
	require.Equal(t, phaseJoining, r.phase)
}

func TestAnIncarnationThatFollowsAnotherFoundsNothingByForce(t *testing.T) {
	r := newRig(func(set *Settings) { set.Force, set.Earlier, set.Known = true, []uint64{7}, []string{"n2:1"} }, "n1:1")
	r.wait(time.Hour)
	require.Equal(t, phaseJoining, r.phase, "n2 has gone on without it")
}

func TestASeekerAsksForDays(t *testing.T) {
	r := newRig(func(set *Settings) { set.Known, set.Earlier = []string{"n2:1", "n3:1"}, []uint64{7} }, "n1:1")
	for range 3 * 24 {
		r.clock = r.clock.Add(time.Hour)
		r.said = nil
		r.wait(askSeldom)
		require.NotEmpty(t, told[joinRequest](r, "n3:1"))
	}
	require.Equal(t, phaseJoining, r.phase)
	r.happens(DialFailed{Address: "n2:1", Refused: true})
	r.hears(id("n3:1", 3), joinAnswer{To: "n3:1", Verdict: notMember})
	require.Equal(t, phaseMember, r.phase)
}

func TestWhyItTakesLongIsLoggedWhenItChanges(t *testing.T) {
	r := newRig(discovering(2))
	r.finds(time.Hour, []string{"n1:1"})
	r.finds(time.Hour, []string{"n1:1", "n2:1"})
	var reasons []string
	for _, a := range r.said {
		if n, ok := a.(Note); ok && n.Warn {
			reasons = append(reasons, n.Reason)
		}
	}
	require.Len(t, reasons, 3)
	require.Contains(t, reasons[0], "found 1 of at least 2")
	require.Contains(t, reasons[1], "changed just now")
	require.Contains(t, reasons[2], "n2:1")
}

func TestACutOfADayHealsAtAConstantCost(t *testing.T) {
	r := newRig(nil)
	var gone []string
	change := r.change()
	for i := range 40 {
		address := fmt.Sprintf("g%02d:1", i)
		gone = append(gone, address)
		change.tombstones[id(address, 1)] = tombstone{At: r.clock.Unix()}
	}
	r.decide(change)
	for hour := range 23 {
		r.clock = r.clock.Add(time.Hour)
		r.happens(Ticked{})
		greeted := map[string]int{}
		for range 10 {
			r.said = nil
			r.wait(greetEvery)
			n := 0
			for _, a := range r.said {
				if s, ok := a.(Send); ok {
					require.IsType(t, greeting{}, s.msg)
					greeted[s.To.Address]++
					n++
				}
			}
			require.Equal(t, greetAtOnce, n, "hour %d", hour)
		}
		require.Len(t, greeted, len(gone), "all have had their turn")
		for address, n := range greeted {
			require.Equal(t, 2, n, address)
		}
	}
	r.clock = r.clock.Add(time.Hour)
	r.wait(time.Second)
	r.said = nil
	r.wait(time.Minute)
	for _, a := range r.said {
		_, is := a.(Send)
		require.False(t, is, "after a day they are forgotten")
	}
}
