package actor

import (
	"time"

	"github.com/understudy-go/understudy/internal/metadata"
)

// timers are the keyed timers of a cell. A timer that fires puts a task into the mailbox, which
// delivers the message only if its timer is still the one with its key; so a cancelled timer never
// delivers.
type timers struct {
	byKey map[string]*keyedTimer
	idle  *receiveTimeout // nil for none
}

type repetition uint8

const (
	onceAfter repetition = iota
	everyInterval
	atFixedRate
)

func (r repetition) String() string { return [...]string{"After", "Every", "AtFixedRate"}[r] }

type keyedTimer struct {
	unsent
	key     string
	every   time.Duration // of one that repeats
	repeats repetition
	due     time.Time // at a fixed rate
	msg     any
	from    metadata.Metadata // links to what has started the timer; empty once it has fired
	by      *cell
	queued  queuedTimer
}

func (t *timers) set(c *cell, d time.Duration, k *keyedTimer) {
	t.cancel(k.key)
	if c.core.ending() {
		return
	}
	if t.byKey == nil {
		t.byKey = make(map[string]*keyedTimer)
	}
	t.byKey[k.key] = k
	k.by, k.queued.of = c, k
	k.queue().add(&k.queued, d)
}

func (k *keyedTimer) queue() *timerQueue {
	q := &k.by.core.sys.timers
	return &q[k.by.core.uid%uint64(len(q))]
}

func (k *keyedTimer) expire() { k.by.post(item{task: k}, entrance{metadata: k.from}) }

func (t *timers) cancel(key string) {
	if k, ok := t.byKey[key]; ok {
		k.queue().cancel(&k.queued)
		delete(t.byKey, key)
	}
}

func (t *timers) cancelAll() {
	for key := range t.byKey {
		t.cancel(key)
	}
}

func (t *timers) cancelIdle() {
	if t.idle != nil {
		t.idle.timer.Stop()
		t.idle = nil
	}
}

func (t *timers) stop() {
	t.cancelAll()
	t.cancelIdle()
}

func (k *keyedTimer) run(c *cell) {
	if c.timers.byKey[k.key] != k {
		// The timer may have fired before it was cancelled or replaced, and have waited in the
		// mailbox since. Only the turn changes byKey, so this is decided without a race.
		return
	}
	if k.repeats != onceAfter {
		k.from = metadata.Metadata{}
		defer k.again(c)
	} else {
		delete(c.timers.byKey, k.key)
	}
	c.handleTaskMessage(k.msg)
}

// again is called also when the handling has failed and the actor resumes.
func (k *keyedTimer) again(c *cell) {
	if c.timers.byKey[k.key] != k {
		return
	}
	wait := k.every
	if k.repeats == atFixedRate {
		k.due = k.due.Add(k.every)
		wait = time.Until(k.due)
	}
	k.queue().add(&k.queued, wait)
}

// Every message restarts it. One that has fired and waits in the mailbox is obsolete if a message
// is before it.
type receiveTimeout struct {
	unsent
	after time.Duration
	msg   any
	timer *time.Timer
	due   time.Time
}

func newReceiveTimeout(c *cell, d time.Duration, msg any) *receiveTimeout {
	r := &receiveTimeout{after: d, msg: msg, due: time.Now().Add(d)}
	r.timer = time.AfterFunc(d, func() { c.post(item{task: r}, entrance{}) })
	return r
}

// A message may be marked not to restart it.
func (r *receiveTimeout) told(msg any) {
	if _, keeps := msg.(interface{ KeepsReceiveTimeout() }); keeps {
		return
	}
	r.begin()
}

func (r *receiveTimeout) begin() {
	r.due = time.Now().Add(r.after)
	r.timer.Reset(r.after)
}

func (r *receiveTimeout) run(c *cell) {
	if c.timers.idle == r && !time.Now().Before(r.due) {
		r.begin() // msg may be marked not to
		c.box.handle(r.msg)
	}
}
