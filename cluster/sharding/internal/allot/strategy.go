package allot

import (
	"slices"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A Strategy is how a user chooses the nodes of the shards of a type.
type Strategy struct {
	Name string
	// Score says how well a node suits a shard, of which it gets the label and the type. The view
	// is as though the shard ran nowhere. It may panic.
	Score func(n home.Node, label, typ string, v home.View) float64
}

// leastShards is the name of the strategy that is used without one of the user.
const leastShards = "LeastShards"

// A StrategyFailed is an effect that asks for nothing: the strategy of a type has chosen no node,
// and LeastShards has taken its place.
type StrategyFailed struct{ Type, Strategy, Why string }

// IsEffect implements home.Effect.
func (StrategyFailed) IsEffect() {}

// rate returns the scores of some nodes, by name.
func (own Strategy) rate(sh *shard, among []home.Node, v home.View) map[string]float64 {
	scores := map[string]float64{}
	for _, n := range v.Nodes {
		if slices.ContainsFunc(among, func(o home.Node) bool { return o.Name == n.Name }) {
			scores[n.Name] = own.Score(n, sh.label, sh.typ.Name, v)
		}
	}
	return scores
}

// highest returns the nodes with the highest score, if that is above zero.
func highest(all []home.Node, scores map[string]float64) (top []home.Node) {
	best := 0.0
	for _, n := range all {
		switch score := scores[n.Name]; {
		case score > best: // NaN is above nothing
			best, top = score, []home.Node{n}
		case score == best && score > 0:
			top = append(top, n)
		}
	}
	return top
}

// improve returns the shards, of some, to which the user's strategy gives a higher score on another
// node, up to limit. Each move is considered as though those before it were over. It returns
// errNoScore if the strategy rates none of the shards.
func (own Strategy) improve(of []*shard, hosts []home.Node, v home.View, limit int) (moves []*shard, err error) {
	rated := len(of) == 0
	for _, sh := range of {
		if len(moves) == limit {
			break
		}
		apart := without(v, sh.label)
		scores := own.rate(sh, hosts, apart)
		top := highest(hosts, scores)
		rated = rated || len(top) > 0
		if len(top) == 0 || scores[sh.Node] >= scores[top[0].Name] {
			continue
		}
		moves = append(moves, sh)
		v = with(apart, top[0].Name, sh.label)
	}
	if !rated {
		return nil, errNoScore
	}
	return moves, nil
}

// without returns the view as though the actor of a label ran nowhere.
func without(v home.View, label string) home.View {
	nodes := slices.Clone(v.Nodes)
	for i, n := range nodes {
		if at, runs := slices.BinarySearch(n.Actors, label); runs {
			nodes[i].Actors = slices.Delete(slices.Clone(n.Actors), at, at+1)
		}
	}
	return home.View{Nodes: nodes}
}

// with returns the view as though the actor of a label ran on a node.
func with(v home.View, node, label string) home.View {
	nodes := slices.Clone(v.Nodes)
	for i, n := range nodes {
		if at, runs := slices.BinarySearch(n.Actors, label); n.Name == node && !runs {
			nodes[i].Actors = slices.Insert(slices.Clone(n.Actors), at, label)
		}
	}
	return home.View{Nodes: nodes}
}
