package membership

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/internal/effort"
)

// without makes an operator declare nodes gone at a node.
func (n *simNode) without(addresses ...string) error {
	answer := make(chan error, 1)
	n.step(FoundWithoutAsked{Addresses: addresses, Answer: answer})
	return <-answer
}

// without makes an operator declare nodes gone at the machine.
func (r *rig) without(addresses ...string) error {
	r.said = nil
	r.happens(FoundWithoutAsked{Addresses: addresses})
	for _, a := range r.said {
		if answer, ok := a.(Reply); ok {
			return answer.Err
		}
	}
	panic("no reply")
}

// foundings counts the clusters that were founded.
func (w *world) foundings() int {
	return strings.Count(strings.Join(w.log, "\n"), ": founding a cluster")
}

func TestSeedsThatAreLeftFoundAClusterWhenAnOperatorSaysThatTheFirstIsGone(t *testing.T) {
	n2 := id("n2:1", 2)
	r := newRig(nil, "n0:1", "n1:1", "n2:1")
	agree := func() {
		r.hears(n2, joinAnswer{To: "n2:1", Verdict: notMember, Names: []string{"n1:1"}, Grants: true})
	}
	agree()
	r.wait(time.Hour)
	require.Contains(t, r.view().Waiting(), "only the first one founds a cluster: n0:1; there is no answer of n0:1, n2:1")
	require.Contains(t, r.view().Waiting(), "restart one of the other seeds with Config.Seeds that begin with itself")
	require.Contains(t, r.view().Waiting(), "Node.FoundWithout")
	require.Equal(t, []string{"n0:1", "n2:1"}, r.view().absent)

	require.NoError(t, r.without("n0:1"))
	require.Equal(t, phaseJoining, r.phase, "n2 has not answered lately")
	require.Contains(t, r.view().Waiting(), "the first one is gone")
	require.Equal(t, []string{"n2:1"}, r.view().absent)
	r.said = nil
	r.wait(askSeldom)
	require.Equal(t, []string{"n0:1"}, told[joinRequest](r, "n2:1")[0].Gone, "the others are told")
	agree()
	require.Equal(t, phaseMember, r.phase)
}

func TestTheFirstSeedFoundsWithoutAnotherThatIsGone(t *testing.T) {
	r := newRig(nil, "n1:1", "n2:1", "n3:1")
	r.wait(time.Minute)
	require.Contains(t, r.view().Waiting(), "no answer from n2:1, n3:1, so a cluster may exist there; if n2:1, n3:1 will never come back")
	require.NoError(t, r.without("n3:1"))
	require.Equal(t, phaseJoining, r.phase)
	r.hears(id("n2:1", 2), joinAnswer{To: "n2:1", Verdict: notMember})
	require.Equal(t, phaseMember, r.phase)
}

func TestTheOnlySeedThatIsLeftFoundsAlone(t *testing.T) {
	r := newRig(nil, "n0:1", "n1:1", "n2:1")
	r.wait(time.Minute)
	require.NoError(t, r.without("n2:1"))
	require.Equal(t, phaseJoining, r.phase)
	require.NoError(t, r.without("n0:1"))
	require.Equal(t, phaseMember, r.phase)
}

// A node that was put out of a cluster also waits for the addresses of its former members.
func TestMembersThatAreNoSeedsCanBeGone(t *testing.T) {
	r := newRig(func(set *Settings) { set.Known, set.Earlier = []string{"n0:1", "n8:1", "n9:1"}, []uint64{7} }, "n0:1", "n1:1")
	r.wait(time.Minute)
	require.Equal(t, []string{"n0:1", "n8:1", "n9:1"}, r.view().absent)
	require.NoError(t, r.without("n0:1", "n8:1"))
	require.Equal(t, phaseJoining, r.phase)
	r.happens(DialFailed{Address: "n9:1", Refused: true})
	require.Equal(t, phaseMember, r.phase)
}

func TestWhatCannotBeGoneIsRefused(t *testing.T) {
	r := newRig(nil, "n0:1", "n2:1", "localhost:1")
	r.hears(r.self, joinRequest{To: "localhost:1"})
	r.hears(id("n2:1", 2), joinAnswer{To: "n2:1", Verdict: notMember, Names: []string{"n0:1", "n1:1"}})
	for what, each := range map[string]struct {
		addresses []string
		says      string
	}{
		"nothing":          {nil, "name the nodes that are gone"},
		"itself":           {[]string{"n1:1"}, "is this node"},
		"itself, alias":    {[]string{"localhost:1"}, "is this node"},
		"a stranger":       {[]string{"n0:1", "n7:1"}, `does not wait for "n7:1"; name some of n0:1, n2:1`},
		"one that answers": {[]string{"n0:1", "n2:1"}, "n2:1 has just answered; stop it first"},
	} {
		require.ErrorContains(t, r.without(each.addresses...), each.says, what)
		require.Empty(t, r.contacts.gone, what)
	}
	r.wait(grantHolds + time.Second)
	require.NoError(t, r.without("n2:1"), "it is silent")
	r.hears(id("n2:1", 2), joinRequest{To: "n1:1", Name: "n2"})
	require.Empty(t, r.contacts.gone, "it was not gone")
	require.ErrorContains(t, r.without("n2:1"), "has just answered")

	r = newRig(nil, "n8:1", "n9:1")
	require.ErrorContains(t, r.without("n8:1", "n9:1"), "none would be left; restart the nodes with Config.Seeds")
	require.NoError(t, r.without("n8:1"))
	require.ErrorContains(t, r.without("n9:1"), "none would be left")
	r.wait(time.Minute)
	require.Contains(t, r.view().Waiting(), "if n9:1 will never come back: restart the nodes with Config.Seeds that begin with one of those that run")
	require.NotContains(t, r.view().Waiting(), "FoundWithout")

	r = newRig(func(set *Settings) { set.Discovers = true }, "n8:1")
	require.ErrorContains(t, r.without("n8:1"), "Config.Discovery")
	r = newRig(nil)
	require.ErrorIs(t, r.without("n8:1"), ErrNotJoining)
	require.ErrorContains(t, r.without("n8:1"), "call Down")
}

func TestOthersSayWhoIsGoneAndANodeBelievesItUnlessItHearsIt(t *testing.T) {
	n2, n3 := id("n2:1", 2), id("n3:1", 3)
	r := newRig(nil, "n0:1", "n1:1", "n2:1", "n3:1")
	r.hears(n3, joinRequest{To: "n1:1", Name: "n3"})
	r.asks(n2, joinRequest{Name: "n2", Gone: []string{"n0:1", "n1:1", "n2:1", "n3:1", "n7:1"}})
	require.Equal(t, []string{"n0:1"}, r.contacts.goneNodes())
	r.wait(grantHolds + time.Second)
	r.asks(n2, joinRequest{Name: "n2", Gone: []string{"n0:1", "n3:1"}})
	require.Equal(t, []string{"n0:1", "n3:1"}, r.contacts.goneNodes(), "n3 is silent")

	r.happens(LeaveAsked{})
	next := newRig(func(set *Settings) { set.Earlier = []uint64{1} }, "n0:1", "n1:1", "n2:1")
	require.Empty(t, next.contacts.goneNodes(), "each incarnation has to be told")
}

// A seed that was declared gone by mistake asks whether there is a cluster while the others
// found one.
func TestANodeThatIsNotGoneFoundsNoSecondCluster(t *testing.T) {
	n0, n2 := id("n0:1", 9), id("n2:1", 2)
	r := newRig(nil, "n0:1", "n1:1", "n2:1")
	agree := joinAnswer{To: "n2:1", Verdict: notMember, Names: []string{"n1:1"}}
	require.NoError(t, r.without("n0:1"))
	r.hears(n2, agree)
	require.True(t, r.group.leads(r.group.group()))
	r.asks(n0, joinRequest{Name: "n0", FoundsAs: asFirst})
	agree.Grants = true
	r.hears(n2, agree)
	require.Equal(t, phaseJoining, r.phase, "n0 was told that there is none")
}

// absentWorld draws a world in which the first few nodes are the seeds of all nodes, and no
// member is taken down.
func absentWorld(t *testing.T, seed uint64, r *rand.Rand) (w *world, seeds int) {
	t.Helper()
	size := 3 + r.IntN(5)
	seeds = 2 + r.IntN(size-1)
	w = newWorld(t, seed, size)
	w.loss = float64(r.IntN(3)) * 0.05
	putOut := r.IntN(2) == 0 // they were members before
	w.tune = func(set *Settings) {
		if putOut {
			set.Known, set.Earlier = set.Seeds, []uint64{7}
		}
		set.Seeds, set.Downing = set.Seeds[:seeds], downing.Manual{}
	}
	return w, seeds
}

// disturbLinks cuts random links between some nodes for a while, again and again.
func (w *world) disturbLinks(r *rand.Rand, during time.Duration, nodes []int) {
	longest := 1 + r.IntN(20)
	for range r.IntN(60 / longest) {
		w.after(w.between(0, during), func() {
			side := make([]bool, len(w.nodes))
			for _, i := range nodes {
				side[i] = r.IntN(2) == 0
			}
			oneWay := r.IntN(3) == 0
			w.split(func(from, to int) bool {
				return slices.Contains(nodes, from) && slices.Contains(nodes, to) && (side[from] && !side[to] || !oneWay && !side[from] && side[to])
			}, w.between(0, time.Duration(longest)*time.Second), fmt.Sprint("links are cut, ", side))
		})
	}
}

// An operator declares nodes gone that really are gone, on any nodes, at any time, in parts.
// Whatever the network does, the remaining nodes found one cluster, once, and the gone nodes
// join it later.
func TestRandomHistoriesOfATrueWordFoundOneCluster(t *testing.T) {
	for seed := range effort.Count[uint64](3, 8, 320) {
		r := rand.New(rand.NewPCG(seed, 8)) //nolint:gosec // it makes a test repeatable
		w, seeds := absentWorld(t, seed, r)
		gone, left := lose(r, len(w.nodes), seeds)
		for _, i := range gone {
			w.nodes[i].hostUp = r.IntN(3) == 0 // it refuses connections
		}
		for _, i := range left {
			w.nodes[i].start()
		}
		w.disturbLinks(r, 40*time.Second, left)
		for _, i := range gone {
			for range 1 + r.IntN(2) {
				n := w.nodes[left[r.IntN(len(left))]]
				w.after(w.between(0, 40*time.Second), func() { n.occur(func() { _ = n.without(w.address(i)) }) })
			}
		}
		if r.IntN(2) == 0 {
			w.after(w.between(0, time.Minute), func() { w.nodes[left[0]].pause(w.between(0, 8*time.Second)) })
		}
		w.run(2 * time.Minute)
		history := strings.Join(w.log, "\n")
		require.Equal(t, 1, w.foundings(), "seed %d, %d seeds, gone %v\n%s", seed, seeds, gone, history)
		require.Zero(t, w.seekers(), "seed %d, %d seeds, gone %v\n%s", seed, seeds, gone, history)
		w.heal()
		w.run(time.Minute)
		w.requireOneCluster(t, seed)
	}
}

// requireOneCluster fails the test unless one cluster has been founded, once, and all nodes are
// in it.
func (w *world) requireOneCluster(t *testing.T, seed uint64) {
	t.Helper()
	history := strings.Join(w.log, "\n")
	require.Equal(t, 1, w.foundings(), "seed %d\n%s", seed, history)
	for _, n := range w.nodes {
		require.Equal(t, phaseMember, n.machine.phase, "seed %d: n%d\n%s", seed, n.index+1, history)
		require.Equal(t, w.nodes[0].machine.table.cluster, n.machine.table.cluster, "seed %d: n%d\n%s", seed, n.index+1, history)
	}
}

// lose draws a majority of the nodes that contains the first seed, but not all seeds.
func lose(r *rand.Rand, size, seeds int) (gone, left []int) {
	survivor := 1 + r.IntN(seeds-1)
	rest := r.Perm(size)
	rest = slices.DeleteFunc(rest, func(i int) bool { return i == 0 || i == survivor })
	more := min(size/2+r.IntN(2), len(rest))
	gone, left = append([]int{0}, rest[:more]...), append([]int{survivor}, rest[more:]...)
	return gone, left
}

// seekers counts the nodes that look for a cluster.
func (w *world) seekers() (n int) {
	for _, node := range w.nodes {
		if node.machine != nil && node.machine.phase == phaseJoining {
			n++
		}
	}
	return n
}

// An operator declares nodes gone that live on one side of a cut. The other side founds no
// cluster, whatever happens to the cut, and joins after it has healed.
func TestRandomHistoriesOfAWordThatIsFalseOnOneSideFoundOneCluster(t *testing.T) {
	founded, histories := 0, effort.Count[uint64](10, 10, 320)
	for seed := range histories {
		r := rand.New(rand.NewPCG(seed, 9)) //nolint:gosec // it makes a test repeatable
		w, seeds := absentWorld(t, seed, r)
		side := make([]bool, len(w.nodes))
		side[r.IntN(seeds)] = true
		for i := range side {
			side[i] = side[i] || r.IntN(2) == 0
		}
		w.split(func(from, to int) bool { return side[from] != side[to] }, w.between(0, 30*time.Second), fmt.Sprint("split ", side))
		var all, other []int
		var speakers []*simNode
		for i, n := range w.nodes {
			n.start()
			all = append(all, i)
			if side[i] {
				speakers = append(speakers, n)
			} else {
				other = append(other, i)
			}
		}
		w.disturbLinks(r, 40*time.Second, all)
		for _, i := range other {
			for range 1 + r.IntN(4) {
				w.after(w.between(0, 30*time.Second), func() { _ = speakers[r.IntN(len(speakers))].without(w.address(i)) })
			}
		}
		w.run(80 * time.Second)
		history := strings.Join(w.log, "\n")
		require.Equal(t, 1, w.foundings(), "seed %d, %d seeds, told %v\n%s", seed, seeds, side, history)
		if strings.Contains(history, "an operator has said") {
			founded++
		}
		w.heal()
		w.run(time.Minute)
		w.requireOneCluster(t, seed)
	}
	heard := histories / 4
	if histories >= 80 {
		heard = histories / 2
	}
	require.Greater(t, founded, int(heard), "the word was heard")
}

// With many members and few seeds, all remaining nodes have to answer at once.
func TestALargeClusterIsFoundedAgainWithoutItsLostMajority(t *testing.T) {
	left := effort.Of(5, 8, 20)
	size := 2*left + 1
	w := newWorld(t, 1, size)
	w.tune = func(set *Settings) { set.Seeds = set.Seeds[:3] }
	for _, n := range w.nodes {
		n.start()
	}
	w.run(40 * time.Second)
	w.checkOneCluster()
	var gone []string
	for i := range left + 1 {
		lost := (size - i) % size // the first seed, and the last nodes
		gone = append(gone, w.address(lost))
		w.nodes[lost].stop(false)
	}
	w.run(time.Minute)
	require.Equal(t, left, w.seekers())
	require.NoError(t, w.nodes[left/2].without(gone...))
	w.run(time.Minute)
	require.Zero(t, w.seekers(), "%s", w.nodes[1].shown.Waiting())
	w.heal()
	w.run(time.Minute)
	w.checkOneCluster()
}
