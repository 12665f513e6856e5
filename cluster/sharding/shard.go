package sharding

import (
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/permits"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton"
)

// The messages to the actor of a shard, which only this node sends.
type (
	shardMsg interface{ shardMsg() }
	quiet    struct{ extension.Quiet }

	// sweepDue: it is time to look for idle entities.
	sweepDue struct{ quiet }
	// lateDue: it is time to look for entities that do not end.
	lateDue struct{ quiet }
	// idsRead: the ids of the entities that are remembered have been read.
	idsRead struct{ quiet }
	// allLeft: what its entities have left on its former homes is here.
	allLeft struct{ quiet }
	// endAsked: an entity has asked to be passivated.
	endAsked struct{ quiet }
	// leaveShard: the shard is about to move.
	leaveShard struct{ quiet }
	// leftEmpty: it has no entity any more.
	leftEmpty struct{ quiet }
	// leaveNow: it has had the time to become empty.
	leaveNow struct{ quiet }
)

func (quiet) shardMsg() {}

// A shardStart has the hooks of a shard.
type shardStart struct {
	// begun is called inside the actor of the shard.
	begun func()
	// broken is called by any goroutine: a later generation of the shard has claimed the id of an
	// entity, or the lease is lost. It must end the shard. If it is nil, only the entity ends.
	broken func(why error)
	// former are the nodes that may have messages which its entities have left.
	former []remote.NodeID
	// gate returns why an entity must not handle its next message. It is nil without a lease.
	gate func() error
}

// startShard spawns the actor of a shard, and returns at once.
func (r *region) startShard(under actor.Spawner, around actor.AnyRef, shard, shards int, gen singleton.Generation, on shardStart) actor.ActorRef[shardMsg] {
	name := escape(r.name) + "." + shardName(shard)
	all := &residents{lane: r.lanes[shard], generation: gen, shards: shards, all: map[string]*resident{}}
	all.hooks.broken, all.hooks.gate = on.broken, on.gate
	path := around.Path() + "/" + name
	ctx := tenure.With(permits.WithClass(r.hub.context, r.name), tenure.New(path, tenure.Generation(gen), tenure.Hooks{
		Claimed: func(by tenure.Claim, _, _ tenure.Generation) { all.claimed(strings.TrimPrefix(by.Path, path+"/")) },
		Refused: all.refused, Left: func(id string, due time.Time) { leaveTimer(all, id, due) },
	}))
	return actor.Spawn(under, r.shard(all, on), name, extension.WithContext(ctx), actor.WithKind(kind))
}

// kind is the kind of the actors of shards, which are ours.
const kind = "understudy"

// A shardActor is the actor of a shard: the parent of its entities.
type shardActor struct {
	ctx    *actor.Context[shardMsg]
	all    *residents
	gather func() // asks for what they have left on former homes, once
	begin  func() // lets the entities be here, once
	looks  bool   // lateDue is to come
}

func (r *region) shard(all *residents, on shardStart) actor.Behavior[shardMsg] {
	return func(ctx *actor.Context[shardMsg], next *actor.Next[shardMsg]) {
		a := &shardActor{ctx: ctx, all: all}
		a.gather = sync.OnceFunc(func() { all.lane.gather(all.generation.Term, on.former) })
		a.begin = sync.OnceFunc(func() {
			all.lane.begin(all)
			on.begun()
			all.checkLease()
			r.wakes.begun()
		})
		a.connect()
		ctx.Defer(func() { all.lane.end(all) })
		if r.set.passivate > 0 {
			ctx.Every("sweep", max(r.set.passivate/sweepsUntilIdle, time.Millisecond), sweepDue{})
		}
		a.start(r.set.mode())
		next.OnMessage = a.receive
	}
}

// connect gives the residents what they need of the actor.
func (a *shardActor) connect() {
	self := a.ctx.Self()
	a.all.hooks.empty = func() { self.Tell(leftEmpty{}) }
	a.all.hooks.asked = func() { self.Tell(endAsked{}) }
	r := a.all.lane.region
	opts := slices.Clone(r.set.spawn)
	if a.all.hooks.gate != nil {
		opts = append(opts, extension.WithAdmissionCheck(a.all.hooks.gate))
	}
	a.all.actors = extension.NewReturning(self, a.all, r.set.stopMessage, &r.limiter.rounds, opts...)
}

// start lets the entities be here, when the ids of those that are remembered have been read.
func (a *shardActor) start(mode table.Mode) {
	self := a.ctx.Self()
	switch mode {
	case table.Remembered:
		a.all.remembered = &remembered{of: a.all}
		a.all.remembered.store = actor.Spawn(a.ctx, newStore(a.all.remembered, func() { self.Tell(idsRead{}) }), storeName)
	case table.Daemons:
		a.all.remembered = daemonOf(a.all)
		a.open()
	case table.OnDemand:
		a.open()
	}
}

// open lets the entities be here, as soon as they have what was left on former homes.
func (a *shardActor) open() {
	a.gather()
	self := a.ctx.Self()
	if !a.all.lane.gathered(func() { self.Tell(allLeft{}) }) {
		return
	}
	a.begin()
	if a.all.remembered != nil {
		a.startRemembered()
	}
}

// startRemembered lets the hub start the entities that run without a message.
func (a *shardActor) startRemembered() {
	l := a.all.lane
	if l.hasDue(a.all) { // a shard without any would take a turn of its type
		l.region.hub.ref.Tell(startsOf{typ: l.region.name, shard: func() (started, more bool) { return l.startDue(a.all) }})
	}
}

func (a *shardActor) receive(ctx *actor.Context[shardMsg], msg shardMsg) actor.Behavior[shardMsg] {
	l := a.all.lane
	switch msg.(type) {
	case sweepDue:
		a.sweep()
	case lateDue:
		a.looks = false
		a.endLate()
	case endAsked:
		a.look()
	case idsRead, allLeft:
		a.open()
	case leaveShard:
		ctx.After("leave", l.region.set.stopTimeout, leaveNow{})
		l.leave(a.all)
	case leaveNow:
		a.watchStuck()
		return stops
	case leftEmpty:
		return stops
	}
	return nil
}

func stops(_ *actor.Context[shardMsg], next *actor.Next[shardMsg]) { next.Stop() }

// look sees to it that entities that are about to end do.
func (a *shardActor) look() {
	if !a.looks {
		a.looks = true
		a.ctx.After("late", a.all.lane.region.set.stopTimeout, lateDue{})
	}
}

// sweep lets the entities rest that have been unused for long.
func (a *shardActor) sweep() {
	if a.all.lane.sweep(a.all) {
		a.look()
	}
}

// endLate stops entities that have been about to end for longer than they may take.
func (a *shardActor) endLate() {
	late, others := a.all.lane.late(a.all)
	if others {
		a.look()
	}
	for _, e := range late {
		a.ctx.Log().Warn("entity does not stop, and is stopped", zap.String("entity", e.Path()))
		a.ctx.Stop(e)
	}
}

// begin lets the entities of the shard be here.
func (l *lane) begin(all *residents) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.residents = all
	l.letters.Redirect(l.route()) // before the first letter: none may go elsewhere from now on
	for _, of := range l.left.Take() {
		if (outlet{l}).Pass(of) {
			all.offer(of)
		}
	}
	l.rerouteHeld()
}

// leave lets them end.
func (l *lane) leave(all *residents) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if all.closing {
		return
	}
	all.close()
	l.rerouteHeld()
}

// end notes that they have ended.
func (l *lane) end(all *residents) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all.closing, all.ended = true, true
	for name, e := range all.all {
		if e.ref != nil {
			continue // it is about to end
		}
		e.absent.stop()
		all.leave(name, all.waiting(e))
	}
	l.residents, l.opens = nil, nil
	l.rerouteHeld()
}

// sweepsUntilIdle is how many sweeps must find an entity unused.
const sweepsUntilIdle = 4

// late returns the entities that have been about to end for longer than they may take, and whether
// others are about to end.
func (l *lane) late(all *residents) (late []actor.AnyRef, others bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.region.now()
	for _, e := range all.all {
		switch {
		case e.ref == nil || !all.actors.Resting(e.ref):
		case now >= e.ends:
			late = append(late, e.ref)
		default:
			others = true
		}
	}
	return late, others
}

// sweep lets the entities rest that have been unused for long. It reports whether there are any.
func (l *lane) sweep(all *residents) (ending bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, before := l.region.now(), all.swept
	all.swept = l.region.limiter.rounds.Begin()
	for _, e := range all.all {
		switch {
		case e.ref == nil:
		case all.actors.Resting(e.ref):
		case all.usedSince(e, before), all.keptAwake(e, now), all.actors.Starting(e.ref):
			e.idle = 0
		case l.region.set.passivate > 0:
			if e.idle++; e.idle >= sweepsUntilIdle {
				all.rest(e)
				ending = true
			}
		}
	}
	return ending
}

// inhabitants returns how many entities are here or about to start.
func (l *lane) inhabitants() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.residents == nil {
		return 0
	}
	n := len(l.residents.all)
	if r := l.residents.remembered; r != nil {
		n += len(r.due)
	}
	return n
}
