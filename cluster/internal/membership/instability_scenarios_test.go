package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/internal/effort"
)

// Each crash starts a new stable period. Together they last longer than a side tolerates
// changes that do not end.
func TestAMajorityOutlivesOneCrashAfterTheOther(t *testing.T) {
	for _, strategy := range []downing.Strategy{
		downing.KeepMajority{},
		downing.StaticQuorum{Size: 4},
		downing.KeepOldest{},
		downing.KeepReferee{Name: "n1"},
		downing.LeaseMajority{Lease: grantedLease{}},
	} {
		for _, pause := range []time.Duration{time.Second, 2100 * time.Millisecond, 2900 * time.Millisecond} {
			s := tell(t, 167, 7, strategy)
			for _, n := range s.nodes[4:] {
				n.stop(false)
				s.run(pause)
			}
			s.run(decided)
			s.requireSurvivors(1, 2, 3, 4)
			for _, n := range s.nodes[:4] {
				require.Len(t, n.shown.Members, 4, "%v, a crash each %v", strategy, pause)
			}
		}
	}
}

// While a host is lost, processes that crash as soon as they have joined must not keep the
// others from taking it down. They must not make the others down themselves either.
func TestProcessesThatCrashAgainAndAgainAsTheyJoinHoldUpNobody(t *testing.T) {
	for _, lost := range []bool{true, false} {
		for seed := range effort.Count[uint64](1, 2, 100) {
			w := newWorld(t, seed, 7)
			for _, n := range w.nodes[:5] {
				n.start()
			}
			w.run(15 * time.Second)
			var before []ID
			for _, n := range w.nodes[:5] {
				before = append(before, n.machine.self)
			}
			if lost {
				w.nodes[4].stop(false)
			}
			for range 10 {
				for i, n := range w.nodes[5:] {
					n.start()
					w.run(w.between(500*time.Millisecond, time.Second))
					n.stop(i == 0)
				}
			}
			for i, n := range w.nodes[:4] {
				require.Equal(t, before[i], n.machine.self, "n%d has given up", i+1)
				m, known := n.shown.Member("n5")
				require.Equal(t, !lost, known, "%v", m)
			}
		}
	}
}
