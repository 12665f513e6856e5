package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/remote/internal/outbox"
)

// A link is the sending side of one channel to one peer: an outbox and the goroutine that
// empties it. It comes into being with the first letter, survives its connections, and
// ends when it has been idle or the peer unreachable for long enough, or by close.
type link struct {
	end    *Endpoint
	key    linkKey
	log    *zap.Logger
	cancel context.CancelCauseFunc // ends attempts to connect
	wake   chan struct{}           // capacity 1: there is news for who is asleep

	mu          sync.Mutex // guards all below
	out         outbox.Outbox
	since       time.Time // of the last sign that the peer takes what is in out
	failures    int       // since then: attempts and connections
	conn        net.Conn  // nil while there is none, or none that is of use
	opened      time.Time // when there was the last one
	nonBlocking *nonBlockingConn
	asleep      bool      // the writing goroutine waits for wake
	slept       time.Time // when it began to, or when somebody wrote in its place
	inline      bool      // somebody writes in its place: the writing goroutine leaves conn alone
	rest        bool      // conn has not taken all of what somebody has written in its place
	as          uint64    // our own incarnation in this session
	with        uint64    // the peer's, once it is known
	session     uint64
	finishBy    time.Time // set by finish: when to give up
	over        bool      // takes no more letters

	empty chan struct{} // closed when out has become empty; nil if nobody waits for that
}

// A linkKey names one channel of a peer.
type linkKey struct {
	addr    string
	channel channel
}

// errIdle is why a link that has ended takes no letters: a new one will.
var errIdle = errors.New("remote: link has ended")

// send queues a letter, and writes it when that can be done at once. It fails with errIdle or
// [ErrOutboxFull].
func (l *link) send(x outbox.Frame) error {
	l.mu.Lock()
	if err := l.enqueue(x); err != nil {
		l.mu.Unlock()
		return err
	}
	if !l.mayWriteInline(x) {
		l.wakeWriter()
		l.mu.Unlock()
		return nil
	}
	l.inline = true
	l.mu.Unlock()
	l.writeInline()
	return nil
}

// enqueue puts a letter into the outbox. The caller holds mu.
func (l *link) enqueue(x outbox.Frame) error {
	if l.over {
		return errIdle
	}
	if l.out.Len() == 0 {
		l.since = time.Now()
	}
	if !l.push(x) {
		return ErrOutboxFull
	}
	return nil
}

// push makes room on the control channel, where what is newest counts.
func (l *link) push(x outbox.Frame) bool {
	if l.out.Push(x) {
		return true
	}
	return l.key.channel == channelControl && l.out.DropOldest() && l.out.Push(x)
}

// rouse wakes the writing goroutine. The caller holds mu.
func (l *link) wakeWriter() {
	if l.asleep {
		l.asleep = false
		l.wake <- struct{}{}
	}
}

// run empties the outbox until there is nothing left to do.
func (l *link) run(ctx context.Context) {
	for {
		conn, err := l.connect(ctx)
		if err != nil {
			l.close(err)
			return
		}
		err = l.transmit(conn)
		if l.retire() {
			return
		}
		l.log.Info("connection lost", zap.Error(err))
	}
}

// retire ends the link if nothing is left in it.
func (l *link) retire() bool {
	l.mu.Lock()
	l.over = l.over || l.out.Len() == 0
	over := l.over
	l.noteEmpty()
	l.mu.Unlock()
	if over {
		l.cancel(errIdle)
		l.end.drop(l)
	}
	return over
}

// close ends the link. What is left in it becomes dead letters.
func (l *link) close(reason error) {
	l.mu.Lock()
	l.over = true
	doubtful, unsent := l.out.Abandon(), l.out.Drain()
	l.noteEmpty()
	conn := l.conn
	l.conn = nil
	l.wakeWriter()
	l.mu.Unlock()

	l.cancel(reason)
	if conn != nil {
		discard(conn)
	}
	l.end.drop(l)
	l.lose(doubtful, fmt.Errorf("%w: %w", ErrInDoubt, reason))
	l.lose(unsent, reason)
}

// lose makes dead letters.
func (l *link) lose(frames []outbox.Frame, reason error) {
	frames = outbox.OncePerMessage(frames)
	if len(frames) == 0 {
		return
	}
	l.log.Log(l.lossLevel(), "messages lost", zap.Int("messages", len(frames)), zap.Error(reason))
	for _, x := range frames {
		l.end.deadLetter(x, fmt.Errorf("%w: %w", actor.ErrUnreachable, reason))
	}
}

// lossLevel: control frames are repeated by those who send them.
func (l *link) lossLevel() zapcore.Level {
	if l.key.channel == channelControl {
		return zap.DebugLevel
	}
	return zap.WarnLevel
}

// finish lets the link end as soon as all is acknowledged, and by then at the latest.
func (l *link) finish(by time.Time) {
	l.mu.Lock()
	l.finishBy = by
	l.wakeWriter()
	l.mu.Unlock()
	l.cancel(ErrClosed)
}

// hangUp ends the present connection, unless it is with that incarnation of the peer.
// Nothing more is sent on it.
func (l *link) hangUp(unlessWith uint64) {
	l.mu.Lock()
	conn := l.conn
	if l.with == unlessWith {
		conn = nil
	} else {
		l.conn = nil
	}
	l.mu.Unlock()
	if conn != nil {
		discard(conn)
	}
}

// isWith tells whether the link leads, or may lead, to that incarnation.
func (l *link) isWith(incarnation uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.with == 0 || l.with == incarnation
}
