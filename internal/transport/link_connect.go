package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"
)

var (
	// errStale ends only the connection, while there is time for another one.
	errSilent = errors.New("no acknowledgement for too long")
	errStale  = errors.New("no acknowledgement on this connection, another is tried")
	// errRenamed ends a handshake with an outdated incarnation of ours.
	errRenamed = errors.New("this node has begun a new incarnation")
	// errSession means that an answer contradicts the session.
	errSession = errors.New("the peer answers for another session")
)

func (l *link) connect(ctx context.Context) (net.Conn, error) {
	reason := errSilent
	for sleep(ctx.Done(), l.pause()) {
		left := l.timeLeft()
		if left <= 0 {
			return nil, reason
		}
		conn, err := l.attempt(ctx, min(left, l.links.cfg.DialTimeout))
		if err == nil {
			return conn, nil
		}
		if ctx.Err() == nil {
			l.failed(err)
		}
		if errors.Is(reason, errSilent) || left >= l.links.cfg.DialTimeout || !errors.Is(err, context.DeadlineExceeded) {
			reason = err // else it only says that the last attempt had no time
		}
	}
	return nil, context.Cause(ctx)
}

func (l *link) pause() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.timing.pause(&l.links.cfg, l.out.Len() == 0)
}

func (l *link) timeLeft() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.timing.deadline(&l.links.cfg, l.out.Len() == 0))
}

func (l *link) attempt(ctx context.Context, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := l.links.dial(ctx, l.key.addr)
	if err != nil {
		return nil, err
	}
	if err := l.shakeHands(ctx, conn); err != nil {
		discard(conn)
		return nil, err
	}
	return conn, nil
}

func (l *link) shakeHands(ctx context.Context, conn net.Conn) error {
	mine := l.hello()
	a, seal, err := linkHandshake{l.links.localNode, l.key, conn}.do(ctx, mine)
	if err != nil {
		return err
	}
	if err := l.open(conn, mine, a, seal); err != nil {
		return err
	}
	l.links.met(a.peer(), a.agreed())
	return nil
}

// A new incarnation of ours begins a new session.
func (l *link) hello() hello {
	h := l.links.hello()
	l.mu.Lock()
	stale := l.session.as != h.Incarnation && l.session.as != 0
	l.mu.Unlock()
	if stale {
		l.startOver(errRenamed)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session.as = h.Incarnation
	h.Want, h.Session = l.session.with, l.session.number
	return h
}

// The session continues where the peer is.
func (l *link) open(conn net.Conn, h hello, a answer, seal *sealer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over:
		return errIdle
	case h.Incarnation != l.links.incarnation.Load():
		return errRenamed
	case h.Want != 0 && a.Incarnation != h.Want:
		return errSession
	}
	// What the peer has received is dropped before the rest is rewound, or it would be sent twice.
	before := l.out.Len()
	if l.out.Acknowledge(a.Received) != nil {
		return errSession
	}
	if l.out.Len() < before {
		l.progressed()
	}
	l.out.Rewind()
	l.conn, l.session.with, l.timing.opened = conn, a.Incarnation, time.Now()
	l.writer.nonBlocking, l.writer.rest = asNonBlocking(conn), false
	if seal != nil {
		l.links.sealers.set(l.key.addr, seal)
	}
	l.log.Debug("connected", zap.Uint64("peer_incarnation", a.Incarnation), zap.Uint64("frames_received", a.Received))
	return nil
}

func (l *link) failed(err error) {
	if l.endsSession(err) {
		l.startOver(err)
	}
	if !isOutbound(l.key.addr) {
		l.links.cfg.DialFailed(l.key.addr, err)
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	l.failure.note(err)
	level := zap.DebugLevel
	switch {
	case l.timing.failures > 0:
	case errors.Is(err, remote.ErrNotAuthenticated):
		level = zap.WarnLevel // somebody has to look
	default:
		level = zap.InfoLevel
	}
	l.log.Log(level, "cannot connect", zap.Error(err))
	l.timing.failed()
}

func (l *link) endsSession(err error) bool {
	if refused, ok := errors.AsType[*remote.RefusedError](err); ok {
		if l.links.strict(l.key) && refused.Peer.Address != l.key.addr {
			return false // another node, that knows nothing of it
		}
		return refused.Refusal == remote.RefusedIncarnation || refused.Refusal == remote.RefusedSession
	}
	return errors.Is(err, errSession)
}

// The frames in flight may or may not have arrived.
func (l *link) startOver(reason error) {
	l.mu.Lock()
	doubtful := l.out.Abandon()
	l.dropped += uint64(len(doubtful))
	l.noteEmpty()
	l.session.number = l.links.session.Add(1)
	l.session.with = 0
	l.timing.failures = 0
	l.mu.Unlock()
	l.lose(doubtful, fmt.Errorf("%w: %w", remote.ErrInDoubt, reason))
}
