package actor

import (
	"math"
	"sync"
	"time"
)

// The timer of a waker outlives the ask that has started it, so it may go off too early, or for an
// ask that has ended. To start and to stop one for each ask would cost a wake-up of the thread that
// waits for the network, which has to learn each time when to look next.
type waker struct {
	wake  chan struct{} // with one place
	early chan struct{} // the timer has gone off; with one place
	timer *time.Timer   // nil until it is needed
	at    time.Duration // when the timer goes off, since epoch

	// Of an ask inside a handler; the mutex of the wakers guards all.
	asker, asked *core // nil for other asks
	since        time.Time
	place        linked[waker]
}

// A timer that belongs to a waker which the pool has dropped is kept that long.
const maxWakerTimer = longAsk

// never is the end of an ask that needs no timer. Nobody sees the end of one that waits for ages.
const (
	never = time.Duration(math.MaxInt64)
	ages  = 100 * 365 * 24 * time.Hour
)

// wakeAt lets early receive something at end, and perhaps before.
func (w *waker) wakeAt(now, end time.Duration) {
	if end == never {
		return
	}
	if w.timer != nil && now < w.at && w.at <= end {
		return
	}
	d := min(end-now, maxWakerTimer)
	w.at = now + d
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.goOff)
	} else {
		w.timer.Reset(d)
	}
}

func (w *waker) goOff() {
	select {
	case w.early <- struct{}{}:
	default:
	}
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
	return &waker{wake: make(chan struct{}, 1), early: make(chan struct{}, 1)}
}

// Its channel is empty, and no goroutine will send to it.
func (w *wakers) put(one *waker) {
	if one.asker != nil { // which its own goroutine has set
		w.forget(one)
	}
	switch {
	case !w.virtual:
		w.pool.Put(one)
	case one.timer != nil:
		one.timer.Stop()
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
