package sharding

import (
	"cmp"

	"github.com/understudy-go/understudy/remote"
)

// Stats is what one node knows of a type of entities at one moment.
type Stats struct {
	Type   string
	Shards []ShardStats // by number
	Awake  int          // entities that are awake on this node
	Held   int          // messages told on this node that wait for a shard

	// What has happened on this node since it started the type.
	Dropped  map[error]uint64 // messages to entities that have become dead letters, by reason: ErrBufferFull and the errors beside it, actor.ErrWithdrawn, or nil for others
	Returned uint64           // messages of other nodes that have gone back, because their shard was elsewhere
	Failures uint64           // of entities
}

// ShardStats is what one node knows of a shard.
type ShardStats struct {
	Shard      int
	Home       string // the address of its node; "" while it has none, and without a cluster
	Generation uint64 // the Term of its last home
	Here       bool   // it runs on this node
	Moving     bool   // it is about to leave this node
	Awake      int    // entities that are awake on this node
	Held       int    // messages told on this node that wait for it
}

// Stats returns what this node knows of the type. It asks no other node.
func (r *Region[M]) Stats() Stats { return r.plain.stats() }

func (r *region) stats() Stats {
	s := Stats{
		Type: r.name, Dropped: r.counted.dropped.byReason(), Returned: r.counted.returned.Load(), Failures: r.counted.failures.Load(),
	}
	for shard, l := range r.lanes[:cmp.Or(int(r.daemons.Load()), r.set.initialShards())] {
		home, generation := r.hub.tableHome(r.name, shard)
		of := l.stats()
		of.Shard, of.Home = shard, home.Address
		of.Generation = max(of.Generation, generation)
		s.Shards = append(s.Shards, of)
		s.Awake += of.Awake
		s.Held += of.Held
	}
	return s
}

func (l *lane) stats() (s ShardStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Held = l.letters.Size() + l.left.Size()
	if r := l.residents; r != nil {
		s.Here, s.Moving, s.Awake, s.Generation = true, r.closing, len(r.all), r.generation.Term
	}
	return s
}

// tableHome returns the home of a shard by the table.
func (h *hub) tableHome(typ string, shard int) (home remote.NodeID, generation uint64) {
	if h.outside == nil {
		return remote.NodeID{}, 0
	}
	return h.outside.tableHome(typ, shard)
}

func (c *clustered) shardsOf(typ string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, _ := c.table.Of(typ)
	return len(e.Homes)
}

func (c *clustered) tableHome(typ string, shard int) (home remote.NodeID, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, known := c.table.Of(typ); known && shard < len(e.Homes) {
		return e.Homes[shard].Node, e.Homes[shard].Generation
	}
	return remote.NodeID{}, 0
}
