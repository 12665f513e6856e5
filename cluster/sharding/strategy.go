package sharding

import (
	"errors"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/internal/guard"
)

// WithStrategy lets s choose the nodes of the shards of the type, in place of the default, which
// chooses the node with the fewest of them. A strategy of package placement serves both: of the
// spec it gets, Type is the name of the type, and Label adds a slash and the number of the shard.
// The view has the shards of all types in Actors of the nodes; the shard that is to be rated is in
// none, also when it runs.
//
// s is asked about a shard that has no home: the node with the highest score that can host it gets
// it. It is also asked from time to time about the shards that run, under the conditions in the
// package documentation. A shard moves if another node has a higher score than its own. So a
// strategy whose scores change without a reason moves shards for ever.
//
// If s panics, or gives no node that can host the shard a score above zero, the default chooses.
// The log and [Region.Explain] say so.
//
// The coordinator's node asks its own strategy, so all nodes should have the same. It must not
// block: the coordinator waits for it.
func WithStrategy(s placement.Strategy) Option {
	return func(set *settings) {
		if s == nil {
			set.wrong = errors.New("sharding: WithStrategy got nil; give it a strategy of placement, or leave it out")
		}
		set.strategy = s
	}
}

// strategyOf returns the strategy of the type; ok is false for the default.
func (s settings) strategyOf() (own allot.Strategy, ok bool) {
	chosen := s.strategy
	if chosen == nil {
		return own, false
	}
	name, err := guard.Value(chosen.Name)
	if err != nil {
		name = "without a name"
	}
	return allot.Strategy{Name: name, Score: func(n home.Node, label, typ string, v home.View) float64 {
		return chosen.Score(n, placement.Spec{Label: label, Type: typ}, v)
	}}, true
}

// strategyOf returns the strategy of a type that this node has started.
func (h *hub) strategyOf(typ string) (own allot.Strategy, ok bool) {
	if r := h.region(typ); r != nil {
		return r.settings().strategyOf()
	}
	return own, false
}
