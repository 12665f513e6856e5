package clustertest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit"
)

// An Invariant is a property that must hold in every [Round]. A nil function always holds.
type Invariant struct {
	Name    string
	Always  func(*Round) error // at all times; looked at four times in a second
	Finally func(*Round) error // when all is over, and the nodes are one cluster again
}

// When the effects of a fault are over: detection, downing, and restarts of nodes that were downed.
const calmAfter = 25 * time.Second

// OneLeaderPerSide requires that connected nodes agree on one leader once no fault has begun or
// ended for a while. It checks groups of nodes that can all reach each other.
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

// MajoritySurvives requires that if a whole cluster is partitioned, the side with more than half
// of the nodes survives, as downing.KeepMajority promises.
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

// AtMostOneRunning requires that at most one counted instance runs at any time. No cluster can
// guarantee that for a singleton whose node is partitioned or paused for longer than the margin;
// such a node stops its instance as soon as it notices.
func AtMostOneRunning(census *testkit.Census) Invariant {
	return Invariant{Name: "at most one runs", Always: func(*Round) error {
		if peak := census.Peak(); peak > 1 {
			return fmt.Errorf("there were %d at once:\n%s", peak, census)
		}
		return nil
	}}
}

// OneRunsFinally requires that exactly one counted instance runs in the end.
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

// The nodes of a side can all reach each other, both ways. Other groups are left out.
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

// Some path connects each node of side with first.
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

// The name of a node is also the name of its host.
func hostOf(n *cluster.Node) string {
	host, _, _ := strings.Cut(n.View().Self.Address, ":")
	return host
}
