package sharding

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

// residents are the entities of one shard that are awake on this node. They are children of the
// actor of the shard. The mutex of the lane guards all fields.
type residents struct {
	lane       *lane
	actors     extension.Returning
	generation singleton.Generation
	shards     int   // of the type
	look       *look // nil unless these are entities that are only looked at
	hooks      shardHooks
	all        map[string]*resident
	remembered *remembered       // nil unless its entities run without a message
	timers     map[string]wakeOf // of entities that have stopped and are not forgotten yet
	refusal    error             // why the claim of an entity was refused last; nil if none was, or that has been reported
	swept      uint32            // the round that the last sweep has begun
	closing    bool              // the shard is about to leave: no letter is taken
	broken     bool              // it is about to be stopped, see shardHooks: no letter is taken, and none is lost
	ended      bool              // the actor of the shard stops
}

// shardHooks tell the actor of a shard, from any goroutine, what has happened.
type shardHooks struct {
	asked  func()          // an entity has asked to be passivated
	empty  func()          // it has been closing, and no entity is left
	gate   func() error    // returns why an entity must not handle a message; nil without a lease
	broken func(why error) // the shard must end: a later generation of it has claimed the id of an entity; may be nil
}

// A resident is an entity.
type resident struct {
	ref    actor.AnyRef  // nil while it waits for the end of a backoff
	absent *absence      // nil: it takes letters
	idle   uint8         // how many sweeps have found it unused
	asked  bool          // it has asked to be passivated
	timed  bool          // it was woken for a timer, for which it waits, and has handled nothing
	claims bool          // it is starting, and has claimed a persistence id
	spared uint32        // the round in which it was told to rest last, and may not have; 0 for none
	until  time.Duration // by region.now: it does not rest before; see [Entity.KeepAwake]
	ends   time.Duration // by region.now: it is stopped then, if it is about to end
}

// An absence is what is known of an entity that takes no letters.
type absence struct {
	waiting  fifo.Queue[letter]
	failures int
	forgiven bool      // it is forgotten the next time that the timer rings
	woken    time.Time // when it was started again after a failure
	unsaved  bool      // it starts when the journal has its id
	wake     *time.Timer
}

// stop stops the timer.
func (a *absence) stop() {
	if a.wake != nil {
		a.wake.Stop()
	}
}

// takes reports whether letters are taken.
func (r *residents) takes() bool { return !r.closing && !r.broken }

// refused notes that an entity cannot claim its id, because a later generation has. The entity
// ends.
func (r *residents) refused(why error) {
	r.lane.mu.Lock()
	defer r.lane.mu.Unlock()
	r.refusal = why
	r.breaks(why)
}

// checkLease lets the shard end if the lease was lost before it had begun.
func (r *residents) checkLease() {
	r.lane.mu.Lock()
	defer r.lane.mu.Unlock()
	if r.hooks.gate == nil {
		return
	}
	if why := r.hooks.gate(); why != nil {
		r.breaks(why)
	}
}

// breaks lets the shard end. It does nothing if the shard must not end for that reason.
func (r *residents) breaks(why error) {
	if r.hooks.broken == nil {
		return
	}
	r.hooks.broken(why)
	if !r.broken {
		r.broken = true
		r.lane.rerouteHeld()
	}
}

// takes reports whether an entity is awake, and no letter waits for it.
func (e *resident) takes() bool {
	return e.ref != nil && (e.absent == nil || e.absent.waiting.Len() == 0)
}

// offer takes a letter, and wakes its entity if necessary.
func (r *residents) offer(of letter) (here actor.AnyRef) {
	e := r.all[of.name]
	if e == nil {
		if e = r.wake(of.name); e == nil {
			r.lane.region.drop(of, ErrStopped)
			return here
		}
	}
	if e.takes() && r.actors.Offer(e.ref, of.Message, of.Metadata) {
		return e.ref
	}
	r.await(e, of)
	if e.absent.forgiven {
		e.absent.stop()
		r.rested(of.name, e)
	}
	return here
}

// await keeps a letter until its entity is awake again.
func (r *residents) await(e *resident, of letter) {
	if e.absent == nil {
		e.absent = &absence{}
	}
	region := r.lane.region
	if e.absent.waiting.Len() >= region.set.buffer || region.held.Load() >= maxHeld {
		ended := e.absent.waiting.Remove(letter.Withdrawn)
		if r.lane.dropAll(ended, actor.ErrWithdrawn); len(ended) == 0 {
			region.drop(of, ErrBufferFull)
			return
		}
	}
	region.held.Add(1)
	e.absent.waiting.Push(of)
}

// waiting takes the letters that wait for an entity.
func (r *residents) waiting(e *resident) []letter {
	if e.absent == nil {
		return nil
	}
	letters := e.absent.waiting.Drain()
	r.lane.region.held.Add(-int64(len(letters)))
	return letters
}

// wake starts an entity, at once or when the journal has its id. It returns nil if the shard stops.
func (r *residents) wake(name string) *resident {
	e := &resident{}
	if r.remembered.mustSave(name) {
		e.absent = &absence{unsaved: true}
		r.remembered.save()
	} else if !r.start(name, e) {
		return nil
	}
	r.all[name] = e
	return e
}

func (r *residents) start(name string, e *resident) (started bool) {
	delete(r.timers, name) // it has them itself
	if e.ref = r.lane.region.kind.spawn(r, name); e.ref == nil {
		return false
	}
	if region := r.lane.region; region.limiter.woken() {
		region.hub.later(func() { evict(region) })
	}
	return true
}

// entity returns what the factory gets.
func (r *residents) entity(name string) Entity {
	e := Entity{Type: r.lane.region.name, ID: idOf(name), Shard: r.lane.shard, Generation: r.generation}
	if r.look == nil {
		e.at = r
	}
	return e
}

// rest lets an entity end, unless it is in use.
func (r *residents) rest(e *resident) {
	e.ends = r.endsAt()
	r.actors.Rest(e.ref)
}

// keptAwake reports whether an entity has asked to stay awake for longer, or was woken for a timer
// and waits for it. It waits no longer when it has handled messages.
func (r *residents) keptAwake(e *resident, now time.Duration) bool {
	if _, worked := r.actors.Used(e.ref); worked && e.timed {
		e.timed, e.until = false, 0
	}
	return now < e.until
}

// usedSince reports whether an entity has started or was used since a round began.
func (r *residents) usedSince(e *resident, round uint32) bool {
	used, _ := r.actors.Used(e.ref)
	return extension.Since(round, used) >= 0
}

// finish lets an entity end when it has handled what it has.
func (r *residents) finish(e *resident) {
	e.ends = r.endsAt()
	r.actors.Finish(e.ref)
}

// endsAt is when an entity that is to end now is stopped.
func (r *residents) endsAt() time.Duration {
	return r.lane.region.now() + r.lane.region.set.stopTimeout
}

// endedOne takes the letters that an entity has not handled, when it has ended. failure is nil if
// it has stopped.
func (r *residents) endedOne(name string, letters []letter, failure error) {
	r.lane.mu.Lock()
	defer r.lane.mu.Unlock()
	e := r.all[name]
	if e == nil {
		return
	}
	r.lane.region.limiter.gone()
	_, worked := r.actors.Used(e.ref)
	asked := e.asked
	stashed := failure == nil && len(letters) > 0 && r.actors.Resting(e.ref) // it has handled all others
	*e = resident{absent: e.absent}
	if e.absent != nil && time.Since(e.absent.woken) > failureBackoff.Max {
		e.absent.failures = 0
	}
	switch {
	case r.broken || r.actors.Ending():
		failure = nil // the shard ends, and the messages are for the next incarnation
	case failure != nil || worked || asked || r.closing:
	case len(letters) > 0 || e.absent != nil && e.absent.waiting.Len() > 0: // else it would be started again for ever
		failure, r.refusal = cmp.Or(r.refusal, errNoMessageHandled), nil
		letters = append(letters, r.waiting(e)...) // the message that has started it may have come too late
	}
	forgotten := failure != nil && guard.Is(failure, persistence.ErrForgotten) && !guard.Is(failure, actor.ErrDeathPact)
	if forgotten {
		letters = append(letters, r.waiting(e)...) // the next incarnation would fail in the same way
		r.forgotten(name, worked)
	}
	if failure != nil {
		letters = r.failed(name, letters, failure)
	}
	letters = append(letters, r.waiting(e)...)
	if asked && failure == nil && len(letters) == 0 {
		r.remembered.forget(name)
	}
	switch {
	case forgotten:
		r.leave(name, letters)
	case stashed && r.closing:
		r.leave(name, letters)
	case stashed && !r.ended && !r.broken:
		r.backOff(name, e, letters) // it might do the same again
	default:
		r.settle(name, e, letters, failure)
	}
	if r.ended { // the shard may begin elsewhere any moment
		r.lane.rerouteHeld()
	}
}

// errNoMessageHandled is the failure of an entity that ends by itself, and leaves the message that
// has started it.
var errNoMessageHandled = errors.New("it has stopped before its first message; to refuse messages, start and stop when one comes")

// forgotten notes that the id of an entity was erased. The entity is started again only by a
// message, because the id may be revived.
func (r *residents) forgotten(name string, worked bool) {
	if worked || r.remembered.has(name) {
		r.lane.region.system.Log().Warn("entity ends, as its id was forgotten; only a message starts it again",
			zap.String("type", r.lane.region.name), zap.String("entity", name))
	}
	r.remembered.forget(name)
}

// failed decides what becomes of the letters that a failed entity had. They are kept if the entity
// was fenced off: the shard is elsewhere.
func (r *residents) failed(name string, letters []letter, failure error) (kept []letter) {
	region := r.lane.region
	if errors.Is(failure, errLeaseLost) {
		if r.breaks(failure); r.broken {
			return letters
		}
	}
	if newest := tenure.Newest(failure); errors.Is(failure, tenure.ErrFenced) && r.generation.Term < tenure.Unpack(newest).Term {
		if r.breaks(failure); r.broken {
			return letters
		}
	}
	region.counted.failures.Add(1)
	region.system.Log().Warn("entity failed", zap.String("type", region.name), zap.String("entity", name), zap.Error(failure))
	for _, of := range letters {
		region.drop(of, fmt.Errorf("%w: %w", ErrEntityFailed, failure))
	}
	return nil
}

// settle continues after the end of an entity, with the letters that have not been handled.
func (r *residents) settle(name string, e *resident, letters []letter, failure error) {
	if r.ended || r.broken {
		r.leave(name, letters)
		return
	}
	if !r.closing && (failure != nil || len(letters) == 0 && r.remembered.has(name)) {
		r.backOff(name, e, letters)
		return
	}
	if len(letters) == 0 {
		r.leave(name, nil)
		return
	}
	if failure != nil || !r.again(name, e, letters) { // it is about to leave, and fails
		r.leave(name, letters)
	}
}

// again starts an entity for the letters that its last incarnation has not handled. While the shard
// is about to leave, the entity ends after them: they may be of several nodes, each of which would
// have to take back its own.
func (r *residents) again(name string, e *resident, letters []letter) bool {
	e.absent = nil
	if !r.start(name, e) {
		return false
	}
	for _, of := range letters {
		if !r.actors.Offer(e.ref, of.Message, of.Metadata) {
			r.await(e, of)
		}
	}
	if r.closing {
		r.finish(e)
	}
	return true
}

// leave forgets an entity that has ended.
func (r *residents) leave(name string, letters []letter) {
	delete(r.all, name)
	if w, timed := r.timers[name]; timed {
		delete(r.timers, name)
		r.lane.region.wakes.left(w.id, w.due)
	}
	for _, of := range letters {
		r.lane.left.Keep(outlet{r.lane}.Hold(of))
	}
	r.leftEmpty()
}

// leftEmpty notes that the shard may leave.
func (r *residents) leftEmpty() {
	if r.closing && !r.ended && len(r.all) == 0 && !r.remembered.busy() {
		r.hooks.empty()
	}
}

// backOff lets an entity that has failed wait before it is started again: by the next message, or
// without one if it is remembered.
func (r *residents) backOff(name string, e *resident, letters []letter) {
	if e.absent == nil {
		e.absent = &absence{}
	}
	r.lane.region.held.Add(int64(len(letters)))
	e.absent.waiting, e.absent.forgiven = fifo.Of(letters), false
	delay := failureBackoff.Delay(e.absent.failures)
	e.absent.failures++
	e.absent.wake = time.AfterFunc(delay, func() {
		r.lane.mu.Lock()
		defer r.lane.mu.Unlock()
		r.rested(name, e)
	})
}

// failureBackoff is how long an entity that has failed is not started.
var failureBackoff = actor.Backoff{Min: time.Second, Max: time.Minute}

// rested ends a backoff: the entity starts if letters wait for it or it is remembered, and else
// with the next letter.
func (r *residents) rested(name string, e *resident) {
	idle := r.all[name] == e && e.absent != nil && e.absent.waiting.Len() == 0 && !r.remembered.has(name)
	switch {
	case r.all[name] != e || e.ref != nil:
	case idle && e.absent.forgiven:
		r.leave(name, nil)
	case idle:
		e.absent.forgiven = true
		e.absent.wake.Reset(failureBackoff.Max) // until then it is known how often it has failed
	default:
		failures, letters := e.absent.failures, r.waiting(e)
		if !r.again(name, e, letters) {
			r.leave(name, letters)
			return
		}
		if failures == 0 {
			return
		}
		if e.absent == nil {
			e.absent = &absence{}
		}
		e.absent.failures, e.absent.woken = failures, time.Now()
	}
}

// late takes a letter that somebody has told an entity that had ended. Its caller may be inside of
// a lane.
func (r *residents) late(of letter) {
	region := r.lane.region
	region.hub.ref.Tell(lateLetter{
		deliver: func() { r.lane.told(of) }, recipient: region.pathOf(of.name), msg: of.Message,
	})
}

// close begins to empty the shard: each entity handles what it has, and ends. mu is held.
func (r *residents) close() {
	r.closing = true
	for name, e := range r.all {
		switch {
		case e.ref != nil:
			r.finish(e)
		default: // it has failed, or its id is not saved
			e.absent.stop()
			r.leave(name, r.waiting(e))
		}
	}
	r.leftEmpty()
}

// Ended implements extension.Owner.
func (r *residents) Ended(name string, rest []any, with []extension.Metadata, failure error) {
	var letters []letter
	for i, msg := range rest {
		letters = append(letters, letterTo(name, msg, with[i]))
	}
	r.endedOne(name, letters, failure)
}

// Late implements extension.Owner.
func (r *residents) Late(name string, msg any, m extension.Metadata) { r.late(letterTo(name, msg, m)) }
