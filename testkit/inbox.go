package testkit

import (
	"sync"
	"time"
)

// An inbox has one reader.
type inbox[M any] struct {
	mu    sync.Mutex // guards queue
	queue []M
	more  chan struct{} // capacity 1: the queue may have become non-empty
}

func (b *inbox[M]) put(msg M) {
	b.mu.Lock()
	b.queue = append(b.queue, msg)
	b.mu.Unlock()
	select {
	case b.more <- struct{}{}:
	default:
	}
}

func (b *inbox[M]) take(limit time.Duration) (msg M, ok bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		if msg, ok = b.poll(); ok {
			return msg, true
		}
		select {
		case <-b.more:
		case <-timer.C:
			return b.poll()
		}
	}
}

func (b *inbox[M]) poll() (msg M, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return msg, false
	}
	msg = b.queue[0]
	b.queue = b.queue[1:]
	return msg, true
}
