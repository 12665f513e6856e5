package membership

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func manyIDs(random *rand.Rand, n int) []ID {
	ids := make([]ID, n)
	for i := range ids {
		ids[i] = ID{Address: fmt.Sprintf("10.0.0.%d:7355", i), Incarnation: random.Uint64() | 1}
	}
	slices.SortFunc(ids, ID.Compare)
	return ids
}

func all(ID) bool { return true }

// graph returns the members that each of some members observes.
func graph(ids []ID, counts func(ID) bool) map[ID][]ID {
	g := map[ID][]ID{}
	for _, id := range ids {
		g[id] = neighboursOf(id, ids, counts).observed
	}
	return g
}

func TestUpToTwelveMembersObserveEachOther(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= allToAll; n++ {
		ids := manyIDs(random, n)
		for _, id := range ids {
			near := neighboursOf(id, ids, func(ID) bool { return false })
			require.Len(t, near.observed, n-1)
			require.NotContains(t, near.observed, id)
			require.Equal(t, near.observed, near.observers)
		}
	}
}

func TestInALargerClusterEveryoneIsObservedByNineOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for n := allToAll + 1; n <= 200; n++ {
		ids := manyIDs(random, n)
		by := map[ID]map[ID]bool{}
		for observer, subjects := range graph(ids, all) {
			require.Len(t, subjects, observersOf)
			for _, subject := range subjects {
				if by[subject] == nil {
					by[subject] = map[ID]bool{}
				}
				by[subject][observer] = true
			}
		}
		for _, id := range ids {
			require.Len(t, by[id], observersOf)
			require.NotContains(t, by[id], id)
		}
	}
}

func TestObserverAndSubjectAgreeWhoeverIsUnreachable(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for range 30 {
		ids := manyIDs(random, 13+random.IntN(40))
		bad := map[ID]bool{}
		for range random.IntN(len(ids)) {
			bad[ids[random.IntN(len(ids))]] = true
		}
		counts := func(id ID) bool { return !bad[id] }
		g := graph(ids, counts)
		for _, subject := range ids {
			for _, observer := range neighboursOf(subject, ids, counts).observers {
				require.Contains(t, g[observer], subject)
			}
		}
		for observer, subjects := range g {
			reachable := slices.DeleteFunc(slices.Clone(subjects), func(id ID) bool { return bad[id] })
			if len(ids)-len(bad) > observersOf && !bad[observer] {
				require.Len(t, reachable, observersOf, "the ring goes on past those that do not count")
			}
			for _, subject := range subjects {
				require.Contains(t, neighboursOf(subject, ids, counts).observers, observer)
			}
		}
	}
}

// reaches returns how many members get news from the first member, without the removed members,
// if news go from subjects to observers.
func reaches(ids []ID, g map[ID][]ID, removed map[ID]bool) int {
	tell := map[ID][]ID{}
	var start ID
	for observer, subjects := range g {
		for _, subject := range subjects {
			tell[subject] = append(tell[subject], observer)
		}
	}
	for _, id := range ids {
		if !removed[id] {
			start = id
		}
	}
	known, next := map[ID]bool{start: true}, []ID{start}
	for len(next) > 0 {
		id := next[0]
		next = next[1:]
		for _, to := range tell[id] {
			if !removed[to] && !known[to] {
				known[to] = true
				next = append(next, to)
			}
		}
	}
	return len(known)
}

func TestTheRingStaysConnectedWithoutAnyEightMembers(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		ids := manyIDs(random, 13+random.IntN(100))
		g := graph(ids, all)
		ring := ringOf(ids)
		removed := map[ID]bool{}
		start := random.IntN(len(ring))
		for i := range observersOf - 1 {
			if random.IntN(2) == 0 {
				removed[ring[(start+i)%len(ring)]] = true // side by side is the worst case
			} else {
				removed[ring[random.IntN(len(ring))]] = true
			}
		}
		require.Equal(t, len(ids)-len(removed), reaches(ids, g, removed))
	}
}

func TestAChangeOfMembershipMovesFewLinks(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{14, 50, 200} {
		ids := manyIDs(random, n)
		before := graph(ids, all)
		gone := ids[random.IntN(n)]
		after := graph(slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return id == gone }), all)
		moved := 0
		for observer, subjects := range after {
			for _, subject := range subjects {
				if !slices.Contains(before[observer], subject) {
					moved++
				}
			}
		}
		require.Equal(t, observersOf, moved, "each of the nine that observed it observes one other")
	}
}

func TestTheRingIsTheSameWhateverTheOrderOfTheTable(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	ids := manyIDs(random, 40)
	ring := ringOf(ids)
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	require.Equal(t, ring, ringOf(ids))
	require.NotEqual(t, manyIDs(rand.New(rand.NewPCG(6, 6)), 40), ring, "it is not the order of addresses")
}

// The opinion of an exiting member does not count. When many members leave at once, the
// remaining ones must therefore be observed by others, and must still be linked to each other.
func TestInALargerClusterNobodyDependsOnObserversThatAreExiting(t *testing.T) {
	tb := newTable(ClusterID{})
	for i, id := range manyIDs(rand.New(rand.NewPCG(7, 7)), 24) {
		tb.members[id] = Member{Address: id.Address, Incarnation: id.Incarnation, Status: Up, UpNumber: uint64(i + 1)}
	}
	someone := tb.ids()[5]
	for _, observer := range tb.neighbours(someone).observers {
		m := tb.members[observer]
		m.Status = Exiting
		tb.members[observer] = m
	}
	count := func(ids []ID) int {
		return len(slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return tb.members[id].Status == Exiting }))
	}
	for id, observers := range tb.observers() {
		require.Equal(t, observersOf, count(observers), "%v", id)
	}
	require.Equal(t, observersOf, count(tb.neighbours(someone).observers))
}
