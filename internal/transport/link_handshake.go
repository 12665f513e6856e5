package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/understudy-go/understudy/remote"
)

type linkHandshake struct {
	*localNode
	key  linkKey
	conn net.Conn
}

// The key is the one that the peer has granted, if any. When ctx ends, the connection is closed.
func (h linkHandshake) do(ctx context.Context, mine hello) (answer, *sealer, error) {
	stop := context.AfterFunc(ctx, func() { discard(h.conn) })
	defer stop()
	a, err := greet(h.answers(), h.key.channel, mine, h.key.addr)
	if err == nil {
		err = h.checkVersions(a)
	}
	if err != nil {
		return a, nil, cutShort(ctx, err)
	}
	if err := h.checkIdentity(a); err != nil {
		return a, nil, err
	}
	if err := h.admit(a.peer(), h.key.channel); err != nil {
		return a, nil, fmt.Errorf("not admitted here: %w", err)
	}
	seal, err := h.sealer(a)
	if err == nil && !stop() {
		err = ctx.Err() // conn is closed, or about to be
	}
	return a, seal, err
}

// Pongs may come before the answer, which are left out.
func (h linkHandshake) answers() net.Conn {
	if isOutbound(h.key.addr) {
		return &skipPongs{Conn: h.conn}
	}
	return h.conn
}

// The connection was closed only because ctx ended.
func cutShort(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("no answer: %w", ctx.Err())
	}
	return err
}

// An attacker who redirects packets can make one node answer in place of another. On channels that
// are not strict a wrong node is noticed later, and a node may be dialed under several names.
func (h linkHandshake) checkIdentity(a answer) error {
	if h.authenticator == nil || a.Addr == h.key.addr {
		return nil
	}
	if h.strict(h.key) {
		return fmt.Errorf("the node that answers at %s advertises %s; its actors have to be addressed there", h.key.addr, a.Addr)
	}
	if err := h.authenticator.identify(h.conn, a.Addr); err != nil {
		return fmt.Errorf("%w: the node that answers at %s advertises %s, for which its certificate is not: %w", remote.ErrNotAuthenticated, h.key.addr, a.Addr, err)
	}
	return nil
}

// The sealer is nil without TLS.
func (h linkHandshake) sealer(a answer) (*sealer, error) {
	if h.authenticator == nil || h.key.channel != channelControl {
		return nil, nil
	}
	return newSealer(a.peer(), a.Version, a.Grant)
}

type linkTiming struct {
	begun    time.Time // when the link began
	since    time.Time // the last sign that the peer receives
	failures int       // failed attempts and connections since then
	failing  time.Time // when the first of them failed
	opened   time.Time // when the last connection was opened
	finishBy time.Time // set by finish: the deadline
}

func (t *linkTiming) failed() {
	if t.failures == 0 {
		t.failing = time.Now()
	}
	t.failures++
}

// Something that happens may move it.
func (t *linkTiming) next(cfg *Config, empty bool) (due time.Time, why error) {
	due = t.deadline(cfg, empty)
	if empty {
		return due, errIdle
	}
	if renewal := t.renewal(cfg); renewal.Before(due) {
		return renewal, errStale
	}
	return due, errSilent
}

// Something that happens may move it.
func (t *linkTiming) deadline(cfg *Config, empty bool) time.Time {
	finishing := !t.finishBy.IsZero()
	if empty {
		if finishing {
			return time.Time{}
		}
		return t.since.Add(cfg.IdleAfter)
	}
	due := t.since.Add(cfg.UnreachableAfter)
	if finishing && t.finishBy.Before(due) {
		return t.finishBy
	}
	return due
}

// A connection may be lost silently, and there must be time for another one.
func (t *linkTiming) renewal(cfg *Config) time.Time {
	since := t.since
	if t.opened.After(since) {
		since = t.opened
	}
	return since.Add(cfg.UnreachableAfter / 2)
}

func (t *linkTiming) pause(cfg *Config, empty bool) time.Duration {
	if t.failures == 0 {
		return 0
	}
	return min(backoff(t.failures, cfg.MinBackoff, cfg.MaxBackoff), time.Until(t.deadline(cfg, empty)))
}
