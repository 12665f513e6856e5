package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"
)

var (
	// errSilent ends a link whose peer acknowledges nothing. errStale ends only its connection,
	// while there is time for another one.
	errSilent = errors.New("no acknowledgement for too long")
	errStale  = errors.New("no acknowledgement on this connection, another is tried")
	// errRenamed ends a handshake with an outdated incarnation of ours.
	errRenamed = errors.New("this node has begun a new incarnation")
	// errSession means that an answer contradicts the session.
	errSession = errors.New("the peer answers for another session")
)

// connect dials until a connection is open, or the peer has been unreachable for too long.
func (l *link) connect(ctx context.Context) (net.Conn, error) {
	reason := errSilent
	for sleep(ctx.Done(), l.pause()) {
		left := l.timeLeft()
		if left <= 0 {
			return nil, reason
		}
		conn, err := l.attempt(ctx, min(left, l.end.cfg.DialTimeout))
		if err == nil {
			return conn, nil
		}
		if ctx.Err() == nil {
			l.failed(err)
		}
		if errors.Is(reason, errSilent) || left >= l.end.cfg.DialTimeout || !errors.Is(err, context.DeadlineExceeded) {
			reason = err // else it only says that the last attempt had no time
		}
	}
	return nil, context.Cause(ctx)
}

// pause returns the pause before the next attempt.
func (l *link) pause() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures == 0 {
		return 0
	}
	return min(backoff(l.failures, l.end.cfg.MinBackoff, l.end.cfg.MaxBackoff), time.Until(l.deadline()))
}

// timeLeft returns the time until the deadline of the link.
func (l *link) timeLeft() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.deadline())
}

// attempt dials once and does the handshake.
func (l *link) attempt(ctx context.Context, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := l.end.dial(ctx, l.key.addr)
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
	stop := context.AfterFunc(ctx, func() { discard(conn) })
	defer stop()
	h := l.hello()
	a, err := greet(l.answersOn(conn), l.key.channel, h, l.key.addr)
	if err != nil {
		return cutShort(ctx, err)
	}
	if err := l.checkIdentity(conn, a); err != nil {
		return err
	}
	peer := a.peer()
	if err := l.end.admit(peer, l.key.channel); err != nil {
		return fmt.Errorf("not admitted here: %w", err)
	}
	seal, err := l.sealer(peer, a)
	if err != nil {
		return err
	}
	if !stop() {
		return ctx.Err() // conn is closed, or about to be
	}
	if err := l.open(conn, h, a, seal); err != nil {
		return err
	}
	l.end.met(peer)
	return nil
}

// answersOn returns conn, without the pongs that may come before the answer.
func (l *link) answersOn(conn net.Conn) net.Conn {
	if isOutbound(l.key.addr) {
		return &skipPongs{Conn: conn}
	}
	return conn
}

// cutShort replaces err if the connection was closed only because ctx ended.
func cutShort(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("no answer: %w", ctx.Err())
	}
	return err
}

// checkIdentity checks that the connection leads to the right node: an attacker who redirects
// packets can make one node answer in place of another. Only the user channel requires the address
// that was dialed; on other channels a wrong node is noticed later, and a node may be dialed under
// several names.
func (l *link) checkIdentity(conn net.Conn, a answer) error {
	if l.end.authenticator == nil || a.Addr == l.key.addr {
		return nil
	}
	if l.strict() {
		return fmt.Errorf("the node that answers at %s advertises %s; its actors have to be addressed there", l.key.addr, a.Addr)
	}
	if err := l.end.authenticator.identify(conn, a.Addr); err != nil {
		return fmt.Errorf("%w: the node that answers at %s advertises %s, for which its certificate is not: %w", ErrNotAuthenticated, l.key.addr, a.Addr, err)
	}
	return nil
}

// strict reports whether only the node that advertises the address of the link is accepted.
func (l *link) strict() bool { return l.end.authenticator != nil && l.key.channel == channelUser }

// sealer returns the key that the peer has granted on a control channel, or nil without TLS.
func (l *link) sealer(to NodeID, a answer) (*sealer, error) {
	if l.end.authenticator == nil || l.key.channel != channelControl {
		return nil, nil
	}
	return newSealer(to, a.Grant)
}

// hello returns the hello for the next connection. A new incarnation of ours begins a new session.
func (l *link) hello() hello {
	mine := l.end.incarnation.Load()
	l.mu.Lock()
	stale := l.as != mine && l.as != 0
	l.mu.Unlock()
	if stale {
		l.startOver(errRenamed)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.as = mine
	return hello{
		Version:     Version,
		Cluster:     l.end.cfg.Cluster,
		Addr:        l.end.addr,
		Incarnation: l.as,
		Want:        l.with,
		Session:     l.session,
	}
}

// open makes conn the connection of the link, and continues the session where the peer is.
func (l *link) open(conn net.Conn, h hello, a answer, seal *sealer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over:
		return errIdle
	case h.Incarnation != l.end.incarnation.Load():
		return errRenamed
	case h.Want != 0 && a.Incarnation != h.Want, l.out.Acknowledge(a.Received) != nil:
		return errSession
	}
	l.out.Rewind()
	l.conn, l.with, l.opened = conn, a.Incarnation, time.Now()
	l.nonBlocking, l.rest = asNonBlocking(conn), false
	if seal != nil {
		l.end.sealers.set(l.key.addr, seal)
	}
	l.log.Debug("connected", zap.Uint64("peer_incarnation", a.Incarnation), zap.Uint64("frames_received", a.Received))
	return nil
}

// failed handles a failed attempt.
func (l *link) failed(err error) {
	if l.endsSession(err) {
		l.startOver(err)
	}
	if !isOutbound(l.key.addr) {
		l.end.cfg.DialFailed(l.key.addr, err)
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	level := zap.DebugLevel
	switch {
	case l.failures > 0:
	case errors.Is(err, ErrNotAuthenticated):
		level = zap.WarnLevel // somebody has to look
	default:
		level = zap.InfoLevel
	}
	l.log.Log(level, "cannot connect", zap.Error(err))
	l.failures++
}

// endsSession reports whether an attempt failed because the session cannot continue.
func (l *link) endsSession(err error) bool {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		if l.strict() && refused.Peer.Address != l.key.addr {
			return false // another node, that knows nothing of it
		}
		return refused.Refusal == RefusedIncarnation || refused.Refusal == RefusedSession
	}
	return errors.Is(err, errSession)
}

// startOver begins a new session. The frames in flight may or may not have arrived.
func (l *link) startOver(reason error) {
	l.mu.Lock()
	doubtful := l.out.Abandon()
	l.noteEmpty()
	l.session = l.end.session.Add(1)
	l.with = 0
	l.failures = 0
	l.mu.Unlock()
	l.lose(doubtful, fmt.Errorf("%w: %w", ErrInDoubt, reason))
}
