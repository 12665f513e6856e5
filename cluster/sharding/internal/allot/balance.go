package allot

import "slices"

// A load is how many shards of a type a node has.
type load struct {
	node   string
	shards int
}

// excess returns how many shards each node should give away so that the numbers differ by at most
// one, the most loaded first, and no more than limit in all. It returns nothing once the numbers
// differ by at most one: balancing ends.
func excess(all []load, limit int) []load {
	all = slices.Clone(all)
	var gives []load
	for range limit {
		most, least := 0, 0
		for i, l := range all {
			if l.shards > all[most].shards {
				most = i
			}
			if l.shards < all[least].shards {
				least = i
			}
		}
		if len(all) == 0 || all[most].shards-all[least].shards < 2 {
			break
		}
		all[most].shards--
		all[least].shards++
		at := slices.IndexFunc(gives, func(l load) bool { return l.node == all[most].node })
		if at < 0 {
			gives = append(gives, load{node: all[most].node})
			at = len(gives) - 1
		}
		gives[at].shards++
	}
	return gives
}
