package membership

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// A follower that has told the first seed of other nodes that there is no cluster grants
// nothing until it would have heard of that seed's cluster, and the reverse.
func TestANodeSaysThatThereIsNoClusterToOneFounderOnly(t *testing.T) {
	n2, x := id("n2:1", 2), id("x:1", 9)
	meet := func() *rig {
		r := newRig(nil, "n2:1")
		r.hears(n2, joinAnswer{To: "n2:1", Verdict: notMember, Names: []string{"n1:1"}})
		return r
	}
	r := meet()
	require.True(t, r.group.leads(r.group.group()))
	require.Equal(t, busy, r.asks(x, joinRequest{Name: "x", FoundsAs: asFirst}).Verdict)
	require.Equal(t, phaseJoining, r.phase)
	r.hears(n2, joinAnswer{To: "n2:1", Verdict: notMember, Names: []string{"n1:1"}, Grants: true})
	require.Equal(t, phaseMember, r.phase)

	r = newRig(nil, "n2:1")
	require.Equal(t, notMember, r.asks(x, joinRequest{Name: "x", FoundsAs: asFirst}).Verdict)
	r.hears(n2, joinAnswer{To: "n2:1", Verdict: notMember, Names: []string{"n1:1"}, Grants: true})
	require.Equal(t, phaseJoining, r.phase, "x may have founded one")
	require.Contains(t, r.bootstrap.obstacle().why, "not named")
	r.wait(grantHolds)
	r.wait(50 * time.Millisecond)
	r.hears(n2, joinAnswer{To: "n2:1", Verdict: notMember, Names: []string{"n1:1"}, Grants: true})
	require.Equal(t, phaseMember, r.phase)

	r = newRig(nil, "n0:1")
	n0 := id("n0:1", 5)
	r.hears(n0, joinAnswer{To: "n0:1", Verdict: notMember, Names: []string{"n1:1"}})
	require.True(t, r.asks(n0, joinRequest{Name: "n0", FoundsAs: asLowest}).Grants)
	r.wait(answerHolds + time.Second)
	require.Empty(t, r.group.group(), "what n0 has said is old")
	require.Equal(t, busy, r.asks(x, joinRequest{Name: "x", FoundsAs: asFirst}).Verdict, "n0 may have founded one")
	require.False(t, r.asks(n2, joinRequest{Name: "n2", FoundsAs: asLowest}).Grants, "it is not of the group")
	r.wait(grantHolds)
	require.Equal(t, notMember, r.asks(x, joinRequest{Name: "x", FoundsAs: asFirst}).Verdict)
}

func TestANodeWhoseSeedHasBecomeAnotherNodeSaysNothingOfItForAWhile(t *testing.T) {
	r := newRig(nil, "name:1")
	r.hears(id("n2:1", 2), joinAnswer{To: "name:1", Verdict: notMember, Names: []string{"n1:1"}})
	require.Equal(t, []string{"n2:1"}, r.group.names())
	r.hears(id("n3:1", 3), joinAnswer{To: "name:1", Verdict: notMember, Names: []string{"n1:1"}})
	require.Empty(t, r.group.names())
	r.wait(grantHolds + 50*time.Millisecond)
	require.Equal(t, []string{"n3:1"}, r.group.names())
}

// Whatever lists the nodes have, those whose lists lead to each other end up in one cluster. As
// long as no node is its own first seed, only the lowest address of a group founds a cluster,
// once.
func TestRandomListsFormOneClusterOfAllThatTheyLeadTo(t *testing.T) {
	for seed := range effort.Count[uint64](8, 16, 800) {
		r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // it makes a test repeatable
		size := 2 + r.IntN(5)
		w := newWorld(t, seed, size)
		w.loss = float64(r.IntN(3)) * 0.05
		lists, alone := map[string][]string{}, true
		for i := range size {
			for _, j := range r.Perm(size)[:1+r.IntN(size)] {
				lists[w.address(i)] = append(lists[w.address(i)], w.address(j))
			}
			if lists[w.address(i)][0] == w.address(i) {
				if r.IntN(2) == 0 {
					lists[w.address(i)][0] = w.address((i + 1) % size)
				} else {
					alone = false
				}
			}
		}
		w.tune = func(set *Settings) { set.Seeds = lists[set.Self.Address] }
		for i := range size {
			w.after(w.between(0, 10*time.Second), w.nodes[i].start)
			if r.IntN(5) == 0 {
				w.after(w.between(0, 10*time.Second), func() { w.nodes[i].pause(w.between(0, 3*time.Second)) })
			}
		}
		w.run(3 * time.Minute)
		history := strings.Join(w.log, "\n")
		clusters := map[ClusterID]int{}
		for _, n := range w.nodes {
			require.Equal(t, phaseMember, n.machine.phase, "seed %d, lists %v\n%s", seed, lists, history)
			clusters[n.machine.table.cluster]++
		}
		require.Len(t, clusters, parts(lists), "seed %d, lists %v\n%s", seed, lists, history)
		if alone {
			require.Equal(t, sinks(lists), strings.Count(history, "founding a cluster"), "seed %d, lists %v\n%s", seed, lists, history)
		}
	}
}

// others returns the lists without the nodes themselves.
func others(lists map[string][]string) map[string][]string {
	all := map[string][]string{}
	for address, names := range lists {
		all[address] = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == address })
	}
	return all
}

// parts counts the sets of nodes that lists connect in either direction.
func parts(lists map[string][]string) int {
	both := others(lists)
	for address, names := range others(lists) {
		for _, name := range names {
			both[name] = append(both[name], address)
		}
	}
	return distinct(both)
}

// sinks counts the groups.
func sinks(lists map[string][]string) int {
	lists = others(lists)
	closed := map[string]bool{}
	for address := range lists {
		all := namedFrom(lists, address)
		leadBack := func(other string) bool { return slices.Contains(namedFrom(lists, other), address) }
		if !slices.ContainsFunc(all, func(other string) bool { return !leadBack(other) }) {
			slices.Sort(all)
			closed[fmt.Sprint(all)] = true
		}
	}
	return len(closed)
}

func distinct(lists map[string][]string) int {
	all := map[string]bool{}
	for address := range lists {
		reached := namedFrom(lists, address)
		if reached == nil {
			reached = []string{address}
		}
		slices.Sort(reached)
		all[fmt.Sprint(reached)] = true
	}
	return len(all)
}
