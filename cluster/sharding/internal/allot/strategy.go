package allot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/appversion"
	"github.com/understudy-go/understudy/internal/guard"
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

// A chooser chooses the nodes of shards.
type chooser struct {
	cfg    Config
	nodes  *home.Nodes
	offers offers
	heard  map[home.NodeID]time.Time // when each node has last said what it offers
}

// hosts returns the nodes that can take a shard of a type: of those with the newest version of the
// application, if others are older.
func (c *chooser) hosts(k *kind) (all []home.Node) {
	newest := ""
	for _, n := range c.nodes.View().Alive() {
		if c.offers.canHost(n, k) {
			all = append(all, n)
			if appversion.Newer(n.AppVersion, newest) {
				newest = n.AppVersion
			}
		}
	}
	return slices.DeleteFunc(all, func(n home.Node) bool { return appversion.Compare(n.AppVersion, newest) < 0 })
}

func (c *chooser) hasHost(k *kind) bool { return len(c.hosts(k)) > 0 }

// strategyOf returns the user's strategy for a type.
func (c *chooser) strategyOf(k *kind) (own Strategy, ok bool) {
	if c.cfg.Strategy == nil {
		return own, false
	}
	return c.cfg.Strategy(k.Name)
}

// choose returns the node for a shard that runs nowhere, and the name of the strategy that has
// chosen it.
func (c *chooser) choose(sh *shard) (best home.Node, by string, ok bool) {
	if n, ok := c.pinnedHost(sh); ok {
		return n, pinnedBy, true
	}
	all := c.hosts(sh.typ)
	if len(all) == 0 {
		return best, "", false
	}
	if own, ok := c.strategyOf(sh.typ); ok {
		var scores map[string]float64
		err := guard.Apart(func() { scores = own.rate(sh, all, without(c.nodes.View(), sh.label)) })
		if top := highest(all, scores); err == nil && len(top) > 0 {
			c.strategyWorks(sh.typ, own, nil)
			return c.fewestShards(sh.typ, top), own.Name, true
		}
		c.strategyWorks(sh.typ, own, cmp.Or(err, errNoScore))
	}
	return c.fewestShards(sh.typ, all), leastShards, true
}

var errNoScore = errors.New("it gives no node that can host the shard a score above zero")

// strategyWorks notes whether the user's strategy for a type has chosen.
func (c *chooser) strategyWorks(k *kind, own Strategy, problem error) {
	text := ""
	if problem != nil {
		text = fmt.Sprintf("strategy %s has failed, and %s is used: %v", own.Name, leastShards, problem)
	}
	if text != "" && text != k.strategyProblem {
		c.nodes.Emit(StrategyFailed{Type: k.Name, Strategy: own.Name, Why: problem.Error()})
	}
	k.strategyProblem = text
}

// fewestShards returns the node that has the fewest shards of the type, or else the fewest of all
// types.
func (c *chooser) fewestShards(k *kind, all []home.Node) home.Node {
	loads := k.loads()
	return slices.MinFunc(all, func(a, b home.Node) int {
		return cmp.Or(cmp.Compare(loads[home.IDOf(a)], loads[home.IDOf(b)]), cmp.Compare(len(a.Actors), len(b.Actors)), cmp.Compare(a.Name, b.Name))
	})
}

// vacant returns the shards of a type that may move, and whose node has said since it has them that
// they have no entities.
func (c *chooser) vacant(k *kind) []*shard {
	return slices.DeleteFunc(c.movable(k), func(sh *shard) bool {
		return c.offers[sh.On()][k.Name].Awake[sh.number] > 0 || !sh.since.Before(c.heard[sh.On()])
	})
}

// movable returns the shards of a type that may move to balance the nodes: those with the fewest
// entities awake first, and none that is where it has been pinned to.
func (c *chooser) movable(k *kind) (all []*shard) {
	awake := map[*shard]int{}
	for _, sh := range k.live() {
		if sh.stage == settled && sh.Node != sh.Pin {
			all = append(all, sh)
			awake[sh] = c.offers[sh.On()][k.Name].Awake[sh.number]
		}
	}
	slices.SortStableFunc(all, func(a, b *shard) int { return cmp.Compare(awake[a], awake[b]) })
	return all
}
