package remote

import (
	"sync"
	"time"

	"github.com/understudy-go/understudy/remote/internal/outbox"
)

// Who sends to a link that is at rest writes at once, without waiting, instead of waking the
// writing goroutine: that saves the time it takes to wake. Who sends soon after somebody else
// leaves it to the goroutine, which writes for many at a time.
const (
	inlinePause = 20 * time.Microsecond // after which a link is at rest
	inlineBytes = 4 << 10               // more is for the goroutine
)

var inlineBuffers = sync.Pool{New: func() any { return new([inlineBytes]byte) }}

// mayLead tells whether who has just queued x is to write it. The caller holds mu.
func (l *link) mayWriteInline(x outbox.Frame) bool {
	return l.asleep && !l.inline && l.conn != nil && l.nonBlocking != nil &&
		l.out.Unsent() == 1 && len(x.Bytes) <= inlineBytes && time.Since(l.slept) > inlinePause
}

// lead writes what waits, up to leadBytes, in place of the writing goroutine, which leaves the
// connection alone meanwhile. What the connection does not take is left to it.
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
