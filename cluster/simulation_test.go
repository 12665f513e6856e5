package cluster

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// checkStatuses: within what one process knows, no member ever goes back.
func (n *simNode) checkStatuses(m *machine) {
	if m.version == n.version {
		return
	}
	n.version = m.version
	if m.phase != member {
		clear(n.statuses)
		return
	}
	for id, before := range n.statuses {
		if now := m.table.status(id); now < before {
			n.world.fail("n%d sees %v go from %v back to %v", n.index+1, id, before, now)
		}
	}
	for id := range m.table.members {
		n.statuses[id] = m.table.status(id)
	}
	for id := range m.table.tombs {
		n.statuses[id] = Removed
	}
}

// checkLeaders: nodes that see each other up and all members agreed have one leader, and
// no two members have one number.
func (w *world) checkLeaders() {
	leaders := map[string]ID{}
	for _, n := range w.nodes {
		if n.machine == nil || n.machine.phase != member {
			continue
		}
		v := n.shown
		leader, ok := v.Leader()
		if !v.Converged || v.Self.Status != Up || !ok {
			continue
		}
		key := fmt.Sprint(n.machine.table.cluster, n.machine.sums.members)
		if other, known := leaders[key]; known && other != leader.ID() {
			w.fail("two leaders, %v and %v, in one view", other, leader.ID())
		}
		leaders[key] = leader.ID()
		numbers := map[uint64]ID{}
		for _, m := range v.Members {
			if other, taken := numbers[m.UpNumber]; taken && m.UpNumber > 0 {
				w.fail("%v and %v have the number %d", other, m.ID(), m.UpNumber)
			}
			numbers[m.UpNumber] = m.ID()
		}
	}
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.note(format, args...)
	require.Fail(w.t, fmt.Sprintf(format, args...), "history:\n%s", strings.Join(w.log, "\n"))
}

// checkOneCluster: all processes are up in one cluster, and know the same.
func (w *world) checkOneCluster() {
	w.t.Helper()
	first := w.nodes[0].machine
	for _, n := range w.nodes {
		m := n.machine
		switch {
		case m == nil || m.phase != member:
			w.fail("n%d is no member", n.index+1)
		case m.table.cluster != first.table.cluster:
			w.fail("n%d is in another cluster than n1", n.index+1)
		case m.sums != first.sums:
			w.fail("n%d does not know what n1 knows:\n%+v\n%+v", n.index+1, m.table.pack(), first.table.pack())
		}
		v := n.shown
		if v.Self.Status != Up || len(v.Members) != len(w.nodes) || !v.Converged || len(v.Unreachable()) > 0 {
			w.fail("n%d sees %d members, is %v, converged: %v", n.index+1, len(v.Members), v.Self.Status, v.Converged)
		}
	}
}

// between draws a duration.
func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.random.Int64N(int64(high-low)))
}

// fault makes something go wrong.
func (w *world) fault() {
	n := w.nodes[w.random.IntN(len(w.nodes))]
	switch w.random.IntN(7) {
	case 0, 1:
		side := map[int]bool{}
		for i := range w.nodes {
			side[i] = w.random.IntN(2) == 0
		}
		w.split(func(from, to int) bool { return side[from] != side[to] }, w.between(time.Second/2, 40*time.Second), fmt.Sprint("split ", side))
	case 2:
		oneWay := w.random.IntN(2) == 0
		w.split(func(from, to int) bool {
			return from == n.index || to == n.index && !oneWay
		}, w.between(time.Second/2, 30*time.Second), fmt.Sprintf("n%d is cut off, one way: %v", n.index+1, oneWay))
	case 3, 4:
		n.stop(w.random.IntN(5) > 0)
		w.after(w.between(time.Second/10, 20*time.Second), func() {
			if n.machine == nil {
				n.start()
			}
		})
	case 5:
		n.pause(w.between(time.Second/10, 12*time.Second))
	case 6:
		if n.machine == nil {
			return
		}
		w.note("n%d leaves", n.index+1)
		n.occur(func() { n.step(leaveAsked{}) })
		w.after(w.between(3*time.Second, 10*time.Second), func() {
			if n.machine == nil {
				n.start()
			}
		})
	}
}

// split cuts links for a while.
func (w *world) split(cut func(from, to int) bool, d time.Duration, what string) {
	w.note("%s for %v", what, d)
	var links [][2]int
	for i := range w.nodes {
		for j := range w.nodes {
			if i != j && cut(i, j) {
				links = append(links, [2]int{i, j})
				w.cuts[[2]int{i, j}] = true
			}
		}
	}
	w.after(d, func() {
		w.note("healed: %s", what)
		for _, l := range links {
			delete(w.cuts, l)
		}
	})
}

// heal ends all faults, and starts what does not run.
func (w *world) heal() {
	w.note("all is well from now on")
	clear(w.cuts)
	w.loss = 0
	for _, n := range w.nodes {
		if n.machine == nil {
			n.start()
		}
	}
}

func simulate(t *testing.T, seed uint64, size, faults int, tune func(*rules)) {
	w := newWorld(t, seed, size)
	w.tune = tune
	w.note("seed %d, %d nodes", seed, size)
	for _, n := range w.nodes {
		w.after(w.between(0, 5*time.Second), n.start)
	}
	w.run(15 * time.Second)
	w.checkOneCluster()
	if w.random.IntN(2) == 0 {
		w.loss = w.random.Float64() * 0.2
	}
	for range faults {
		w.fault()
		w.run(w.between(0, 15*time.Second))
	}
	w.run(20 * time.Second)
	w.heal()
	w.run(30 * time.Second)
	w.heal() // who was about to leave has done so
	w.run(30 * time.Second)
	w.checkOneCluster()
}

var (
	histories = flag.Uint64("histories", 2, "how many random histories to simulate")
	merges    = flag.Int("merges", 1_000, "how many random pairs and triples of tables to merge")
	firstSeed = flag.Uint64("seed", 0, "the seed of the first of them")
)

func TestRandomHistoriesEndInOneCluster(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+*histories; seed++ {
		simulate(t, seed, 3+2*int(seed%3), 1+int(seed%8), func(set *rules) {
			if seed%4 == 3 {
				set.election = LowestAddress()
			}
		})
	}
}

// Here two nodes found a cluster each, whenever they start, and must find each other.
func TestRandomHistoriesOfIslandsEndInOneCluster(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+*histories; seed++ {
		simulate(t, seed, 3+2*int(seed%3), int(seed%5), func(set *rules) {
			if set.self.Name == "n1" || set.self.Name == "n2" {
				set.seeds = []string{set.self.Address}
			}
		})
	}
}

func TestAHistoryCanBeReplayed(t *testing.T) {
	tell := func() []string {
		w := newWorld(t, 5, 5)
		for _, n := range w.nodes {
			n.start()
		}
		for range 5 {
			w.fault()
			w.run(10 * time.Second)
		}
		return w.log
	}
	first, second := tell(), tell()
	require.Equal(t, first, second)
}
