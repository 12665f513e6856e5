package membership

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/internal/effort"
)

// A variation is one kind of random histories. All of them end in one cluster after everything has
// healed.
type variation struct {
	tune   func(seed uint64, set *Settings)
	change func(s *schedule)
}

var variations = []variation{
	{tune: func(seed uint64, set *Settings) {
		if seed%2 == 1 {
			set.Leader = LowestAddress()
		}
	}},
	{tune: islands},
	{tune: anyStrategy, change: mayEndUnder},
	{
		tune:   func(_ uint64, set *Settings) { set.MinMembers = 3 },
		change: func(s *schedule) { s.mayEnd = s.size < 5 },
	},
	{change: longSleeps},
}

func TestRandomHistoriesEndInOneCluster(t *testing.T) {
	of := func(seed uint64) variation { return variations[seed%uint64(len(variations))] }
	simulateAll(t, histories{
		count:  effort.Count[uint64](1, 2, 100) * uint64(len(variations)),
		faults: 9,
		tune: func(seed uint64, set *Settings) {
			if tune := of(seed).tune; tune != nil {
				tune(seed, set)
			}
		},
		change: func(s *schedule) {
			if change := of(s.seed).change; change != nil {
				change(s)
			}
		},
	})
}

// Two nodes found a cluster each, whenever they start, and the clusters must find each other.
func islands(_ uint64, set *Settings) {
	if set.Self.Name == "n1" || set.Self.Name == "n2" {
		set.Seeds = []string{set.Self.Address}
	}
}

func strategyOf(seed uint64) downing.Strategy {
	all := []downing.Strategy{
		downing.StaticQuorum{Size: sizeOf(seed)/2 + 1},
		downing.KeepOldest{},
		downing.KeepOldest{KeepAlone: true},
		downing.KeepReferee{Name: "n2"},
		downing.LeaseMajority{Lease: grantedLease{}},
		downing.DownAll{},
		downing.KeepMajority{KeepUnstable: true},
	}
	return all[seed/5%uint64(len(all))] // there are five variations
}

// The nodes rejoin by themselves, or are restarted.
func anyStrategy(seed uint64, set *Settings) { set.Downing, set.Rejoin = strategyOf(seed), seed%2 == 0 }

func mayEndUnder(s *schedule) {
	switch strategyOf(s.seed).(type) {
	case downing.StaticQuorum, downing.KeepReferee, downing.LeaseMajority:
		s.apart = true
	}
	s.mayEnd = true
}

// A fifth of the datagrams is lost all the time, processes are paused for up to 90 s, and
// several leave at once.
func longSleeps(s *schedule) {
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
}
