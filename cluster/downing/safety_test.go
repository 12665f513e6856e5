package downing

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A turn records whether the lease of a test has been granted.
type turn struct{ taken bool }

// survives reports whether a side continues, or at least does not down itself. The side gets
// the lease if it asks for it first.
func survives(strategy Strategy, lease *turn, here, there []string) bool {
	if len(here) == 0 {
		return false
	}
	s := parse(strings.Join(here, " ") + " | " + strings.Join(there, " "))
	d := strategy.Decide(s)
	if d.Ask.Lease != nil {
		s.Lease = Denied
		if !lease.taken {
			s.Lease, lease.taken = Granted, true
		}
		d = strategy.Decide(s)
	}
	return !strings.Contains(downed(d), here[0][:1])
}

// eachSplit calls f with every way in which some of the first n members are up, joining or
// leaving, and are split in two.
func eachSplit(n int, kinds []string, f func(left, right []string)) {
	var members func(prefix []string)
	members = func(prefix []string) {
		if len(prefix) < n {
			for _, k := range kinds {
				members(append(slices.Clone(prefix), "ABCDEF"[len(prefix):len(prefix)+1]+k))
			}
			return
		}
		for split := 1; split < 1<<n-1; split++ {
			var left, right []string
			for i, m := range prefix {
				if split&(1<<i) != 0 {
					left = append(left, m)
				} else {
					right = append(right, m)
				}
			}
			f(left, right)
		}
	}
	members(nil)
}

// advanced returns the ways in which a side may see its own members: some that the other side
// sees joining are up, and some that it sees leaving have been removed.
func advanced(side []string) [][]string {
	views := [][]string{nil}
	for _, w := range side {
		var next [][]string
		for _, v := range views {
			next = append(next, append(slices.Clone(v), w))
			switch {
			case strings.HasSuffix(w, "'"):
				next = append(next, append(slices.Clone(v), strings.TrimSuffix(w, "'")+"+"))
			case strings.HasSuffix(w, "-"):
				next = append(next, v)
			}
		}
		views = next
	}
	return views
}

// Two sides never both continue, whichever decides first, even if one of them has seen members
// join or leave and the other has not.
func TestNeverDoBothSidesGoOn(t *testing.T) {
	everybody, some := []string{"", "'", "-"}, []string{"", "*", "*'", "*-"}
	for _, tt := range []struct {
		strategy Strategy
		size     int
		kinds    []string
	}{
		{KeepMajority{}, 6, everybody},
		{KeepMajority{Role: "r"}, 4, some},
		{StaticQuorum{Size: 3}, 6, everybody},
		{StaticQuorum{Size: 2}, 5, everybody},
		{StaticQuorum{Size: 2, Role: "r"}, 4, some},
		{KeepOldest{}, 6, everybody},
		{KeepOldest{KeepAlone: true}, 5, everybody},
		{KeepOldest{Role: "r"}, 4, some},
		{KeepReferee{Name: "B"}, 5, everybody},
		{KeepReferee{Name: "B", Quorum: 3}, 5, everybody},
		{DownAll{}, 4, everybody},
		{LeaseMajority{Lease: someLease{}}, 5, everybody},
	} {
		t.Run(tt.strategy.String(), func(t *testing.T) {
			eachSplit(tt.size, tt.kinds, func(left, right []string) {
				requireOneSide(t, tt.strategy, left, right)
			})
		})
	}
}

// requireOneSide fails the test if both sides continue. The right side knows more about itself.
func requireOneSide(t *testing.T, strategy Strategy, left, right []string) {
	t.Helper()
	first := &turn{}
	if !survives(strategy, first, left, right) {
		return
	}
	for _, view := range advanced(right) {
		lease := *first
		both := survives(strategy, &lease, view, left)
		if _, leased := strategy.(LeaseMajority); leased { // again, with the right side first
			lease.taken = false
			both = both || survives(strategy, &lease, view, left) && survives(strategy, &lease, left, right)
		}
		if both {
			require.Fail(t, "two sides", "%v and %v both go on", left, view)
		}
	}
}

// When both sides know the same, and no member joins or leaves, one side continues.
func TestOneSideGoesOn(t *testing.T) {
	for _, strategy := range []Strategy{
		KeepMajority{},
		StaticQuorum{Size: 3},
		KeepOldest{},
		KeepOldest{KeepAlone: true},
		KeepReferee{Name: "B"},
		LeaseMajority{Lease: someLease{}},
	} {
		for size := 2; size <= 5; size++ {
			if _, fixed := strategy.(StaticQuorum); fixed && size < 5 {
				continue // StaticQuorum promises that only for the size that it is configured for
			}
			eachSplit(size, []string{""}, func(left, right []string) {
				lease := &turn{}
				l, r := survives(strategy, lease, left, right), survives(strategy, lease, right, left)
				require.NotEqual(t, l, r, "%v: %v goes on: %v, %v goes on: %v", strategy, left, l, right, r)
			})
		}
	}
}
