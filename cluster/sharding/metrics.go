package sharding

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/remote"
)

// A figure is a metric of types of entities.
type figure struct {
	telemetry.Family
	of func(typeStatus) float64
}

// figures returns the metrics of types, without series.
func figures() []figure {
	return []figure{
		{
			telemetry.NewGauge("understudy_sharding_shards", "Shards of a type of entities that run on this node.", "type"),
			func(t typeStatus) float64 { return float64(t.Here) },
		},
		{
			telemetry.NewGauge("understudy_sharding_homeless_shards", "Shards of a type of entities of which this node knows no home.", "type"),
			func(t typeStatus) float64 { return float64(t.Homeless) },
		},
		{
			telemetry.NewGauge("understudy_sharding_entities", "Entities that are awake on this node.", "type"),
			func(t typeStatus) float64 { return float64(t.Awake) },
		},
		{
			telemetry.NewGauge("understudy_sharding_held_messages", "Messages told on this node that wait for a shard.", "type"),
			func(t typeStatus) float64 { return float64(t.Held) },
		},
		{
			telemetry.NewCounter("understudy_sharding_returned_messages_total", "Messages of other nodes that have gone back, because their shard was elsewhere.", "type"),
			func(t typeStatus) float64 { return float64(t.Returned) },
		},
		{
			telemetry.NewCounter("understudy_sharding_entity_failures_total", "Failures of entities on this node.", "type"),
			func(t typeStatus) float64 { return float64(t.Failures) },
		},
	}
}

// families is a [telemetry.Source]. Its series are by type, and never by entity or shard.
func (h *hub) families() []telemetry.Family {
	types := h.statuses()
	all := []telemetry.Family{h.moves.family(types), dropped(types)}
	for _, f := range figures() {
		for _, t := range types {
			f.Add(f.of(t), t.Name)
		}
		all = append(all, f.Family)
	}
	return all
}

// dropped has a series for each type and each reason from the start, because an increase from no
// series is not seen.
func dropped(types []typeStatus) telemetry.Family {
	f := telemetry.NewCounter("understudy_sharding_dropped_messages_total", "Messages to entities that have become dead letters on this node.", "type", "reason")
	for _, t := range types {
		for _, reason := range slices.Sorted(maps.Keys(t.Dropped)) {
			f.Add(float64(t.Dropped[reason]), t.Name, reason)
		}
	}
	return f
}

// A moveCounter counts the moves that the coordinator of this node has decided.
type moveCounter struct {
	mu  sync.Mutex // guards all
	all map[moveKind]uint64
}

type moveKind struct {
	typ   string
	cause home.Cause
}

func (c *moveCounter) add(m home.Moved) {
	typ, _, _ := allot.ParseLabel(m.Label)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[moveKind]uint64{}
	}
	c.all[moveKind{typ, m.Cause}]++
}

// family has a series for each type that this node has started and each cause.
func (c *moveCounter) family(types []typeStatus) telemetry.Family {
	f := telemetry.NewCounter("understudy_sharding_moves_total", "Shards that have got another home, by cause; told by nodes that have had the coordinator.", "type", "cause")
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range types {
		for _, cause := range allot.Causes {
			f.Add(float64(c.all[moveKind{t.Name, cause}]), t.Name, string(cause))
		}
	}
	return f
}

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
	Shard  int
	Home   string // the address of its node; "" while it has none, and without a cluster
	Term   uint64 // of the Generation of its last home
	Here   bool   // it runs on this node
	Moving bool   // it is about to leave this node
	Awake  int    // entities that are awake on this node
	Held   int    // messages told on this node that wait for it
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
		of.Term = max(of.Term, generation)
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
		s.Here, s.Moving, s.Awake, s.Term = true, r.closing, len(r.all), r.generation.Term
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
