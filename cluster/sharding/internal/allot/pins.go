package allot

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// pinnedBy is the name of the strategy that chooses the nodes of pinned shards.
const pinnedBy = "Pinned"

// pin pins shards to a node, or ends their pins. A pinned shard runs on the node of that name
// whenever that can host it. It goes there at once, and stays.
func pin(s *shards, in SetPins) {
	all, err := numbered(s, in.Type, in.Shards)
	for _, sh := range all {
		if sh.Pin != in.Node {
			sh.Pin = in.Node
			r, _ := s.nodes.Record(ofShard + sh.label) // of a shard without a home it has the last one
			r.Pin = in.Node
			s.nodes.Put(ofShard+sh.label, &r)
			s.nodes.Touch(sh.label)
		}
	}
	s.nodes.Reply(in.Token, nil, err)
}

// ErrUnknown is wrapped by the errors of requests about shards of a type that no node has announced
// to the coordinator yet.
var ErrUnknown = errors.New("the coordinator has not heard of the type yet")

// numbered returns shards of a type by their numbers, or all of them or none.
func numbered(s *shards, typ string, numbers []int) (all []*shard, err error) {
	if s.kinds[typ] == nil && len(numbers) > 0 {
		return nil, fmt.Errorf("sharding: type %q: %w", typ, ErrUnknown)
	}
	for _, n := range numbers {
		sh := s.of(Label(typ, n))
		if sh == nil || n >= sh.typ.Shards {
			return nil, fmt.Errorf("sharding: the coordinator knows no shard %d of type %q", n, typ)
		}
		all = append(all, sh)
	}
	return all, nil
}

// Pins returns the names of the nodes to which shards of a type are pinned.
func (m *Machine) Pins(typ string) map[int]string {
	all := map[int]string{}
	if k := m.shards.kinds[typ]; k != nil {
		for _, sh := range k.live() {
			if sh.Pin != "" {
				all[sh.number] = sh.Pin
			}
		}
	}
	return all
}

// pinnedHost returns the node to which a shard is pinned, if that can host it, whatever its version
// of the application.
func (c *chooser) pinnedHost(sh *shard) (n home.Node, ok bool) {
	if sh.Pin == "" {
		return n, false
	}
	n, member := c.nodes.Member(sh.Pin)
	return n, member && n.Alive() && c.offers.canHost(n, sh.typ)
}

// isAway reports whether a shard that runs is to go where it is pinned to. A shard on a node that
// is merely unreachable stays: it could not be stopped there.
func (c *chooser) isAway(sh *shard) bool {
	if sh.stage != settled || sh.Node == sh.Pin {
		return false
	}
	_, ready := c.pinnedHost(sh)
	at, known := c.nodes.Node(sh.On())
	return ready && known && at.Reachable
}

// whyAway says why a pinned shard does not run where it is pinned to.
func (c *chooser) whyAway(sh *shard) string {
	why := "which can host it: it is about to go there"
	n, member := c.nodes.Member(sh.Pin)
	switch _, ready := c.pinnedHost(sh); {
	case ready && sh.stage == settled && !c.isAway(sh):
		why = fmt.Sprintf("but %s, where it runs, is unreachable", sh.Node)
	case ready:
	case !member:
		why = "which is no member"
	case !n.Up:
		why = "which is not up"
	case !n.Reachable:
		why = "which is unreachable"
	case n.Draining:
		why = "which is being drained"
	case !n.Ready:
		why = "which has not said yet what it runs"
	default:
		why = "which does not host the type"
	}
	return fmt.Sprintf("it is pinned to %s, %s", sh.Pin, why)
}
