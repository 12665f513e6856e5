package sharding

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/storeclock"
	"github.com/understudy-go/understudy/persistence/journal"
)

// How a waker works.
const (
	wakesEvery   = 30 * time.Second // it reads the journal
	wakesAhead   = time.Minute      // and so far ahead
	wakesAtOnce  = 1000             // entities that it starts, or that wait to recover, and then it pauses for wakesPause
	wakesPause   = 100 * time.Millisecond
	wakesPage    = 1000
	maxWakes     = 100_000 // that it keeps; others are read later
	wakesTimeout = 20 * time.Second
	wakesStay    = 10 * time.Second // for which an entity waits for its timer when it has recovered
)

// errKeepsNoTimers is the error of [WithTimers] for other journals.
var errKeepsNoTimers = errors.New("sharding: WithTimers needs a journal that keeps timers, such as those of persistence/sqlite and persistence/postgres")

// A waker is the actor that wakes the entities of a type on this node when their stored timers are
// due. It has in memory only what is due within a minute.
type waker struct {
	ctx    *actor.Context[wakerMsg]
	region *region
	store  journal.TimerStore
	clock  *storeclock.Clock
	queue  wakeQueue
	until  time.Time // the journal has been read up to there
	busy   bool      // it is being read
	again  bool      // and is to be read again after that
	left   wakeQueue // what entities that have ended meanwhile have left
}

// The messages to a waker.
type (
	wakerMsg interface{ wakerMsg() }
	// readDue: it is time to read the journal.
	readDue struct{ quiet }
	// wakeDue: it is time to wake entities.
	wakeDue struct{ quiet }
	// wakesRead: the journal has been read.
	wakesRead struct {
		quiet
		wakes []journal.Wake
		until time.Time
		err   error
	}
	// timerLeft: an entity has ended, and its first timer is due then.
	timerLeft struct {
		quiet
		wake journal.Wake
	}
)

func (quiet) wakerMsg() {}

// keepTimers starts the waker of a region, if it needs one.
func keepTimers(r *region) {
	r.wakes.begun, r.wakes.left = func() {}, func(id string, due time.Time) { warnOfTimers(r, id, due) }
	if r.set.mode() != table.OnDemand {
		r.wakes.left = func(string, time.Time) {} // its entities start again
		return
	}
	if r.set.timers == nil || !r.set.hosts {
		return
	}
	w := actor.Spawn(extension.Framework(r.system), func(ctx *actor.Context[wakerMsg], next *actor.Next[wakerMsg]) {
		w := &waker{ctx: ctx, region: r, store: r.set.timers, clock: storeclock.New(r.set.timers.Now, ctx.Log())}
		ctx.Every("read", wakesEvery, readDue{})
		next.OnMessage = w.receive
	}, "sharding-timers:"+escape(r.name), actor.WithKind(kind))
	r.wakes.left = func(id string, due time.Time) { w.Tell(timerLeft{wake: journal.Wake{Due: due, ID: id}}) }
	r.wakes.begun = func() { w.Tell(readDue{}) }
}

func (w *waker) receive(_ *actor.Context[wakerMsg], msg wakerMsg) actor.Behavior[wakerMsg] {
	switch msg := msg.(type) {
	case readDue:
		w.read()
	case wakesRead:
		w.busy = false
		w.took(msg)
		if w.again {
			w.read()
		}
	case timerLeft:
		if w.busy { // its entity may have been awake when the journal was read
			w.left = append(w.left, msg.wake)
		}
		w.add(msg.wake)
		w.wait()
	case wakeDue:
		w.wake()
	}
	return nil
}

// read reads the journal in the background.
func (w *waker) read() {
	if w.again = w.busy; w.busy {
		return
	}
	w.busy = true
	actor.PipeToSelf(w.ctx, func(ctx context.Context) (wakesRead, error) {
		ctx, cancel := context.WithTimeout(ctx, wakesTimeout)
		defer cancel()
		w.clock.Refresh(ctx)
		return w.wakes(ctx), nil
	}, func(read wakesRead, err error) wakerMsg {
		read.err = cmp.Or(read.err, err)
		return read
	})
}

// wakes reads which entities of shards on this node have timers that are due soon.
func (w *waker) wakes(ctx context.Context) wakesRead {
	read := wakesRead{until: w.clock.Now().Add(wakesAhead)}
	for after := (journal.Wake{}); ; {
		page, err := w.store.Wakes(ctx, journal.SliceRange{}, after, read.until, wakesPage)
		if err != nil {
			read.err = err
			return read
		}
		for _, one := range page {
			if sleeps(w.region, one.ID) {
				read.wakes = append(read.wakes, one)
			}
		}
		if len(page) < wakesPage {
			return read
		}
		after = page[len(page)-1]
		if len(read.wakes) >= maxWakes {
			read.until = after.Due
			return read
		}
	}
}

func (w *waker) took(read wakesRead) {
	if read.err != nil {
		w.ctx.Log().Warn("timers of sleeping entities not read; trying again", zap.String("type", w.region.name), zap.Error(read.err))
		return
	}
	w.queue, w.until = read.wakes, read.until
	heap.Init(&w.queue)
	for _, one := range w.left {
		w.add(one)
	}
	w.left = nil
	w.wait()
}

// add adds a wake, unless it is read from the journal before it is due.
func (w *waker) add(one journal.Wake) {
	if one.Due.Before(w.until) {
		heap.Push(&w.queue, one)
	}
}

// wait waits for the first of the queue.
func (w *waker) wait() {
	if len(w.queue) > 0 {
		w.ctx.After("wake", max(w.queue[0].Due.Sub(w.clock.Now()), 0), wakeDue{})
	}
}

// wake wakes entities whose timers are due. Those that are awake have their timers themselves.
func (w *waker) wake() {
	now, woken := w.clock.Now(), 0
	waiting := recovering(w.region.system, w.region.name)
	for len(w.queue) > 0 && !w.queue[0].Due.After(now) {
		if woken+waiting >= wakesAtOnce { // those that wait take memory, and a node may have a million
			w.ctx.After("wake", wakesPause, wakeDue{})
			return
		}
		if wakeUp(w.region, heap.Pop(&w.queue).(journal.Wake).ID) {
			woken++
		}
	}
	w.wait()
}

// residence returns the lane of the shard that has an entity, by its persistence id.
func residence(r *region, persistenceID string) (l *lane, name string, ok bool) {
	typ, id, ok := ParsePersistenceID(persistenceID)
	if !ok || typ != r.name {
		return nil, "", false
	}
	shard, there := r.shardOf(id)
	if !there {
		return nil, "", false
	}
	return r.lanes[shard], escape(id), true
}

// sleeps reports whether an entity belongs to a shard on this node and is not awake.
func sleeps(r *region, persistenceID string) bool {
	l, name, ok := residence(r, persistenceID)
	if !ok {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.residents != nil && l.residents.takes() && l.residents.all[name] == nil
}

// wakeUp wakes an entity if it sleeps in a shard on this node, and reports whether it does.
func wakeUp(r *region, persistenceID string) bool {
	l, name, ok := residence(r, persistenceID)
	if !ok {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.residents
	if all == nil || !all.takes() || all.all[name] != nil {
		return false
	}
	e := all.wake(name)
	if e != nil {
		e.timed = true
	}
	return e != nil
}

// A wakeOf is the first timer of an actor with that persistence id.
type wakeOf struct {
	id  string
	due time.Time
}

// leaveTimer notes that an actor has stopped and leaves a timer. The waker hears of the timer of an
// entity when it has been forgotten, because until then it counts as awake.
func leaveTimer(all *residents, id string, due time.Time) {
	_, name, ok := residence(all.lane.region, id)
	all.lane.mu.Lock()
	defer all.lane.mu.Unlock()
	if !ok || all.all[name] == nil {
		all.lane.region.wakes.left(id, due)
		return
	}
	if all.timers == nil {
		all.timers = map[string]wakeOf{}
	}
	all.timers[name] = wakeOf{id: id, due: due}
}

// warnOfTimers says once that nobody wakes entities for their timers.
func warnOfTimers(r *region, id string, due time.Time) {
	if r.wakes.warned.CompareAndSwap(false, true) {
		r.system.Log().Warn("an entity has ended with a stored timer, and nobody wakes entities of its type; start the type with WithTimers",
			zap.String("type", r.name), zap.String("id", id), zap.Time("due", due))
	}
}

// A wakeQueue is a heap of wakes, the first one first.
type wakeQueue []journal.Wake

func (q wakeQueue) Len() int           { return len(q) }
func (q wakeQueue) Less(i, j int) bool { return q[i].Due.Before(q[j].Due) }
func (q wakeQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push implements [heap.Interface].
func (q *wakeQueue) Push(x any) { *q = append(*q, x.(journal.Wake)) }

// Pop implements [heap.Interface].
func (q *wakeQueue) Pop() any {
	last := len(*q) - 1
	w := (*q)[last]
	*q = (*q)[:last]
	return w
}

// timerStore returns j as a store of timers.
func timerStore(j journal.Journal) (journal.TimerStore, error) {
	store, keeps := journal.As[journal.TimerStore](j)
	if !keeps {
		return nil, fmt.Errorf("%w; this is a %T", errKeepsNoTimers, j)
	}
	return store, nil
}
