package sharding

import (
	"maps"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
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
