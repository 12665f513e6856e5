package actor

import (
	"time"

	"github.com/understudy-go/understudy/internal/metadata"
)

// timers are the keyed timers of a cell. A timer that fires puts a task into the mailbox, which
// delivers the message only if its timer is still the one with its key; so a cancelled timer never
// delivers.
type timers[M any] struct {
	byKey map[string]*keyedTimer[M]
	idle  *receiveTimeout[M] // nil for none
}

type keyedTimer[M any] struct {
	key   string
	every time.Duration // 0: once
	due   time.Time     // at a fixed rate; else zero
	msg   M
	from  metadata.Metadata // links to what has started the timer; empty once it has fired
	by    *cell[M]
	alarm alarm
}

func (t *timers[M]) set(c *cell[M], d time.Duration, k *keyedTimer[M]) {
	t.cancel(k.key)
	if c.core.ending() {
		return
	}
	if t.byKey == nil {
		t.byKey = make(map[string]*keyedTimer[M])
	}
	t.byKey[k.key] = k
	k.by, k.alarm.of = c, k
	k.queue().add(&k.alarm, d)
}

func (k *keyedTimer[M]) queue() *timerQueue { return k.by.core.sys.timers.of(&k.by.core) }

// expire puts the timer into the mailbox.
func (k *keyedTimer[M]) expire() { k.by.post(item[M]{task: k}, entrance{metadata: k.from}) }

func (t *timers[M]) cancel(key string) {
	if k, ok := t.byKey[key]; ok {
		k.queue().cancel(&k.alarm)
		delete(t.byKey, key)
	}
}

func (t *timers[M]) cancelAll() {
	for key := range t.byKey {
		t.cancel(key)
	}
}

func (t *timers[M]) cancelIdle() {
	if t.idle != nil {
		t.idle.timer.Stop()
		t.idle = nil
	}
}

// stop cancels everything.
func (t *timers[M]) stop() {
	t.cancelAll()
	t.cancelIdle()
}

func (k *keyedTimer[M]) run(c *cell[M]) {
	if c.timers.byKey[k.key] != k {
		return
	}
	if k.every > 0 {
		k.from = metadata.Metadata{}
		defer k.again(c)
	} else {
		delete(c.timers.byKey, k.key)
	}
	c.handleTaskMessage(k.msg)
}

// again restarts a repeating timer once its message has been handled, also when that failed and the
// actor resumes.
func (k *keyedTimer[M]) again(c *cell[M]) {
	if c.timers.byKey[k.key] != k {
		return
	}
	wait := k.every
	if !k.due.IsZero() {
		k.due = k.due.Add(k.every)
		wait = time.Until(k.due)
	}
	k.queue().add(&k.alarm, wait)
}

func (k *keyedTimer[M]) exempt() bool { return true }

func (k *keyedTimer[M]) undelivered() (any, bool) { return nil, false }

// A receiveTimeout is a timer that every message restarts. One that has fired and waits in the
// mailbox is obsolete if a message is before it.
type receiveTimeout[M any] struct {
	after time.Duration
	msg   M
	timer *time.Timer
	due   time.Time
}

func newReceiveTimeout[M any](c *cell[M], d time.Duration, msg M) *receiveTimeout[M] {
	r := &receiveTimeout[M]{after: d, msg: msg, due: time.Now().Add(d)}
	r.timer = time.AfterFunc(d, func() { c.post(item[M]{task: r}, entrance{}) })
	return r
}

// told restarts the timer, unless msg is marked not to.
func (r *receiveTimeout[M]) told(msg any) {
	if _, keeps := msg.(interface{ KeepsReceiveTimeout() }); keeps {
		return
	}
	r.begin()
}

func (r *receiveTimeout[M]) begin() {
	r.due = time.Now().Add(r.after)
	r.timer.Reset(r.after)
}

func (r *receiveTimeout[M]) run(c *cell[M]) {
	if c.timers.idle == r && !time.Now().Before(r.due) {
		r.begin() // msg may be marked not to
		c.handleMessage(r.msg)
	}
}

func (r *receiveTimeout[M]) exempt() bool { return true }

func (r *receiveTimeout[M]) undelivered() (any, bool) { return nil, false }
