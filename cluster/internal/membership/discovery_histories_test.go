package membership

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

func TestACutOfAnHourHeals(t *testing.T) {
	w := newWorld(t, 1, 3)
	for _, n := range w.nodes {
		n.start()
	}
	w.run(5 * time.Second)
	w.split(func(from, to int) bool { return from == 0 || to == 0 }, time.Hour, "n1 is cut off")
	w.run(time.Hour)
	require.Equal(t, phaseJoining, w.nodes[0].machine.phase)
	w.run(8 * time.Second)
	w.checkOneCluster()
}

// If discovery is late, wrong and broken for a while, two clusters may be founded, but they
// merge.
func TestRandomHistoriesOfDiscoveryEndInOneCluster(t *testing.T) {
	for i := range effort.Count[uint64](1, 1, 20) {
		simulateDiscovery(t, *firstSeed+i)
	}
}

func simulateDiscovery(t *testing.T, seed uint64) {
	size := 3 + 2*int(seed%3)
	w := newWorld(t, seed, size)
	w.note("seed %d, %d nodes, discovery", seed, size)
	need := 1 + w.random.IntN(size/2+1)
	w.tune = func(set *Settings) { set.Seeds, set.Discovers, set.MinSeeds = nil, true, need }
	r := newRegistry(w)
	w.finds = r.finds
	for _, n := range w.nodes {
		w.after(w.between(0, 20*time.Second), n.start)
	}
	w.run(30 * time.Second)
	for _, f := range draw(seed, size, int(seed%6)).faults {
		w.apply(f)
		w.run(f.then)
	}
	w.run(20 * time.Second)
	w.heal()
	w.run(30 * time.Second)
	w.heal()
	r.honest = true
	w.run(vanishAfter + discoverSeldom + 30*time.Second)
	w.checkOneCluster()
}

// A registry is what discovery queries in a world.
type registry struct {
	world  *world
	delays map[[2]int]time.Duration // how long until a node finds another one that has started
	began  map[int]time.Time
	seen   map[int]time.Time // when a node ran last
	ghost  string            // an address that never has a node; it is found for a while
	honest bool              // answer correctly from now on
}

func newRegistry(w *world) *registry {
	r := &registry{world: w, delays: map[[2]int]time.Duration{}, began: map[int]time.Time{}, seen: map[int]time.Time{}}
	for i := range w.nodes {
		for j := range w.nodes {
			r.delays[[2]int{i, j}] = w.between(0, 30*time.Second)
		}
		r.delays[[2]int{i, i}] = w.between(0, time.Second)
	}
	r.ghost = []string{"", "a:1", "z:1"}[w.random.IntN(3)]
	return r
}

func (r *registry) finds(node int) (addresses []string, failed bool) {
	w := r.world
	for i, n := range w.nodes {
		if n.machine != nil {
			r.seen[i] = w.now
			if r.began[i].IsZero() {
				r.began[i] = w.now
			}
		}
		if r.shows(node, i) {
			addresses = append(addresses, w.address(i))
		}
	}
	if r.honest {
		return addresses, false
	}
	if r.ghost != "" && w.now.Sub(w.begin) < 40*time.Second {
		addresses = append(addresses, r.ghost)
	}
	if len(addresses) > 0 && w.random.IntN(20) == 0 {
		i := w.random.IntN(len(addresses))
		addresses = slices.Delete(addresses, i, i+1)
	}
	return addresses, w.random.IntN(10) == 0
}

// shows reports whether one node finds another: from some time after the other has started,
// until some time after it has ended.
func (r *registry) shows(node, other int) bool {
	began, ever := r.began[other]
	switch {
	case !ever:
		return false
	case r.honest:
		return r.world.nodes[other].machine != nil
	}
	return r.world.now.Sub(began) >= r.delays[[2]int{node, other}] && r.world.now.Sub(r.seen[other]) < 30*time.Second
}
