package membership

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A transition is a change of a member's status that some party may decide. Other nodes learn
// of it by merging; statuses only move forward there, and may skip some.
type transition struct {
	from, to Status
	by       party
	clean    bool // a removal after which no node needs to wait
}

// A party is a kind of node that may decide a transition.
type party int

const (
	itself  party = iota // the member
	host                 // a member that speaks for the cluster: it is up, or the first candidate
	leader               // the leader, when all members agree
	anybody              // any member: the decider of a side, or on behalf of an operator
	witness              // a node that received gone, or that admits another process at the address
)

// All transitions. Status 0 is a node that is not a member.
var transitions = []transition{
	{from: 0, to: Joining, by: itself}, // it founds the cluster
	{from: 0, to: Joining, by: host},
	{from: Joining, to: Up, by: leader},
	{from: Joining, to: Leaving, by: itself},
	{from: Up, to: Leaving, by: itself},
	{from: Leaving, to: Exiting, by: itself},
	{from: Joining, to: Down, by: anybody},
	{from: Up, to: Down, by: anybody},
	{from: Leaving, to: Down, by: anybody},
	{from: Exiting, to: Down, by: anybody},
	{from: Exiting, to: Removed, by: itself, clean: true},
	{from: Exiting, to: Removed, by: leader, clean: true}, // it no longer sends heartbeats
	{from: Down, to: Removed, by: leader},
	{from: Joining, to: Removed, by: itself, clean: true}, // as the next four: down or dissolved, and drained
	{from: Up, to: Removed, by: itself, clean: true},
	{from: Leaving, to: Removed, by: itself, clean: true},
	{from: Down, to: Removed, by: itself, clean: true},
	{from: Removed, to: Removed, by: itself, clean: true},
	{from: 0, to: Removed, by: witness, clean: true}, // of a member that had been forgotten
	{from: Joining, to: Removed, by: witness, clean: true},
	{from: Up, to: Removed, by: witness, clean: true},
	{from: Leaving, to: Removed, by: witness, clean: true},
	{from: Exiting, to: Removed, by: witness, clean: true},
	{from: Down, to: Removed, by: witness, clean: true},
	{from: Removed, to: Removed, by: witness, clean: true}, // it is known now that nothing of it runs
}

// may reports whether m belongs to the party in a decision about a member.
func (p party) may(m *Machine, id ID) bool {
	switch p {
	case itself:
		return id == m.self
	case host:
		return m.admission.mayAdmit()
	case leader:
		first, ok := first(m.table.candidates(m.set.Leader), func(Member) bool { return true })
		return ok && first.ID() == m.self && m.table.converged(m.seenBy, m.table.unreachable())
	case anybody:
		return m.table.status(m.self) != 0
	case witness:
		return id != m.self
	}
	return false
}

// checkDecision checks that a status only moves along the transitions, and only by the right
// party.
func (n *simNode) checkDecision(m *Machine, change table) {
	check := func(id ID, to Status, clean bool) {
		from := m.table.status(id)
		if from == to && to != Removed {
			return
		}
		allowed := slices.ContainsFunc(transitions, func(t transition) bool {
			return t.from == from && t.to == to && t.clean == clean && t.by.may(m, id)
		})
		if !allowed {
			n.world.fail("n%d moves %v from %v to %v, clean: %v", n.index+1, id, from, to, clean)
		}
		n.world.moved[transition{from: from, to: to, clean: clean}]++
	}
	for id, each := range change.members {
		check(id, each.Status, false)
	}
	for id, dead := range change.tombstones {
		check(id, Removed, dead.Clean)
	}
}

func TestStatusesOnlyMoveForward(t *testing.T) {
	for _, tr := range transitions {
		require.True(t, tr.from < tr.to || tr.from == Removed, "%v to %v", tr.from, tr.to)
	}
	order := []Status{Joining, Up, Leaving, Exiting, Down, Removed}
	require.True(t, slices.IsSorted(order))
	var names []string
	for _, s := range append(order, 0) {
		names = append(names, s.String())
	}
	require.Equal(t, []string{"joining", "up", "leaving", "exiting", "down", "removed", "none"}, names)
}

// The histories prove the invariants only if they cover all transitions.
func TestRandomHistoriesTakeEveryOrdinaryTransition(t *testing.T) {
	ordinary := []transition{
		{from: Joining, to: Up},
		{from: Up, to: Leaving},
		{from: Leaving, to: Exiting},
		{from: Up, to: Down},
		{from: Exiting, to: Removed, clean: true},
		{from: Down, to: Removed},
		{from: Up, to: Removed, clean: true},
	}
	moved := map[transition]int{}
	rest := func() []transition {
		return slices.DeleteFunc(slices.Clone(ordinary), func(tr transition) bool { return moved[tr] > 0 })
	}
	for seed := uint64(0); seed < 6 && len(rest()) > 0; seed++ {
		v := simulate(draw(seed, 5, 8), func(*Settings) {})
		require.Empty(t, v.failure)
		for tr, n := range v.moved {
			moved[tr] += n
		}
	}
	require.Empty(t, rest())
}
