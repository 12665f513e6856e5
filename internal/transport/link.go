package transport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/transport/outbox"
	"github.com/understudy-go/understudy/remote"
)

// A link is the sending side of one channel to one peer. The first message creates it. It outlives
// its connections, and ends when it is closed, has been idle, or the peer has been unreachable for
// long enough.
type link struct {
	links  *links
	key    linkKey
	log    *zap.Logger
	cancel context.CancelCauseFunc // stops attempts to connect

	mu      sync.Mutex // guards all below
	out     outbox.Outbox
	timing  linkTiming
	session linkSession
	writer  writerState
	conn    net.Conn // nil while there is no usable connection
	failure linkFailure
	over    bool // accepts no more frames
	dropped uint64

	empty chan struct{} // closed when out is empty; nil if no caller waits for it
	roomy chan struct{} // closed when out has room again; likewise
}

// What a link has sent is continued on its next connection.
type linkSession struct {
	as     uint64 // our incarnation
	with   uint64 // the peer's incarnation, 0 until it is known
	number uint64
}

// A new link accepts the frame.
var errIdle = errors.New("remote: link has ended")

// send fails with errIdle or [remote.ErrOutboxFull].
func (l *link) send(x outbox.Frame) error {
	l.mu.Lock()
	if err := l.enqueue(x); err != nil {
		l.mu.Unlock()
		return err
	}
	if !l.mayWriteInline(x) {
		l.writer.wakeUp()
		l.mu.Unlock()
		return nil
	}
	l.writer.inline = true
	l.mu.Unlock()
	l.writeInline()
	return nil
}

// mu is held.
func (l *link) enqueue(x outbox.Frame) error {
	if l.over {
		return errIdle
	}
	if l.out.Len() == 0 {
		l.timing.since = time.Now()
	}
	if !l.push(x) {
		return remote.ErrOutboxFull
	}
	return nil
}

// The newest frames matter on the control channel, so it makes room there.
func (l *link) push(x outbox.Frame) bool {
	if l.out.Push(x) {
		return true
	}
	if l.key.channel != channelControl || !l.out.DropOldest() {
		return false
	}
	l.dropped++
	return l.out.Push(x)
}

func (l *link) run(ctx context.Context) {
	for {
		conn, err := l.connect(ctx)
		if err != nil {
			l.close(err)
			return
		}
		err = l.transmit(conn)
		if errors.Is(err, errStale) && l.links.cfg.Outbound {
			l.links.hangUpSilent()
		}
		if l.retire() {
			return
		}
		l.mu.Lock()
		l.failure.note(err)
		l.mu.Unlock()
		l.log.Info("connection lost", zap.Error(err))
	}
}

func (l *link) retire() bool {
	l.mu.Lock()
	// A frame that came since the last look keeps the link alive. Seen without the mutex, such a
	// frame would be in an outbox that no goroutine empties.
	l.over = l.over || l.out.Len() == 0
	over := l.over
	l.noteEmpty()
	l.mu.Unlock()
	if over {
		l.cancel(errIdle)
		l.links.drop(l)
	}
	return over
}

// What is left becomes dead letters.
func (l *link) close(reason error) {
	l.mu.Lock()
	// In one critical section with the emptying: a later frame is refused by errIdle and gets a new
	// link, and none stays in an outbox that no goroutine empties. What was written may have
	// arrived, which the sender is told; the rest has not.
	l.over = true
	doubtful, unsent := l.out.Abandon(), l.out.Drain()
	l.noteEmpty()
	conn := l.conn
	l.conn = nil
	l.writer.wakeUp()
	l.mu.Unlock()

	l.cancel(reason)
	if conn != nil {
		discard(conn)
	}
	l.links.drop(l)
	l.lose(doubtful, fmt.Errorf("%w: %w", remote.ErrInDoubt, reason))
	l.lose(unsent, reason)
}

func (l *link) lose(frames []outbox.Frame, reason error) {
	frames = outbox.OncePerMessage(frames)
	if len(frames) == 0 {
		return
	}
	users := 0
	for _, x := range frames {
		if deadLetter(x, fmt.Errorf("%w: %w", actor.ErrUnreachable, reason)) {
			users++
		}
	}
	level := zap.WarnLevel
	if users == 0 { // the framework repeats its own messages, or they have become useless
		level = zap.DebugLevel
	}
	l.log.Log(level, "messages lost", zap.Int("messages", users), zap.Int("of_framework", len(frames)-users), zap.Error(reason))
}

// The link ends at the deadline in any case.
func (l *link) finish(by time.Time) {
	l.mu.Lock()
	l.timing.finishBy = by
	l.writer.wakeUp()
	l.mu.Unlock()
	l.cancel(remote.ErrClosed)
}

// Nothing has come from the peer for as long as makes a connection stale.
func silent(l *link) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().After(l.timing.renewal(&l.links.cfg))
}

func (l *link) hangUp(unlessWith uint64) {
	l.mu.Lock()
	conn := l.conn
	if l.session.with == unlessWith {
		conn = nil
	} else {
		l.conn = nil
	}
	l.mu.Unlock()
	if conn != nil {
		discard(conn)
	}
}

// backoff begins at low and doubles up to high, with a random change of ± 20 %, so that the peers
// of a returning node do not all connect at once.
func backoff(failures int, low, high time.Duration) time.Duration {
	pause := high
	if shift := failures - 1; shift < 30 && low<<shift < high {
		pause = low << shift
	}
	return time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
}

// False means that done is closed.
func sleep(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
	return !isClosed(done)
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
