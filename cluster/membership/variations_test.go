package membership

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
)

// Whatever the strategy, and whether nodes rejoin or are restarted, the nodes form one cluster
// after everything has healed.
func TestRandomHistoriesUnderEachStrategyEndInOneCluster(t *testing.T) {
	strategies := func(size int) []downing.Strategy {
		return []downing.Strategy{
			downing.StaticQuorum{Size: size/2 + 1},
			downing.KeepOldest{},
			downing.KeepOldest{KeepAlone: true},
			downing.KeepReferee{Name: "n2"},
			downing.LeaseMajority{Lease: grantedLease{}},
			downing.DownAll{},
			downing.KeepMajority{KeepUnstable: true},
		}
	}
	simulateAll(t, histories{
		count:  *count,
		faults: 7,
		tune: func(seed uint64, set *Settings) {
			each := strategies(sizeOf(seed))
			set.Downing, set.Rejoin = each[seed/3%uint64(len(each))], seed%2 == 0
		},
		change: func(s *schedule) {
			switch strategies(s.size)[s.seed/3%7].(type) {
			case downing.StaticQuorum, downing.KeepReferee, downing.LeaseMajority:
				s.apart = true
			}
			s.mayEnd = true
		},
	})
}

func TestRandomHistoriesOfAClusterThatNeedsThreeMembersEndInOneCluster(t *testing.T) {
	simulateAll(t, histories{
		count:  *count,
		faults: 6,
		tune:   func(_ uint64, set *Settings) { set.MinMembers = 3 },
		change: func(s *schedule) { s.mayEnd = s.size < 5 },
	})
}

// A fifth of the datagrams is lost all the time, processes are paused for up to 90 s, and
// several leave at once.
func TestRandomHistoriesOfLongSleepsAndManyDeparturesEndInOneCluster(t *testing.T) {
	simulateAll(t, histories{count: *count, faults: 6, change: func(s *schedule) {
		s.loss, s.mayEnd = 0.2, true
		for i := range s.faults {
			switch f := &s.faults[i]; f.kind {
			case paused, cutOff:
				f.lasts = 2*f.lasts + 10*time.Second
			case splitInTwo, crashed:
				if i%2 == 0 {
					f.kind = leftAtOnce
				}
			case muted, lostHost, left, leftAtOnce:
			}
		}
		if n := len(s.faults); n > 0 {
			s.faults[n-1].then = 90 * time.Second // all have woken up
		}
	}})
}
