package actor

import (
	"context"
	"sync"
	"time"
)

type waker struct {
	wake  chan struct{} // with one place
	timer *time.Timer   // nil until it is needed; stopped while no goroutine waits

	// Of an ask inside a handler; the mutex of the wakers guards all.
	asker, asked *core // nil for other asks
	since        time.Time
	place        linked[waker]
}

// Without a timeout, the channel receives when an ask whose ctx has no deadline has waited for
// long.
func (w *waker) deadline(ctx context.Context, timeout time.Duration) <-chan time.Time {
	if timeout > 0 {
		return w.after(timeout)
	}
	if _, ends := ctx.Deadline(); ends {
		return nil
	}
	return w.after(longAsk)
}

func (w *waker) after(d time.Duration) <-chan time.Time {
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	return w.timer.C
}

// wakers are not shared between systems, because a channel belongs to the bubble of
// testing/synctest in which it was made.
type wakers struct {
	pool    sync.Pool
	virtual bool // nothing is kept: the asking goroutine may be outside the bubble

	mu     sync.Mutex        // guards inside
	inside linkedList[waker] // of the asks that keep handlers waiting, by their begin
}

func (w *wakers) get() *waker {
	if one, ok := w.pool.Get().(*waker); ok {
		return one
	}
	return &waker{wake: make(chan struct{}, 1)}
}

// Its channel is empty, and no goroutine will send to it.
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

func (w *wakers) waits(one *waker, asker, asked *core, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one.asker, one.asked, one.since = asker, asked, since
	w.inside.add(&one.place, one)
}

func (w *wakers) forget(one *waker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one.place.remove()
	one.asker, one.asked = nil, nil
}

type pendingWait struct {
	asker, asked *core
	since        time.Time
}

// The waits are the oldest that began before a time, at most so many, the oldest first. inside is
// how many such asks there are whenever they began.
func (w *wakers) oldest(before time.Time, most int) (all []pendingWait, inside int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.inside.all {
		if len(all) == most || !one.since.Before(before) {
			break
		}
		all = append(all, pendingWait{one.asker, one.asked, one.since})
	}
	return all, w.inside.size
}
