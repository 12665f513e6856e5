package actor

import "sync"

// wakers are the channels of one place by which those are woken who wait for a reply; of
// one system, as a channel belongs to the bubble of testing/synctest that it was made in.
type wakers struct {
	pool    sync.Pool
	virtual bool // then nothing is kept, as who asks may be outside of the bubble
}

func (w *wakers) get() chan struct{} {
	if ch, ok := w.pool.Get().(chan struct{}); ok {
		return ch
	}
	return make(chan struct{}, 1)
}

// put takes back one that is empty, and that nobody will send to.
func (w *wakers) put(ch chan struct{}) {
	if !w.virtual {
		w.pool.Put(ch)
	}
}
