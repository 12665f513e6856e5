package downing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

// someLease is a lease for tests in which only the strategy's requests matter.
type someLease struct{ lease.Lease }

// lastingLease is a lease that reports how long it outlives its process.
type lastingLease struct {
	someLease
	ttl time.Duration
}

func (l lastingLease) TTL() time.Duration { return l.ttl }

// A row is a split, and the members that go down by the decision of the left side.
type row struct{ name, split, down string }

func requireRows(t *testing.T, s Strategy, rows []row) {
	t.Helper()
	for _, r := range rows {
		d := s.Decide(parse(r.split))
		require.Equal(t, r.down, downed(d), "%s: %s, by %v", r.name, r.split, s)
		require.Equal(t, r.down != "", d.Reason != "", "%s: a decision has a reason", r.name)
	}
}

func TestKeepMajorityCases(t *testing.T) {
	requireRows(t, KeepMajority{}, []row{
		{"157, three of five stay", "A C E | B D", "BD"},
		{"157, two of five go", "B D | A C E", "BD"},
		{"157, the half with the lowest address stays", "A B | C D", "CD"},
		{"157, the other half goes", "C D | A B", "CD"},
		{"157, of two the lower stays", "A | B", "B"},
		{"157, and the other goes", "B | A", "B"},
		{"three sides all go, the first", "A B | C D E", "AB"},
		{"three sides all go, the third", "E | A B C D", "E"},
		{"160, with the one who joins there may be as many", "A B | C D E F'", "AB"},
		{"160, and there they go on", "C D E F' | A B", "AB"},
		{"160, with the one who joins here", "A B F' | C D E", "ABF"},
		{"160, three against two, even with the one who joins", "C D E | A B F'", "CDE"},
		{"nobody is unreachable", "A B C", ""},
	})
	requireRows(t, KeepMajority{Role: "r"}, []row{
		{"158, two with the role against one", "A* B* | C D* E", "CDE"},
		{"158, one with the role against two", "C D* E | A* B*", "CDE"},
		{"158, nobody has the role", "A B | C D E", "AB"},
		{"158, nobody has the role, the larger side", "C D E | A B", "CDE"},
	})
}

func TestStaticQuorumCases(t *testing.T) {
	requireRows(t, StaticQuorum{Size: 3}, []row{
		{"161, three of five stay", "C D E | A B", "AB"},
		{"161, two of five go", "A B | C D E", "AB"},
		{"161, six members are too many, the half with the lowest address", "A B C | D E F", "ABC"},
		{"161, six members are too many, the larger side", "A B C D | E F", "ABCD"},
		{"who joins does not count for the quorum", "A B C' | D E", "ABC"},
		{"who joins is not one too many", "A B C | D E F'", "DEF"},
		{"three of three stay", "A B C | D", "D"},
		{"two of three go: the quorum does not shrink", "A B | C", "AB"},
		{"who leaves counts", "A B C- | D E", "DE"},
		{"nobody is unreachable", "A B C D E F", ""},
	})
	requireRows(t, StaticQuorum{Size: 2, Role: "r"}, []row{
		{"only the role counts", "A* B* | C D E F*", "CDEF"},
		{"and without it they go", "C D E F* | A* B*", "CDEF"},
		{"nobody has the role", "A B C | D", "ABC"},
	})
}

func TestTheSurvivorOfTwoIsToldWhatWouldHaveHelped(t *testing.T) {
	require.Contains(t, KeepMajority{}.Decide(parse("B | A")).Reason, "start a third node, or let downing.LeaseMajority decide")
	require.NotContains(t, KeepMajority{}.Decide(parse("B C | A D E")).Reason, "third")
}

func TestTooManyForAQuorumIsWhatTheReasonSays(t *testing.T) {
	d := StaticQuorum{Size: 3}.Decide(parse("A B C D | E F"))
	require.Contains(t, d.Reason, "6 members")
	require.Contains(t, d.Reason, "raise StaticQuorum.Size")
}

func TestKeepOldestCases(t *testing.T) {
	requireRows(t, KeepOldest{}, []row{
		{"the side of the oldest stays", "A B | C D E", "CDE"},
		{"the other goes", "C D E | A B", "CDE"},
		{"the oldest is alone", "A | B C D E", "A"},
		{"the others go on without it", "B C D E | A", "A"},
		{"of two the oldest stays", "A | B", "B"},
		{"and the other goes", "B | A", "B"},
		{"who joins may be up for the other side, which it spoils", "A | B C'", "A"},
		{"and the other side is not sure of it", "B C' | A", "BC"},
		{"who joins here is no company", "A C' | B D", "AC"},
		{"and the other side reckons with it", "B D | A C'", "BD"},
		{"who leaves is no company", "A C- | B D", "AC"},
		{"the oldest leaves, and is still it", "A- B C | D E", "DE"},
	})
	requireRows(t, KeepOldest{KeepAlone: true}, []row{
		{"it may be alone", "A | B C D E", "BCDE"},
		{"and the others go", "B C D E | A", "BCDE"},
	})
	requireRows(t, KeepOldest{Role: "r"}, []row{
		{"the oldest with the role", "A B | C* D E*", "AB"},
		{"and the other side", "C* D E* | A B", "AB"},
		{"nobody has the role", "A B | C D E", "AB"},
		{"nobody has the role, the other side", "C D E | A B", "CDE"},
	})
}

func TestKeepRefereeCases(t *testing.T) {
	requireRows(t, KeepReferee{Name: "C"}, []row{
		{"the referee's side stays", "C | A B D E", "ABDE"},
		{"the other goes", "A B D E | C", "ABDE"},
		{"who joins is no referee", "C' D | A B", "CD"},
		{"on the other side neither", "A B | C' D", "AB"},
		{"there is no referee", "A B | D", "AB"},
	})
	requireRows(t, KeepReferee{Name: "C", Quorum: 3}, []row{
		{"it has two others", "C D E | A B", "AB"},
		{"it has too few", "C D | A B E", "CD"},
		{"and the others do not go on either", "A B E | C D", "ABE"},
		{"who joins does not count", "C D E' | A B", "CDE"},
	})
}

func TestDownAllCases(t *testing.T) {
	requireRows(t, DownAll{}, []row{
		{"164, the larger side goes", "A B C D | E", "ABCD"},
		{"164, the smaller side goes", "E | A B C D", "E"},
		{"nobody is unreachable", "A B C", ""},
	})
	for _, self := range []string{"A", "B", "C"} {
		require.Equal(t, "ABC", downed(DownAll{}.Decide(parse("A B C").lacks(self, "AB"))), "164, one broken link")
	}
}

func TestLeaseMajorityCases(t *testing.T) {
	l := LeaseMajority{Lease: someLease{}}
	for _, tt := range []struct {
		name, split string
		stable      time.Duration
		lease       Answer
		asks        bool
		down        string
	}{
		{"163, the majority asks at once", "A C E | B D", 3 * time.Second, NotAsked, true, ""},
		{"163, the minority waits", "B D | A C E", 4900 * time.Millisecond, NotAsked, false, ""},
		{"163, and then asks", "B D | A C E", 5 * time.Second, NotAsked, true, ""},
		{"163, of two halves that with the lowest address is first", "A B | C D", 3 * time.Second, NotAsked, true, ""},
		{"163, and the other waits", "C D | A B", 3 * time.Second, NotAsked, false, ""},
		{"163, granted", "A C E | B D", 3 * time.Second, Granted, false, "BD"},
		{"163, granted to the minority", "B D | A C E", 5 * time.Second, Granted, false, "ACE"},
		{"163, refused", "A C E | B D", 3 * time.Second, Denied, false, "ACE"},
		{"163, refused to the minority", "B D | A C E", 5 * time.Second, Denied, false, "BD"},
		{"no answer yet", "A C E | B D", time.Hour, Asked, false, ""},
		{"nobody is unreachable", "A B C", time.Hour, NotAsked, false, ""},
		{"it is too early", "A C E | B D", 2 * time.Second, NotAsked, false, ""},
	} {
		s := parse(tt.split)
		s.Stable, s.Lease = tt.stable, tt.lease
		d := l.Decide(s)
		require.Equal(t, tt.asks, d.Ask.Lease != nil, tt.name)
		require.Equal(t, tt.down, downed(d), tt.name)
	}
	s := parse("A B | C D* E")
	s.Stable = 3 * time.Second
	require.Nil(t, LeaseMajority{Lease: someLease{}, Role: "r"}.Decide(s).Ask.Lease, "only the role counts")
	ask := l.Decide(parse("A C E | B D")).Ask
	require.Equal(t, Ask{Lease: someLease{}, Timeout: DefaultLeaseTimeout, Hold: DefaultReleaseAfter}, ask)
}

func TestBrokenLinksNeedNoLease(t *testing.T) {
	d := LeaseMajority{Lease: someLease{}}.Decide(parse("A B C").lacks("A", "AB"))
	require.Nil(t, d.Ask.Lease)
	require.Equal(t, "AB", downed(d))
}

// strategies returns one strategy of each kind that decides by itself, with its defaults.
func strategies() []Strategy {
	return []Strategy{
		KeepMajority{},
		StaticQuorum{Size: 3},
		KeepOldest{},
		KeepReferee{Name: "B"},
		DownAll{},
		LeaseMajority{Lease: someLease{}},
	}
}

func TestStrategiesWaitUntilTheSituationIsStable(t *testing.T) {
	for _, strategy := range strategies() {
		s := parse("A B | C D E")
		s.Stable, s.Lease = DefaultStableAfter-1, Denied
		require.Empty(t, strategy.Decide(s).Down, "166: %v", strategy)
		s.Stable = DefaultStableAfter
		require.NotEmpty(t, strategy.Decide(s).Down, "%v", strategy)
		require.Equal(t, DefaultStableAfter, strategy.Delay())
	}
}

func TestStrategiesGiveUpWhenNothingSettles(t *testing.T) {
	for _, strategy := range strategies() {
		s := parse("A B C | D E")
		s.Stable, s.Unstable = time.Second, 7*time.Second-1
		require.Empty(t, strategy.Decide(s).Down, "167: %v", strategy)
		s.Unstable, s.Spread = 7*time.Second, 7*time.Second
		d := strategy.Decide(s)
		require.Equal(t, "ABC", downed(d), "167: %v", strategy)
		require.Contains(t, d.Reason, "kept changing")
	}
	require.Equal(t, 7*time.Second, unstableAfter(3*time.Second))
	require.Equal(t, 35*time.Second, unstableAfter(20*time.Second))
}

func TestTheSideThatGoesOnBearsToLoseOneMemberAfterTheOther(t *testing.T) {
	for _, strategy := range []Strategy{KeepMajority{}, StaticQuorum{Size: 3}, KeepOldest{}, KeepReferee{Name: "A"}, LeaseMajority{Lease: someLease{}}} {
		for split, down := range map[string]string{"A B C | D E": "", "D E | A B C": "DE"} {
			s := parse(split)
			s.Stable, s.Unstable, s.Spread = time.Second, 10*time.Second, 7*time.Second-1
			d := strategy.Decide(s)
			require.Equal(t, down, downed(d), "%v, %s", strategy, split)
			require.Nil(t, d.Ask.Lease, "%v, %s", strategy, split)
		}
	}
	s := parse("A B C | D E")
	s.Stable, s.Unstable, s.Spread = time.Second, 10*time.Second, time.Second
	require.Equal(t, "ABC", downed(DownAll{}.Decide(s)), "it ends everybody anyway")
	s.Unstable = 33 * time.Second
	require.Equal(t, "ABC", downed(LeaseMajority{Lease: someLease{}}.Decide(s)), "the lease may have been given back by another side")
}

func TestStrategiesCanBearWhatDoesNotSettle(t *testing.T) {
	for _, strategy := range []Strategy{
		KeepMajority{KeepUnstable: true},
		StaticQuorum{Size: 3, KeepUnstable: true},
		KeepOldest{KeepUnstable: true},
		KeepReferee{Name: "B", KeepUnstable: true},
		DownAll{KeepUnstable: true},
	} {
		s := parse("A B C | D E")
		s.Stable, s.Unstable, s.Spread = time.Second, time.Hour, time.Hour
		require.Empty(t, strategy.Decide(s).Down, "%v", strategy)
	}
}

// Without a split the opinion of a strategy about splits does not matter.
func TestBothEndsOfABrokenLinkGoWhateverTheStrategy(t *testing.T) {
	for _, strategy := range []Strategy{KeepMajority{}, StaticQuorum{Size: 3}, KeepReferee{Name: "E"}, LeaseMajority{Lease: someLease{}}} {
		for self := range strings.FieldsSeq("A B C D E") {
			require.Equal(t, "ABCD", downed(strategy.Decide(parse("A B C D E").lacks(self, "AB CD"))), "%v, decided by %s", strategy, self)
		}
		for self := range strings.FieldsSeq("A B E") {
			require.Equal(t, "AB", downed(strategy.Decide(parse("A B E").lacks(self, "AB"))), "%v, decided by %s", strategy, self)
		}
	}
}

func TestBrokenLinksOfTheGoingSideAreDealtWithAtOnce(t *testing.T) {
	for _, strategy := range []Strategy{KeepMajority{}, StaticQuorum{Size: 3}, KeepOldest{}, KeepReferee{Name: "A"}} {
		s := parse("A B C D | E").lacks("A", "BC")
		require.Equal(t, "BCE", downed(strategy.Decide(s)), "%v", strategy)
	}
}

func TestWhoTheRuleHangsOnIsSpared(t *testing.T) {
	for self := range strings.FieldsSeq("A B C D") {
		require.Equal(t, "BC", downed(KeepOldest{}.Decide(parse("A B C D").lacks(self, "AB AC"))), "the oldest lacks two, by %s", self)
		require.Equal(t, "A", downed(KeepMajority{}.Decide(parse("A B C D").lacks(self, "AB AC"))), "by %s", self)
		require.Equal(t, "A", downed(KeepReferee{Name: "C"}.Decide(parse("A B C D").lacks(self, "AC"))), "by %s", self)
		require.Equal(t, "AB", downed(KeepReferee{Name: "C"}.Decide(parse("A B C D").lacks(self, "AB"))), "by %s", self)
		require.Equal(t, "B", downed(KeepOldest{}.Decide(parse("A B C D").lacks(self, "AB"))), "by %s", self)
	}
}

func TestManualDowningNeverDecides(t *testing.T) {
	s := parse("A B C | D")
	s.Unstable = time.Hour
	require.Empty(t, Manual{}.Decide(s).Down, "169")
	require.Negative(t, Manual{}.Delay())
	require.Zero(t, Manual{}.Skew())
	require.Equal(t, "manual", Manual{}.String())
}

func TestStrategiesNameTheirParameters(t *testing.T) {
	names := map[string]Strategy{}
	for _, s := range []Strategy{
		Manual{},
		KeepMajority{},
		KeepMajority{Role: "r"},
		KeepMajority{StableAfter: time.Minute},
		KeepMajority{KeepUnstable: true},
		StaticQuorum{Size: 3},
		StaticQuorum{Size: 2},
		StaticQuorum{Size: 3, Role: "r"},
		StaticQuorum{Size: 3, StableAfter: time.Minute},
		StaticQuorum{Size: 3, KeepUnstable: true},
		KeepOldest{},
		KeepOldest{KeepAlone: true},
		KeepOldest{Role: "r"},
		KeepOldest{StableAfter: time.Minute},
		KeepOldest{KeepUnstable: true},
		KeepReferee{Name: "a"},
		KeepReferee{Name: "b"},
		KeepReferee{Name: "a", Quorum: 2},
		KeepReferee{Name: "a", StableAfter: time.Minute},
		KeepReferee{Name: "a", KeepUnstable: true},
		DownAll{},
		DownAll{StableAfter: time.Minute},
		DownAll{KeepUnstable: true},
		LeaseMajority{},
		LeaseMajority{Role: "r"},
		LeaseMajority{StableAfter: time.Minute},
		LeaseMajority{MinorityDelay: time.Second},
		LeaseMajority{LeaseTimeout: time.Second},
		LeaseMajority{ReleaseAfter: time.Hour},
	} {
		require.NotContains(t, names, s.String(), "%#v", s)
		names[s.String()] = s
	}
	require.Equal(t, KeepMajority{}.String(), KeepMajority{StableAfter: DefaultStableAfter}.String())
	require.Equal(t, KeepReferee{}.String(), KeepReferee{Quorum: 1}.String())
	require.Equal(t, LeaseMajority{}.String(), LeaseMajority{Lease: someLease{}, MinorityDelay: DefaultMinorityDelay, LeaseTimeout: DefaultLeaseTimeout, ReleaseAfter: DefaultReleaseAfter}.String())
}

func TestStrategiesSayWhatIsMissing(t *testing.T) {
	for want, s := range map[string]interface{ Validate() error }{
		"StaticQuorum.Size must be set":   StaticQuorum{},
		"Size must be set":                StaticQuorum{Size: -1},
		"KeepReferee.Name must be set":    KeepReferee{Quorum: 1},
		"LeaseMajority.Lease must be set": LeaseMajority{},
		"must be at least 14s":            LeaseMajority{Lease: someLease{}, ReleaseAfter: 10 * time.Second},
		"must be longer than 40s":         LeaseMajority{Lease: lastingLease{ttl: 40 * time.Second}},
	} {
		require.ErrorContains(t, s.Validate(), want)
	}
	for _, s := range []interface{ Validate() error }{
		StaticQuorum{Size: 1},
		KeepReferee{Name: "n1"},
		LeaseMajority{Lease: someLease{}},
		LeaseMajority{Lease: someLease{}, StableAfter: time.Minute},
		LeaseMajority{Lease: lastingLease{ttl: 41 * time.Second}},
	} {
		require.NoError(t, s.Validate(), fmt.Sprint(s))
	}
}

func TestOnlyALeaseMakesTheLosersLate(t *testing.T) {
	for _, s := range strategies() {
		if _, leased := s.(LeaseMajority); leased {
			require.Equal(t, 7*time.Second, s.Skew())
		} else {
			require.Zero(t, s.Skew(), "%v", s)
		}
	}
	require.Equal(t, 3*time.Second, LeaseMajority{MinorityDelay: time.Second, LeaseTimeout: 2 * time.Second}.Skew())
}
