package sharding

import (
	"slices"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/internal/journaled"
	"github.com/understudy-go/understudy/cluster/sharding/internal/roster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// remembered are the entities of one shard that run without a message. A nil *remembered has none.
// The mutex of the lane guards all fields.
type remembered struct {
	of    *residents
	ids   roster.Roster
	fixed bool // the ids are never written: those of daemons
	store actor.ActorRef[writeIDs]
	batch uint64   // the number of the batch that is being written
	due   []string // the names of those that have not been started
}

// mustSave notes that an entity is started. It reports whether the entity must wait until that has
// been written.
func (r *remembered) mustSave(name string) bool {
	return r != nil && !r.fixed && !r.ids.Remember(idOf(name))
}

// forget notes that an entity need not run any more.
func (r *remembered) forget(name string) {
	if r != nil && !r.fixed {
		r.ids.Forget(idOf(name))
		r.save()
	}
}

// has reports whether an entity is to run without a message.
func (r *remembered) has(name string) bool { return r != nil && r.ids.Has(idOf(name)) }

// busy reports whether something must be written before the shard leaves.
func (r *remembered) busy() bool { return r != nil && r.ids.Busy() }

// save writes what has changed, unless something is being written.
func (r *remembered) save() {
	if b, ok := r.ids.Next(); ok {
		r.batch++
		r.store.Tell(writeIDs{N: r.batch, Batch: b})
	}
}

// waits tells the asks that wait for the ids why the journal keeps these from being read, or from
// being written.
func (r *remembered) waits(why error) {
	l := r.of.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cause = why
	l.letters.Sweep(func(of letter) bool {
		l.explain(of)
		return false
	})
	for _, e := range r.of.all {
		if e.absent != nil && e.absent.unsaved {
			for _, of := range e.absent.waiting.All() {
				r.of.explain(e.absent, of)
			}
		}
	}
}

// written notes that a batch is in the journal.
func (r *remembered) written(n uint64) {
	r.of.lane.mu.Lock()
	defer r.of.lane.mu.Unlock()
	if n == r.batch { // else the store has failed since, and has been read again
		r.saved(r.ids.Written())
	}
}

// read notes that all ids have been read from the journal. The first time, they are to be started.
func (r *remembered) read(ids []string) {
	r.of.lane.mu.Lock()
	defer r.of.lane.mu.Unlock()
	if r.batch++; r.batch == 1 {
		for _, id := range ids {
			r.due = append(r.due, escape(id))
		}
	}
	r.saved(r.ids.Read(ids))
}

// saved starts entities whose ids are in the journal from now on.
func (r *remembered) saved(ids []string) {
	r.of.lane.cause = nil
	for _, id := range ids {
		if e := r.of.all[escape(id)]; e != nil && e.absent != nil && e.absent.unsaved {
			r.of.rested(escape(id), e)
		}
	}
	r.save()
	r.of.leftEmpty()
}

// hasDue reports whether entities are remembered and have not been started.
func (l *lane) hasDue(all *residents) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(all.remembered.due) > 0
}

// startDue starts the next of the entities that are remembered and have not been started. It
// reports whether there was one, and whether there may be more.
func (l *lane) startDue(all *residents) (started, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := all.remembered
	for len(r.due) > 0 && all.takes() {
		name := r.due[0]
		r.due = r.due[1:]
		if all.all[name] == nil && r.has(name) {
			all.wake(name)
			return true, len(r.due) > 0
		}
	}
	return false, false
}

// A writeIDs asks the store to write a batch.
type writeIDs struct {
	quiet
	N uint64
	roster.Batch
}

// The stored forms.
type (
	// idsChanged: entities are remembered from now on, or not any more.
	idsChanged struct {
		_              struct{} `cbor:",toarray"`
		Added, Removed []string
	}
	// rememberedIDs is the state after all of them.
	rememberedIDs struct {
		_   struct{} `cbor:",toarray"`
		IDs []string // sorted
	}
)

func init() {
	actor.RegisterType[idsChanged]("understudy/sharding.remembered-changed/1")
	actor.RegisterType[rememberedIDs]("understudy/sharding.remembered/1")
}

func (s rememberedIDs) with(e idsChanged) rememberedIDs {
	gone := map[string]bool{}
	for _, id := range e.Removed {
		gone[id] = true
	}
	all := slices.DeleteFunc(slices.Concat(s.IDs, e.Added), func(id string) bool { return gone[id] })
	slices.Sort(all)
	return rememberedIDs{IDs: slices.Compact(all)}
}

// storeName is the name of the store among the entities of its shard; it is not the name of one.
const storeName = "~remembered"

// rememberedID returns the persistence id of the store of a shard.
func rememberedID(typ string, shard int) string {
	return "sharding/remembered/" + shardName(shard) + "/" + typ
}

// newStore returns the behavior of the actor that keeps the ids of a shard in the journal. When it
// fails it is started again, and the entities stay as they are. read is called, inside it, each
// time that it has read them.
func newStore(r *remembered, read func()) actor.Behavior[writeIDs] {
	region := r.of.lane.region
	store := journaled.JournalOf(region.system)
	options := persistence.Options[writeIDs, idsChanged, rememberedIDs]{
		OnSignal: func(_ *actor.Context[writeIDs], s rememberedIDs, sig persistence.Signal) persistence.Effect[idsChanged] {
			if _, recovered := sig.(persistence.RecoveryCompleted); recovered {
				r.read(s.IDs)
				read()
				return persistence.None
			}
			return persistence.Unhandled
		},
	}
	if _, saves := journal.As[journal.SnapshotStore](store); saves {
		options.SnapshotEvery, options.DeleteEvents = rememberedSnapshots, true
	}
	return behaviors.Supervise(persistence.New(rememberedID(region.name, r.of.lane.shard), store, rememberedIDs{}, rememberedIDs.with,
		func(_ *actor.Context[writeIDs], _ rememberedIDs, w writeIDs) persistence.Effect[idsChanged] {
			return persistence.Persist(idsChanged{Added: w.Added, Removed: w.Removed}).Then(func() { r.written(w.N) })
		}, options), actor.Strategy{Backoff: failureBackoff})
}

// rememberedSnapshots is how many batches are stored between two snapshots.
const rememberedSnapshots = 100
