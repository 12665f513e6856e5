package placement

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/appversion"
	"github.com/understudy-go/understudy/internal/guard"
)

// A Decision says where an actor was placed, and why.
type Decision struct {
	_        struct{} `cbor:",toarray"`
	Label    string   // of the spec
	Node     string   // the name of the node
	Strategy string   // the name of the strategy that chose
	Score    float64  // of the node, by the strategy
}

// String returns the decision as text.
func (d Decision) String() string {
	return fmt.Sprintf("%s on %s (%s, %.2f)", d.Label, d.Node, d.Strategy, d.Score)
}

// A Candidate is a node that was considered for an actor.
type Candidate struct {
	_     struct{} `cbor:",toarray"`
	Node  string   // its name
	Score float64  // by the strategy; 0 if a filter has removed the node
	Why   string   // the filter that has removed the node; "" if it is eligible
}

// The filters, in the order in which they are applied.
const (
	filterDown        = "not up"
	filterNotReady    = "without placement"
	filterUnreachable = "unreachable"
	filterDraining    = "draining"
	filterRequired    = "RequiredNode"
	filterRoles       = "Roles"
	filterMeta        = "Meta"
	filterAffinity    = "AntiAffinity"
	filterColocation  = "ColocateWith"
	filterStrategy    = "strategy"
)

// refuses returns the filter that removes n as a node for s, or "" if n is eligible. beside are the
// labels that must not be on the same node: those that s avoids, and those that avoid s.
func refuses(n home.Node, s Spec, beside []string) string {
	switch {
	case !n.Up:
		return filterDown
	case !n.Ready:
		return filterNotReady
	case !n.Reachable:
		return filterUnreachable
	case n.Draining:
		return filterDraining
	}
	return violates(n, s.Constraints, beside)
}

// violates returns the constraint that n does not meet, or "".
func violates(n home.Node, c Constraints, beside []string) string {
	switch {
	case c.RequiredNode != "" && c.RequiredNode != n.Name:
		return filterRequired
	case len(c.Roles) > 0 && !slices.ContainsFunc(c.Roles, n.HasRole):
		return filterRoles
	case !hasMeta(n, c.Meta):
		return filterMeta
	case slices.ContainsFunc(beside, n.Runs):
		return filterAffinity
	case c.ColocateWith != "" && !home.Keeps(n, c.ColocateWith):
		return filterColocation
	}
	return ""
}

func hasMeta(n home.Node, all map[string]string) bool {
	for key, value := range all {
		if has, ok := n.Meta[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// consider rates each node of v for s.
func consider(s Spec, v home.View, beside []string, by Strategy) (all []Candidate, err error) {
	if panicked := guard.Apart(func() { all = rate(s, v, beside, by) }); panicked != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrStrategy, nameOf(by), panicked)
	}
	return all, nil
}

func rate(s Spec, v home.View, beside []string, by Strategy) (all []Candidate) {
	for _, n := range v.Nodes {
		c := Candidate{Node: n.Name, Why: refuses(n, s, beside)}
		if c.Why == "" {
			c.Score = by.Score(n, s, v)
			if !(c.Score > 0) { // also for NaN
				c.Why = filterStrategy
			}
			if math.IsNaN(c.Score) {
				c.Score = 0 // NaN cannot be compared
			}
		}
		all = append(all, c)
	}
	return all
}

// choose returns the node with the highest score among those with the newest version of the
// application. It chooses a node in avoid only if there is no other. Strategies that name a node
// choose among all versions: an actor that was placed elsewhere would not return.
func choose(s Spec, v home.View, beside []string, by Strategy, avoid ...string) (Decision, error) {
	all, err := consider(s, v, beside, by)
	if err != nil {
		return Decision{}, err
	}
	best, found := Candidate{}, false
	newest := ""
	if named, ok := by.(namedStrategy); !ok || !named.anyVersion {
		newest = newestVersion(v, all, avoid)
	}
	bestRank := 0
	for i, c := range all {
		if c.Why != "" {
			continue
		}
		rank := rankOf(v.Nodes[i], newest, avoid)
		if !found || cmp.Or(cmp.Compare(bestRank, rank), cmp.Compare(c.Score, best.Score)) > 0 {
			best, bestRank, found = c, rank, true
		}
	}
	if !found {
		return Decision{}, noEligible(s.Label, all)
	}
	return Decision{Label: s.Label, Node: best.Node, Strategy: nameOf(by), Score: best.Score}, nil
}

// newestVersion returns the newest version of the application among the nodes of v that are
// eligible and not in avoid; "" if no version can be compared. all has a candidate for each node.
func newestVersion(v home.View, all []Candidate, avoid []string) (newest string) {
	for i, c := range all {
		if c.Why == "" && !slices.Contains(avoid, c.Node) && appversion.Newer(v.Nodes[i].AppVersion, newest) {
			newest = v.Nodes[i].AppVersion
		}
	}
	return newest
}

// rankOf says how well a node suits before scores count: 0 is best, a node with an older version
// than newest comes next, and the nodes in avoid come last.
func rankOf(n home.Node, newest string, avoid []string) int {
	switch {
	case slices.Contains(avoid, n.Name):
		return 2
	case appversion.Compare(n.AppVersion, newest) < 0:
		return 1
	}
	return 0
}

// nameOf returns the name of a strategy, or its type if Name panics.
func nameOf(by Strategy) (name string) {
	if guard.Apart(func() { name = by.Name() }) != nil {
		return fmt.Sprintf("%T", by)
	}
	return name
}

// A Strategy chooses among the nodes that the constraints of an actor allow. Its methods are called
// one at a time. They must not block. They must not call runtime.Goexit, as t.FailNow does, because
// that ends the coordinator.
type Strategy interface {
	// Name is used in decisions and errors.
	Name() string

	// Score says how well a node suits an actor. Among the nodes with the newest version of the
	// application, the node with the highest score is chosen; if scores are equal, the node whose
	// name comes first. A score of zero, below zero or NaN excludes the node. Score must not change
	// its arguments. If it panics, a submission fails, and the placement of an existing actor is
	// retried later.
	Score(n Node, s Spec, v View) float64
}

// A StrategyFunc makes a [Strategy] of a function. Its name is "func".
type StrategyFunc func(n Node, s Spec, v View) float64

// Name implements [Strategy].
func (StrategyFunc) Name() string { return "func" }

// Score implements [Strategy].
func (f StrategyFunc) Score(n Node, s Spec, v View) float64 { return f(n, s, v) }

type namedStrategy struct {
	StrategyFunc
	name       string
	anyVersion bool // it chooses among nodes of all versions of the application
}

func (s namedStrategy) Name() string { return s.name }

// LeastLoaded prefers the node that runs the fewest actors, counting those on their way there.
func LeastLoaded() Strategy {
	return namedStrategy{name: "LeastLoaded", StrategyFunc: func(n Node, _ Spec, _ View) float64 {
		return 1 / float64(len(n.Actors)+1)
	}}
}

// Pinned prefers the node of that name, whatever its version of the application. While that node is
// not eligible, Pinned chooses any other. To allow no other node, use [Constraints.RequiredNode].
func Pinned(node string) Strategy {
	return namedStrategy{name: "Pinned", anyVersion: true, StrategyFunc: func(n Node, _ Spec, _ View) float64 {
		if n.Name == node {
			return 1000
		}
		return 1
	}}
}

// Random chooses any eligible node with equal probability. The same seed makes the same choices
// among the same nodes.
func Random(seed uint64) Strategy {
	var mu sync.Mutex // guards rng
	rng := rand.New(rand.NewPCG(seed, 0))
	return namedStrategy{name: "Random", StrategyFunc: func(Node, Spec, View) float64 {
		mu.Lock()
		defer mu.Unlock()
		return 1 - rng.Float64() // above zero
	}}
}
