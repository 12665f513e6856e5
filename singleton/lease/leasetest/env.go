package leasetest

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

type env struct {
	*testing.T
	backend Backend
	bubble  bool // time is virtual
	ttl     time.Duration
	slack   time.Duration
}

func newEnv(t *testing.T, b Backend, bubble bool) *env {
	e := &env{T: t, backend: b, bubble: bubble, ttl: b.TTL, slack: b.Slack}
	if e.ttl == 0 {
		e.ttl = 2 * time.Second
	}
	if e.slack == 0 {
		e.slack = e.ttl / 4
	}
	if !bubble {
		e.slack += time.Second // for a machine that is busy
	}
	return e
}

func (e *env) need(present bool, hook string) {
	if !present {
		e.Skipf("Backend.%s is not set", hook)
	}
}

func (e *env) open() lease.Store { return e.backend.Open(e.T) }

func (e *env) name(begin string) string { return begin + "-" + rand.Text()[:12] }

func (e *env) claim(name, owner string) lease.Claim {
	return lease.Claim{Name: name, Holder: owner + "/" + rand.Text(), TTL: e.ttl}
}

// lasting returns one that lasts a minute at least, for laws of so many requests that a
// busy machine may need longer for them than the TTL of the others.
func (e *env) lasting(name, owner string) lease.Claim {
	c := e.claim(name, owner)
	c.TTL = max(c.TTL, time.Minute)
	return c
}

func (e *env) take(s lease.Store, c lease.Claim) lease.Grant {
	e.Helper()
	g, err := s.Take(e.Context(), c)
	require.NoError(e, err)
	require.Equal(e, c.Name, g.Name)
	require.Equal(e, c.Holder, g.Holder)
	require.Greater(e, g.Token, c.Floor)
	return g
}

func (e *env) refused(s lease.Store, c lease.Claim) {
	e.Helper()
	_, err := s.Take(e.Context(), c)
	require.ErrorIs(e, err, lease.ErrHeld)
}

func (e *env) renew(s lease.Store, g lease.Grant) lease.Grant {
	e.Helper()
	next, err := s.Renew(e.Context(), g)
	require.NoError(e, err)
	require.Equal(e, g.Token, next.Token, "a renewal is not an acquisition")
	return next
}

// gone tries to renew a lease that is not g's any more.
func (e *env) gone(s lease.Store, g lease.Grant) error {
	e.Helper()
	_, err := s.Renew(e.Context(), g)
	require.ErrorIs(e, err, lease.ErrLost)
	return err
}

func (e *env) release(s lease.Store, g lease.Grant) {
	e.Helper()
	require.NoError(e, s.Release(e.Context(), g))
}

func (e *env) takeover(s lease.Store, c lease.Claim, within time.Duration) lease.Grant {
	e.Helper()
	start := time.Now()
	for {
		g, err := s.Take(e.Context(), c)
		if err == nil {
			return g
		}
		require.ErrorIs(e, err, lease.ErrHeld)
		require.Less(e, time.Since(start), within, "nobody renews it, and it is still held")
		e.sleep(e.ttl / 40)
	}
}

func (e *env) sleep(d time.Duration) {
	e.Helper()
	select {
	case <-time.After(d):
	case <-e.Context().Done():
		e.Fatal("the test has ended")
	}
}

func (e *env) eventually(within time.Duration, what string, is func() bool) {
	e.Helper()
	for start := time.Now(); !is(); e.sleep(e.ttl / 100) {
		require.Less(e, time.Since(start), within, what)
	}
}

// A holder is one end of a lease over a link with faults.
type holder struct {
	lease.Lease
	link *link

	mu     sync.Mutex // guards losses
	losses []error
}

func (e *env) holder(name, owner string, change ...func(*lease.Settings)) *holder {
	e.Helper()
	s := lease.Settings{TTL: e.ttl}
	for _, c := range change {
		c(&s)
	}
	h := &holder{link: newLink(e.T, e.open())}
	l, err := lease.New(h.link, name, owner, s)
	require.NoError(e, err)
	h.Lease = l
	l.OnLost(func(reason error) {
		if l.Valid() {
			e.Error("valid while it is told to be lost")
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.losses = append(h.losses, reason)
	})
	e.Cleanup(func() {
		h.link.heal()
		ctx, cancel := context.WithTimeout(context.Background(), e.ttl)
		defer cancel()
		_ = l.Release(ctx) // best effort: the next law has other names
	})
	return h
}

func (h *holder) lost() []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]error(nil), h.losses...)
}

func (e *env) acquired(h *holder) {
	e.Helper()
	ok, err := h.Acquire(e.Context())
	require.NoError(e, err)
	require.True(e, ok)
	require.True(e, h.Valid())
}

func (e *env) denied(h *holder) {
	e.Helper()
	ok, err := h.Acquire(e.Context())
	require.NoError(e, err)
	require.False(e, ok)
	require.False(e, h.Valid())
}

func (e *env) acquires(h *holder, within time.Duration) {
	e.Helper()
	start := time.Now()
	for {
		ok, err := h.Acquire(e.Context())
		require.NoError(e, err)
		if ok {
			return
		}
		require.Less(e, time.Since(start), within, "nobody renews it, and it is still held")
		e.sleep(e.ttl / 40)
	}
}

// loses waits until h has lost its lease, once, for that reason.
func (e *env) loses(h *holder, within time.Duration, reason error) {
	e.Helper()
	e.eventually(within, "the holder was not told that it has lost its lease", func() bool { return len(h.lost()) > 0 })
	require.False(e, h.Valid())
	require.Len(e, h.lost(), 1)
	require.ErrorIs(e, h.lost()[0], reason)
}
