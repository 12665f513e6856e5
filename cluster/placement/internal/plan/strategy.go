package plan

import (
	"math/rand/v2"
	"sync"
)

// A Strategy decides which of the nodes that are eligible an actor is placed on. Its
// methods are called one at a time, and must neither block nor call runtime.Goexit, as
// t.FailNow does: that ends the coordinator.
type Strategy interface {
	// Name is shown to people.
	Name() string

	// Score says how well a node suits an actor: the highest wins, of equal ones the node
	// whose name comes first. Zero, less, and NaN mean: not there. It must not change what
	// it is given. When it panics, the submission fails; what is being placed anew is tried
	// again later.
	Score(n Node, s Spec, v View) float64
}

// A StrategyFunc is a [Strategy] without a name.
type StrategyFunc func(n Node, s Spec, v View) float64

// Name implements [Strategy].
func (StrategyFunc) Name() string { return "func" }

// Score implements [Strategy].
func (f StrategyFunc) Score(n Node, s Spec, v View) float64 { return f(n, s, v) }

type namedStrategy struct {
	StrategyFunc
	name string
}

func (s namedStrategy) Name() string { return s.name }

// LeastLoaded prefers the node that runs the fewest actors. What is on its way there
// counts.
func LeastLoaded() Strategy {
	return namedStrategy{name: "LeastLoaded", StrategyFunc: func(n Node, _ Spec, _ View) float64 {
		return 1 / float64(len(n.Actors)+1)
	}}
}

// Pinned prefers the node of that name, and takes any other while it cannot be had. To
// take no other there is [Constraints.RequiredNode].
func Pinned(node string) Strategy {
	return namedStrategy{name: "Pinned", StrategyFunc: func(n Node, _ Spec, _ View) float64 {
		if n.Name == node {
			return 1000
		}
		return 1
	}}
}

// Random chooses any eligible node, each as likely as the others. The same seed makes the
// same choices of the same nodes.
func Random(seed uint64) Strategy {
	var mu sync.Mutex // guards rng
	rng := rand.New(rand.NewPCG(seed, 0))
	return namedStrategy{name: "Random", StrategyFunc: func(Node, Spec, View) float64 {
		mu.Lock()
		defer mu.Unlock()
		return 1 - rng.Float64() // above zero
	}}
}
