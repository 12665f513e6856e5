package clustertest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit"
)

// An Invariant is something that must hold in every [Round]. A nil function holds.
type Invariant struct {
	Name    string
	Always  func(*Round) error // at all times; looked at four times in a second
	Finally func(*Round) error // when all is over, and the nodes are one cluster again
}

// calmAfter is when what a fault has stirred up has settled: detection, downing, and a new
// start of those who were given up.
const calmAfter = 25 * time.Second

// OneLeaderPerSide says that nodes that are connected name one leader, as soon as no fault
// has begun or ended for a while. It looks at sides within which every node reaches every
// other.
func OneLeaderPerSide() Invariant {
	return Invariant{Name: "one leader per connected side", Always: func(r *Round) error {
		if r.Calm() < calmAfter {
			return nil
		}
		for _, side := range r.sides() {
			var leaders []string
			for _, n := range side {
				if m, ok := n.View().Leader(); ok {
					leaders = append(leaders, m.ID().String())
				}
			}
			slices.Sort(leaders)
			if leaders = slices.Compact(leaders); len(leaders) > 1 {
				return fmt.Errorf("%s are led by %s\n%s", names(side), strings.Join(leaders, " and "), r.describe())
			}
		}
		return nil
	}}
}

// MajoritySurvives says that of a whole cluster that falls apart the side with more than
// half of the nodes goes on, which downing.KeepMajority promises.
func MajoritySurvives() Invariant {
	return Invariant{Name: "a majority survives", Always: func(r *Round) error {
		if r.Calm() < calmAfter || r.whole == 0 || r.Afflicted(Delay) {
			return nil
		}
		for _, side := range r.sides() {
			if 2*len(side) <= r.whole {
				continue
			}
			for _, n := range side {
				v := n.View()
				for _, other := range side {
					if m, ok := v.Member(other.View().Self.Name); !ok || m.Status != cluster.Up || !v.Reachable(m) {
						return fmt.Errorf("%s were most of %d nodes, but %s does not see %s up:\n%s",
							names(side), r.whole, v.Self.Name, other.View().Self.Name, r.describe())
					}
				}
			}
		}
		return nil
	}}
}

// AtMostOneRunning says that of what is counted there is never more than one. No cluster can
// promise that of a singleton whose node is cut off or asleep for longer than the margin;
// it stops its instance as soon as it notices.
func AtMostOneRunning(census *testkit.Census) Invariant {
	return Invariant{Name: "at most one runs", Always: func(*Round) error {
		if peak := census.Peak(); peak > 1 {
			return fmt.Errorf("there were %d at once:\n%s", peak, census)
		}
		return nil
	}}
}

// OneRunsFinally says that in the end there is exactly one of what is counted.
func OneRunsFinally(census *testkit.Census) Invariant {
	return Invariant{Name: "exactly one runs in the end", Finally: func(*Round) error {
		if running := census.Running(); running != 1 {
			return fmt.Errorf("there are %d:\n%s", running, census)
		}
		return nil
	}}
}

func names(side []*cluster.Node) string {
	var all []string
	for _, n := range side {
		all = append(all, n.View().Self.Name)
	}
	return strings.Join(all, ",")
}

// sides returns the groups of nodes that reach each other, both ways. Those in which not
// everybody reaches everybody are left out.
func (r *Round) sides() (sides [][]*cluster.Node) {
	left := r.Nodes()
	for len(left) > 0 {
		side, rest := r.reachedFrom(left[0], left[1:])
		left = rest
		if r.meshed(side) {
			sides = append(sides, side)
		}
	}
	return sides
}

// reachedFrom parts nodes into those to which some path leads from first, and the rest.
func (r *Round) reachedFrom(first *cluster.Node, nodes []*cluster.Node) (side, rest []*cluster.Node) {
	side, rest = []*cluster.Node{first}, nodes
	for i := 0; i < len(side); i++ {
		var far []*cluster.Node
		for _, n := range rest {
			if r.open(side[i], n) || r.open(n, side[i]) {
				side = append(side, n)
			} else {
				far = append(far, n)
			}
		}
		rest = far
	}
	return side, rest
}

func (r *Round) meshed(side []*cluster.Node) bool {
	for _, a := range side {
		for _, b := range side {
			if a != b && !r.open(a, b) {
				return false
			}
		}
	}
	return true
}

func (r *Round) open(from, to *cluster.Node) bool {
	return r.net.Open(hostOf(from), hostOf(to))
}

// hostOf is the name of the node, as that is also its host.
func hostOf(n *cluster.Node) string {
	host, _, _ := strings.Cut(n.View().Self.Address, ":")
	return host
}
