package table

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/remote"
)

// A Book is the table as the coordinator has it, with the number of each home's last change.
type Book struct {
	epoch uint64
	n     uint64
	types map[string]*pages
}

type pages struct {
	Type
	declaredAt uint64
	homes      []Home
	changedAt  []uint64
}

// NewBook returns the empty book of a coordinator.
func NewBook(epoch uint64) *Book { return &Book{epoch: epoch, types: map[string]*pages{}} }

// Declare adds a type, whose shards have no homes, or changes one. The shards keep their homes if
// there are as many as before.
func (b *Book) Declare(t Type) {
	b.n++
	if p := b.types[t.Name]; p != nil && p.sameHomes(t) {
		p.Type, p.declaredAt = t, b.n
		return
	}
	b.types[t.Name] = &pages{Type: t, declaredAt: b.n, homes: make([]Home, t.Shards), changedAt: make([]uint64, t.Shards)}
}

// Set changes the home of a shard of a declared type.
func (b *Book) Set(typ string, shard int, h Home) {
	p := b.types[typ]
	if p.homes[shard] == h {
		return
	}
	b.n++
	p.homes[shard], p.changedAt[shard] = h, b.n
}

// Version returns the version after the last change.
func (b *Book) Version() Version { return Version{Epoch: b.epoch, N: b.n} }

// Since returns the update for a node that has acknowledged a version. ok is false if there is
// nothing that the node does not have.
func (b *Book) Since(acknowledged Version) (u Update, ok bool) {
	if acknowledged.Epoch != b.epoch {
		acknowledged = Version{Epoch: b.epoch}
	}
	if acknowledged.N >= b.n {
		return u, false
	}
	u = Update{From: acknowledged, To: b.Version()}
	places := map[remote.NodeID]int{}
	for _, name := range slices.Sorted(maps.Keys(b.types)) {
		if c := b.types[name].since(acknowledged.N, places); len(c.Homes) > 0 || b.types[name].declaredAt > acknowledged.N {
			u.Types = append(u.Types, c)
		}
	}
	u.Nodes = make([]remote.NodeID, len(places))
	for id, place := range places {
		u.Nodes[place-1] = id
	}
	return u, true
}

// since returns the homes that have changed after the n-th change. places gets the nodes.
func (p *pages) since(n uint64, places map[remote.NodeID]int) Changes {
	c := Changes{Type: p.Type}
	for shard, at := range p.changedAt {
		if at <= n {
			continue
		}
		h := p.homes[shard]
		change := Change{Shard: shard, Generation: h.Generation}
		if h.Node != (remote.NodeID{}) {
			if places[h.Node] == 0 {
				places[h.Node] = len(places) + 1
			}
			change.Node = places[h.Node]
		}
		c.Homes = append(c.Homes, change)
	}
	return c
}
