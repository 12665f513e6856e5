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
	if !w.virtual {
		w.pool.Put(one)
	}
}
