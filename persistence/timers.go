package persistence

import (
	"container/heap"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/storeclock"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence/journal"
)

// maxAttempts bounds the attempts that one append stores.
const maxAttempts = 100

const minRetry = 100 * time.Millisecond

type timer struct {
	journal.Timer
	firing bool      // its message waits in the actor, or is being handled
	next   time.Time // not before then; later than Due after a failure
	at     int       // its index in the queue; -1 if it is not there
}

// timers are the stored timers of one actor. Only the actor uses them, except for the alarm.
type timers struct {
	clock *storeclock.Clock
	alarm *storeclock.Timer
	byKey map[string]*timer
	queue timerQueue // those that are not firing
}

func (t *timers) load(stored []journal.Timer) {
	for _, one := range stored {
		t.add(one)
	}
	t.arm()
}

// timersOf returns the timers of an actor whose journal keeps them. Few actors have any.
func timersOf(e *entity) *timers {
	if e.timers == nil {
		c := clockOf(e.ctx.System(), e.timerStore)
		e.timers = &timers{clock: c, byKey: map[string]*timer{}, alarm: storeclock.NewTimer(c, e.wake)}
	}
	return e.timers
}

func (t *timers) change(changes []journal.TimerChange) {
	for i := range changes {
		c := &changes[i]
		switch old := t.byKey[c.Key]; {
		case c.Remove:
			t.drop(old)
		case old != nil && c.Attempt > 0: // its next attempt has been attempt
			old.Attempt = c.Attempt
		default:
			t.drop(old)
			t.add(c.Timer)
		}
	}
	t.arm()
}

func (t *timers) add(stored journal.Timer) {
	added := &timer{Timer: stored, next: stored.Due, at: -1}
	t.byKey[stored.Key] = added
	heap.Push(&t.queue, added)
}

func (t *timers) drop(old *timer) {
	if old == nil {
		return
	}
	delete(t.byKey, old.Key)
	if old.at >= 0 {
		heap.Remove(&t.queue, old.at)
	}
}

// current reports whether a timer has been neither removed nor replaced.
func (t *timers) current(one *timer) bool { return t.byKey[one.Key] == one }

func (t *timers) take() (due []*timer) {
	now := t.clock.Now()
	for len(t.queue) > 0 && len(due) < maxAttempts && !t.queue[0].next.After(now) {
		one := heap.Pop(&t.queue).(*timer)
		one.firing = true
		due = append(due, one)
	}
	return due
}

func (t *timers) retry(one *timer, delay time.Duration) {
	if !t.current(one) {
		return
	}
	one.firing, one.next = false, t.clock.Now().Add(delay)
	heap.Push(&t.queue, one)
	t.arm()
}

// arm sets the alarm for the first timer.
func (t *timers) arm() {
	if len(t.queue) > 0 {
		t.alarm.Set(t.queue[0].next)
	} else {
		t.alarm.Set(time.Time{})
	}
}

func (t *timers) any() bool { return t != nil && len(t.byKey) > 0 }

func (t *timers) first() (due time.Time, ok bool) {
	for _, one := range t.byKey {
		if !ok || one.Due.Before(due) {
			due, ok = one.Due, true
		}
	}
	return due, ok
}

// endTimers stops the alarm, and leaves the timers to the code that wakes the actor.
func endTimers(e *entity) {
	if e.timers == nil {
		return
	}
	e.timers.alarm.Set(time.Time{})
	if due, ok := e.timers.first(); ok {
		tenure.Of(e.ctx).LeftTimers(e.id, due)
	}
}

// fire stores the attempts of the timers that are due, and then lets the actor handle their
// messages.
func fire(e *entity) outcome {
	if e.timers == nil {
		return outcome{}
	}
	due := e.timers.take()
	e.timers.arm()
	if len(due) == 0 {
		return outcome{}
	}
	plan := new(plan)
	for _, t := range due {
		attempt := t.Timer
		attempt.Attempt++
		plan.attempts = append(plan.attempts, journal.TimerChange{Timer: attempt, Remove: t.Shredded})
	}
	plan.then = append(plan.then, doing(func() { enqueue(e, due) }))
	return perform(e, command{ctx: e.ctx}, plan)
}

// enqueue lets the messages of timers run after the commands that wait. A message that cannot be
// decoded stays in the journal, for a program that can. One whose key was destroyed has been
// removed.
func enqueue(e *entity, due []*timer) {
	for _, t := range due {
		if t.Shredded {
			e.caller.log.Info("timer removed: the key of its message has been destroyed", zap.String("timer", t.Key))
			continue
		}
		msg, err := unpack(e.ctx.System(), e.user.types().command, t.Type, t.Payload)
		if err != nil {
			err = fmt.Errorf("timer %q, due at %v: %w", t.Key, t.Due, err)
			e.caller.log.Error("message of a timer not delivered; the timer is kept", zap.Error(err))
			e.report(TimerFailed{Timer: t.public(), Err: err})
			continue
		}
		e.idleness.busy()
		e.counts.fired(e.timers.clock.Now().Sub(t.Due), t.Attempt)
		e.commands.put(command{msg: msg, ctx: e.ctx, timer: t})
	}
}

func (t *timer) public() Timer { return Timer{Key: t.Key, Due: t.Due, Attempt: int(t.Attempt)} }

// handle returns the plan of a command. During the message of a timer, TimerOf finds it.
func handle(e *entity, cmd command) *plan {
	t := cmd.timer
	if t == nil {
		return decide(e, cmd)
	}
	fired := firedOf(e.ctx.System())
	fired.Store(cmd.ctx, t.public())
	handled := false
	defer func() {
		fired.Delete(cmd.ctx)
		if !handled { // supervision may resume the actor
			retry(e, t)
		}
	}()
	plan := decide(e, cmd)
	handled = true
	if !plan.stash {
		plan.attempts = append(plan.attempts, journal.TimerChange{Timer: journal.Timer{Key: t.Key}, Remove: true})
	}
	return plan
}

// decide returns the plan that is executed for a command. A command that cannot be executed becomes
// a dead letter.
func decide(e *entity, cmd command) *plan {
	handled := observe(e, e.onCommand, cmd.msg)
	decided := e.user.command(e.at, cmd.ctx, cmd.msg)
	handled()
	plan, err := resolve(e, decided)
	if err != nil {
		e.deadLetter(cmd.msg, err)
	}
	return plan
}

// observe tells the observer that a function of the user gets the present state and input, and
// returns the function to be called after it.
func observe(e *entity, handler, input any) (handled func()) {
	if e.seen == nil || e.seen.Handles == nil {
		return unobserved
	}
	return e.seen.Handles(handler, e.user.value(e.at), input)
}

func unobserved() {}

// retry fires a timer again after a delay that grows with its attempts.
func retry(e *entity, t *timer) {
	e.timers.retry(t, max(e.OnPersistFailure.Delay(int(min(t.Attempt, 100))-1), minRetry))
}

// firing has, for the Contexts of handlers that run because of timers, these timers.
type firing struct{ sync.Map }

func firedOf(s *actor.System) *firing {
	return extension.Ensure(s, func() *firing { return &firing{} })
}

type timerQueue []*timer

func (q timerQueue) Len() int           { return len(q) }
func (q timerQueue) Less(i, j int) bool { return q[i].next.Before(q[j].next) }

func (q timerQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}

func (q *timerQueue) Push(x any) {
	t := x.(*timer)
	t.at = len(*q)
	*q = append(*q, t)
}

func (q *timerQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last], t.at = nil, -1
	*q = (*q)[:last]
	return t
}

type clocks struct {
	mu      sync.Mutex // guards byStore
	byStore map[journal.TimerStore]*storeclock.Clock
}

// clockOf returns the clock of a journal, which the actors of s share.
func clockOf(s *actor.System, store journal.TimerStore) *storeclock.Clock {
	all := extension.Ensure(s, func() *clocks { return &clocks{byStore: map[journal.TimerStore]*storeclock.Clock{}} })
	all.mu.Lock()
	defer all.mu.Unlock()
	c := all.byStore[store]
	if c == nil {
		c = storeclock.New(store.Now, s.Log())
		all.byStore[store] = c
	}
	return c
}
