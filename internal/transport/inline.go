package transport

import (
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/transport/outbox"
)

// A sender to an idle link writes the message itself, without blocking, which saves waking the
// writing goroutine. Soon after another send, the goroutine writes for several senders at a time.
const (
	inlinePause = 20 * time.Microsecond // without a send, after which a link is idle
	inlineBytes = 4 << 10               // larger writes are left to the goroutine
)

var inlineBuffers = sync.Pool{New: func() any { return new([inlineBytes]byte) }}

type writerState struct {
	wake        chan struct{}    // capacity 1; wakes the goroutine
	asleep      bool             // it waits for wake
	slept       time.Time        // when it fell asleep, or when a sender wrote inline
	inline      bool             // a sender writes in its place: it leaves the connection alone
	nonBlocking *nonBlockingConn // below the connection, or nil
	rest        bool             // the connection has not taken all of what a sender has written
}

func (w *writerState) wakeUp() {
	if w.asleep {
		w.asleep = false
		w.wake <- struct{}{}
	}
}

func (w *writerState) awake() {
	w.asleep = false
	select {
	case <-w.wake:
	default:
	}
}

func (w *writerState) takeUnflushed() *nonBlockingConn {
	if !w.rest {
		return nil
	}
	w.rest = false
	return w.nonBlocking
}

// x was just queued. mu is held.
func (l *link) mayWriteInline(x outbox.Frame) bool {
	w := &l.writer
	return l.conn != nil && l.out.Unsent() == 1 && len(x.Bytes) <= inlineBytes &&
		w.asleep && !w.inline && w.nonBlocking != nil && time.Since(w.slept) > inlinePause
}

// The writing goroutine does not use the connection meanwhile. What the connection does not accept
// is left to it.
func (l *link) writeInline() {
	buf := inlineBuffers.Get().(*[inlineBytes]byte)
	defer inlineBuffers.Put(buf)
	l.mu.Lock()
	// The connection may have been closed since send has looked, and another one opened. inline
	// keeps the goroutine from both, so bytes are never written between its own.
	conn, nonBlocking := l.conn, l.writer.nonBlocking
	first := l.out.InFlight() == 0
	var bytes []byte
	if conn != nil {
		bytes = l.out.Take(buf[:0])
		l.noteRoom()
	}
	l.mu.Unlock()

	var rest bool
	if conn != nil {
		rest = nonBlocking.withoutBlocking(func() { _, _ = conn.Write(bytes) }) // an error is kept for flush, or TLS repeats it
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	w := &l.writer
	w.inline = false
	w.slept = time.Now()
	w.rest = w.rest || rest && l.conn == conn
	if w.rest || first || l.out.Unsent() > 0 {
		w.wakeUp() // first: it is to look for acknowledgements from now on
	}
}
