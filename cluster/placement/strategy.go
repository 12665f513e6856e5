package placement

import (
	"math/rand/v2"
	"sync"
)

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
