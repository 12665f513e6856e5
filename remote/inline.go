package remote

import (
	"sync"
	"time"

	"github.com/understudy-go/understudy/remote/internal/outbox"
)

// A sender to an idle link writes the message itself, without blocking, which saves waking the
// writing goroutine. Soon after another send, the goroutine writes for several senders at a time.
const (
	inlinePause = 20 * time.Microsecond // without a send, after which a link is idle
	inlineBytes = 4 << 10               // larger writes are left to the goroutine
)

var inlineBuffers = sync.Pool{New: func() any { return new([inlineBytes]byte) }}

// mayWriteInline reports whether the sender of x, which was just queued, writes it. The caller
// holds mu.
func (l *link) mayWriteInline(x outbox.Frame) bool {
	return l.asleep && !l.inline && l.conn != nil && l.nonBlocking != nil &&
		l.out.Unsent() == 1 && len(x.Bytes) <= inlineBytes && time.Since(l.slept) > inlinePause
}

// writeInline writes up to inlineBytes of what waits, in place of the writing goroutine, which
// does not use the connection meanwhile. It leaves what the connection does not accept to the
// goroutine.
func (l *link) writeInline() {
	buf := inlineBuffers.Get().(*[inlineBytes]byte)
	defer inlineBuffers.Put(buf)
	l.mu.Lock()
	conn, nonBlocking := l.conn, l.nonBlocking
	first := l.out.InFlight() == 0
	var bytes []byte
	if conn != nil {
		bytes = l.out.Take(buf[:0])
	}
	l.mu.Unlock()

	var rest bool
	if conn != nil {
		rest = nonBlocking.withoutBlocking(func() { _, _ = conn.Write(bytes) }) // an error is kept for flush, or TLS repeats it
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	l.inline = false
	l.slept = time.Now()
	l.rest = l.rest || rest && l.conn == conn
	if l.rest || first || l.out.Unsent() > 0 {
		l.wakeWriter() // first: it is to look for acknowledgements from now on
	}
}
