package transport

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/transport/outbox"
)

// In bytes.
const writeBuffer = 64 << 10

// Few of many links write at the same time.
var writeBuffers = sync.Pool{New: func() any { return new([writeBuffer]byte) }}

// transmit returns the reason for which it ends.
func (l *link) transmit(conn net.Conn) error {
	lost := make(chan error, 1)
	l.links.running.Go(func() { lost <- l.readAcks(conn) })
	err := l.write(conn, lost)
	l.mu.Lock()
	l.conn = nil
	l.timing.failed() // so that connections that bring nothing do not follow each other at once
	l.mu.Unlock()
	discard(conn) // which ends readAcks, if that has not ended us
	if why := <-lost; err == nil {
		err = why
	}
	return err
}

// write returns nil if the connection was lost. The reason is left in lost.
func (l *link) write(conn net.Conn, lost chan error) error {
	timer := time.NewTimer(l.links.cfg.IdleAfter)
	defer timer.Stop()
	for {
		written, due, err := l.writeNext(conn)
		if err != nil {
			return err
		}
		if written {
			continue
		}
		timer.Reset(time.Until(due))
		select {
		case <-l.writer.wake:
			l.yield()
		case <-timer.C:
		case why := <-lost:
			// It goes back for transmit, which waits for the end of readAcks by this channel.
			lost <- why
			return nil
		}
	}
}

// One write then has the messages of many senders.
func (l *link) yield() {
	if l.key.channel == channelUser {
		runtime.Gosched()
	}
}

// due is when to look again, if nothing was written.
func (l *link) writeNext(conn net.Conn) (written bool, due time.Time, err error) {
	buf := writeBuffers.Get().(*[writeBuffer]byte)
	defer writeBuffers.Put(buf)
	bytes, rest, due, err := l.next(conn, buf[:0])
	switch {
	case err != nil, rest == nil && len(bytes) == 0:
		return false, due, err
	case rest != nil:
		return true, due, l.writeWithin(conn, rest.flush)
	}
	return true, due, l.writeWithin(conn, func() error {
		_, err := conn.Write(bytes)
		return err
	})
}

// The deadline is half of UnreachableAfter.
func (l *link) writeWithin(conn net.Conn, write func() error) error {
	if err := conn.SetWriteDeadline(time.Now().Add(l.links.cfg.UnreachableAfter / 2)); err != nil {
		return err
	}
	return write()
}

// Without bytes and rest, due is when to look again, or err is why the connection has ended. During
// an inline write nothing is returned: the inline writer wakes the writing goroutine for what is
// left.
func (l *link) next(conn net.Conn, buf []byte) (bytes []byte, rest *nonBlockingConn, due time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writer.awake()
	if l.conn != conn {
		return nil, nil, time.Time{}, errHungUp
	}
	if !l.writer.inline {
		if rest = l.writer.takeUnflushed(); rest != nil {
			return nil, rest, time.Time{}, nil
		}
		if bytes = l.out.Take(buf); len(bytes) > 0 {
			l.noteRoom()
			return bytes, nil, time.Time{}, nil
		}
	}
	due, err = l.sleepUntil()
	return nil, nil, due, err
}

// mu is held.
func (l *link) sleepUntil() (due time.Time, err error) {
	now := time.Now()
	if due, err = l.timing.next(&l.links.cfg, l.out.Len() == 0); now.Before(due) {
		l.writer.asleep, l.writer.slept = true, now
		return due, nil
	}
	return time.Time{}, err
}

func (l *link) readAcks(conn net.Conn) error {
	var count [ackSize]byte
	for {
		if _, err := io.ReadFull(conn, count[:]); err != nil {
			return err
		}
		if err := l.acknowledge(binary.BigEndian.Uint64(count[:])); err != nil {
			return err
		}
	}
}

func (l *link) acknowledge(count uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.out.Acknowledge(count); err != nil {
		return err
	}
	l.progressed()
	if l.out.Len() == 0 && !l.timing.finishBy.IsZero() {
		l.writer.wakeUp()
	}
	return nil
}

// mu is held.
func (l *link) progressed() {
	l.timing.since = time.Now()
	l.timing.failures = 0
	l.noteEmpty()
}

// A sender to an idle link writes the message itself, without blocking, which saves waking the
// writing goroutine. Soon after another send, the goroutine writes for several senders at a time.
const (
	inlinePause = 40 * time.Microsecond // without a send, after which a link is idle
	inlineBytes = 4 << 10               // larger writes are left to the goroutine
)

var inlineBuffers = sync.Pool{New: func() any { return new([inlineBytes]byte) }}

type writerState struct {
	wake        chan struct{}    // capacity 1; wakes the goroutine
	asleep      bool             // it waits for wake
	slept       time.Time        // when it fell asleep, or when a sender began to write inline
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
	// The begin counts, because a reply, and with it the next request, may come before the end.
	l.writer.slept = time.Now()
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
	w.rest = w.rest || rest && l.conn == conn
	if w.rest || first || l.out.Unsent() > 0 {
		w.wakeUp() // first: it is to look for acknowledgements from now on
	}
}
