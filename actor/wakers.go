package actor

import (
	"context"
	"sync"
	"time"
)

// A waker wakes a goroutine that waits for a reply.
type waker struct {
	wake  chan struct{} // with one place
	timer *time.Timer   // nil until it is needed; stopped while nobody waits

	// Of an ask inside a handler; the mutex of the wakers guards all.
	asker, asked   *core // nil for other asks
	since          time.Time
	earlier, later *waker
}

// alarm returns a channel that receives after timeout. Without a timeout, it receives when an ask
// whose ctx has no deadline has waited for long.
func (w *waker) alarm(ctx context.Context, timeout time.Duration) <-chan time.Time {
	if timeout > 0 {
		return w.after(timeout)
	}
	if _, ends := ctx.Deadline(); ends {
		return nil
	}
	return w.after(longAsk)
}

// after returns a channel that receives once, after d.
func (w *waker) after(d time.Duration) <-chan time.Time {
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	return w.timer.C
}

// wakers is the pool of wakers of one system. It is not shared between systems, because a channel
// belongs to the bubble of testing/synctest in which it was made.
type wakers struct {
	pool    sync.Pool
	virtual bool // nothing is kept then: the asking goroutine may be outside the bubble

	mu          sync.Mutex // guards all below
	first, last *waker     // of the asks that keep handlers waiting, by their begin
	inside      int        // how many there are
}

func (w *wakers) get() *waker {
	if one, ok := w.pool.Get().(*waker); ok {
		return one
	}
	return &waker{wake: make(chan struct{}, 1)}
}

// put takes back a waker whose channel is empty and to which nobody will send.
func (w *wakers) put(one *waker) {
	if one.timer != nil {
		one.timer.Stop()
	}
	if one.asker != nil { // which its own goroutine has set
		w.forget(one)
	}
	if !w.virtual {
		w.pool.Put(one)
	}
}

// waits notes that a handler of asker waits for a reply of asked.
func (w *wakers) waits(one *waker, asker, asked *core, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one.asker, one.asked, one.since = asker, asked, since
	one.earlier, one.later = w.last, nil
	if w.last == nil {
		w.first = one
	} else {
		w.last.later = one
	}
	w.last = one
	w.inside++
}

// forget notes that the handler waits no longer.
func (w *wakers) forget(one *waker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one.earlier == nil {
		w.first = one.later
	} else {
		one.earlier.later = one.later
	}
	if one.later == nil {
		w.last = one.earlier
	} else {
		one.later.earlier = one.earlier
	}
	one.asker, one.asked, one.earlier, one.later = nil, nil, nil, nil
	w.inside--
}

// A pendingWait is an ask inside a handler.
type pendingWait struct {
	asker, asked *core
	since        time.Time
}

// oldest returns the asks inside handlers that began before a time, at most so many and the oldest
// first, and how many such asks there are whenever they began.
func (w *wakers) oldest(before time.Time, most int) (all []pendingWait, inside int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := w.first; one != nil && len(all) < most && one.since.Before(before); one = one.later {
		all = append(all, pendingWait{one.asker, one.asked, one.since})
	}
	return all, w.inside
}
