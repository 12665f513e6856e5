package sharding

import (
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/history"
	"github.com/understudy-go/understudy/internal/peers"
)

// Stuck is published on the node of an entity that was told to stop and does not end, because one
// of its handlers does not return. Its shard moves, or its node leaves.
//
// At Until the entity is given up: its shard moves without it, and the entity may start elsewhere
// beside the handler. Where a journal fences what the handler still writes, that is at once; else
// it is after the margin for removed nodes, as for an entity on such a node. With [WithLease] and
// entities that are not event-sourced, Until is zero: the shard waits, as the lease promises.
type Stuck struct {
	Type, ID string
	Shard    int
	Since    time.Time // when the shard was told to leave
	Until    time.Time // when the entity is given up; zero for never
}

// errStuck is why an entity that was given up has ended.
var errStuck = errors.New("sharding: its handler does not return, and its shard has moved without it")

// stuckPatience is how long entities may take to end after the messages that they are handling,
// before they are called stuck.
const stuckPatience = 500 * time.Millisecond

// watchStuck sees to it that the shard, which stops now, does not wait for a stuck entity for ever.
// The actor of the shard handles no message any more, so timers do.
func (a *shardActor) watchStuck() {
	timer := time.AfterFunc(stuckPatience, a.all.reportStuck)
	a.ctx.Defer(func() { timer.Stop() })
}

// reportStuck names the entities that do not end, and gives them up when their time has come.
func (r *residents) reportStuck() {
	names := r.names()
	if len(names) == 0 {
		return
	}
	region := r.lane.region
	wait, ever := graceOfStuck(region)
	now := time.Now()
	report := Stuck{Type: region.name, Shard: r.lane.shard, Since: now.Add(-stuckPatience - region.set.stopTimeout)}
	if ever {
		report.Until = now.Add(wait)
	}
	for _, name := range names {
		report.ID = idOf(name)
		region.system.Log().Error("entity does not end: its handler does not return", zap.String("type", region.name),
			zap.String("entity", report.ID), zap.Int("shard", report.Shard), zap.Time("told to stop", report.Since), zap.Time("given up", report.Until))
		region.system.Publish(report)
		extension.Ensure(region.system, history.New).Add(now, "entity stuck", region.name+" "+report.ID, "its handler does not return")
	}
	if ever {
		time.AfterFunc(wait, r.giveUp)
	}
}

// graceOfStuck returns how long a shard waits for an entity that does not end. ever is false if it
// waits for good: a lease promises that no other incarnation runs.
func graceOfStuck(r *region) (wait time.Duration, ever bool) {
	switch {
	case r.sourcing.agreed.Load():
		return 0, true
	case r.set.leased():
		return 0, false
	}
	failover, _ := extension.Get[peers.Failover](r.system) // none without a cluster
	return failover.Margin, true
}

// names returns the names of the entities that have not ended.
func (r *residents) names() (names []string) {
	r.lane.mu.Lock()
	defer r.lane.mu.Unlock()
	for name, e := range r.all {
		if e.ref != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// giveUp lets the shard end without the entities that have not ended. They return their messages
// inside of Abandon, for which the mutex of the lane must be free.
func (r *residents) giveUp() {
	r.lane.mu.Lock()
	var stuck []actor.AnyRef
	for _, e := range r.all {
		if e.ref != nil {
			stuck = append(stuck, e.ref)
		}
	}
	r.lane.mu.Unlock()
	for _, ref := range stuck {
		r.actors.Abandon(ref, errStuck)
	}
}
