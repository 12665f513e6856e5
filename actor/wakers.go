package actor

import (
	"sync"
	"time"
)

// A waker wakes a goroutine that waits for a reply.
type waker struct {
	wake  chan struct{} // of one place
	timer *time.Timer   // nil until it was needed; stopped while nobody waits
}

// after returns a channel that gets the time once, when d is over.
func (w *waker) after(d time.Duration) <-chan time.Time {
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	return w.timer.C
}

// wakers are those of one system, as a channel belongs to the bubble of testing/synctest that
// it was made in.
type wakers struct {
	pool    sync.Pool
	virtual bool // then nothing is kept, as who asks may be outside of the bubble
}

func (w *wakers) get() *waker {
	if one, ok := w.pool.Get().(*waker); ok {
		return one
	}
	return &waker{wake: make(chan struct{}, 1)}
}

// put takes back one whose channel is empty, and that nobody will send to.
func (w *wakers) put(one *waker) {
	if one.timer != nil {
		one.timer.Stop()
	}
	if !w.virtual {
		w.pool.Put(one)
	}
}
