package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An account is what a reader of events knows.
type account struct {
	statuses    map[ID]Status
	unreachable map[ID]bool
	leaders     map[string]ID
}

func newAccount() *account {
	return &account{statuses: map[ID]Status{}, unreachable: map[ID]bool{}, leaders: map[string]ID{}}
}

func (a *account) hear(c Change) {
	id := c.Member.ID()
	switch c.Kind {
	case MemberJoined:
		a.statuses[id] = Joining
	case MemberUp:
		a.statuses[id] = Up
	case MemberLeaving:
		a.statuses[id] = Leaving
	case MemberExiting:
		a.statuses[id] = Exiting
	case MemberDowned:
		a.statuses[id] = Down
	case MemberRemoved:
		delete(a.statuses, id)
		delete(a.unreachable, id)
	case MemberUnreachable:
		a.unreachable[id] = true
	case MemberReachable:
		delete(a.unreachable, id)
	case LeaderChanged:
		if a.leaders[c.Role] = id; id == (ID{}) {
			delete(a.leaders, c.Role)
		}
	case MembershipLost:
		clear(a.statuses)
		clear(a.unreachable)
	}
}

// accountOf returns the account that a view describes itself.
func accountOf(v View) *account {
	a := newAccount()
	for _, m := range v.Members {
		a.statuses[m.ID()] = m.Status
		if !v.Reachable(m.ID()) {
			a.unreachable[m.ID()] = true
		}
		for _, role := range append([]string{""}, m.Roles...) {
			if leader, ok := v.LeaderOf(role); ok {
				a.leaders[role] = leader.ID()
			}
		}
	}
	return a
}

// However many views are skipped, the events add up to the view.
func TestEventsNeverDisagreeWithTheView(t *testing.T) {
	for seed := range uint64(3) {
		w := newWorld(t, seed, 5)
		w.tune = func(set *Settings) { set.Self.Roles = []string{"all", "of " + set.Self.Name} }
		for _, n := range w.nodes {
			n.start()
		}
		faults := draw(seed, 5, 10).faults
		accounts, before := map[int]*account{}, map[int]View{}
		for step := range 250 {
			if step%40 == 20 {
				w.apply(faults[step/40])
			}
			w.run(w.between(10*time.Millisecond, 400*time.Millisecond))
			n := w.nodes[w.random.IntN(len(w.nodes))]
			if n.machine == nil {
				continue
			}
			if n.shown.Version < before[n.index].Version || accounts[n.index] == nil {
				accounts[n.index], before[n.index] = newAccount(), View{} // another process
			}
			a := accounts[n.index]
			for _, e := range n.shown.Since(before[n.index]) {
				a.hear(e)
			}
			before[n.index] = n.shown
			require.Equal(t, accountOf(n.shown), a, "seed %d, n%d", seed, n.index+1)
			require.Empty(t, n.shown.Since(n.shown))
		}
	}
}

func TestEventsComeInAFixedOrder(t *testing.T) {
	r := newRig(func(set *Settings) { set.Self.Roles = []string{"db"} })
	empty := View{}
	alone := r.view()
	self := alone.Self
	require.Equal(t, []Change{
		{Kind: MemberUp, Member: self},
		{Kind: LeaderChanged, Member: self},
		{Kind: LeaderChanged, Role: "db", Member: self},
	}, alone.Since(empty))

	n3 := id("n3:1", 3)
	r.joins(n2, "n2")
	r.joins(n3, "n3")
	three := r.view()
	m2, _ := three.Member("n2")
	m3, _ := three.Member("n3")
	require.Equal(t, []Change{{Kind: MemberUp, Member: m2}, {Kind: MemberUp, Member: m3}}, three.Since(alone))

	r.hears(n2, gone{})
	r.wait(2 * time.Second)
	r.happens(LeaveAsked{})
	last := r.view()
	was := m2
	m2.Status = Removed
	require.Equal(t, []Change{
		{Kind: MemberRemoved, Member: m2, Before: was, Clean: true},
		{Kind: MemberLeaving, Member: last.Self},
		{Kind: MemberUnreachable, Member: m3, By: []Member{last.Self}},
		{Kind: LeaderChanged, Before: self, Member: m3},
		{Kind: LeaderChanged, Role: "db", Before: self},
	}, last.Since(three))

	r.hears(n3, dissolve{})
	require.Equal(t, []Change{{Kind: MembershipLost, Member: r.view().Self}, {Kind: LeaderChanged, Before: m3}}, r.view().Since(last))
}
