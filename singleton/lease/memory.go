package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrUnavailable: a [Memory] simulates a fault, in tests.
var ErrUnavailable = errors.New("lease: the store cannot be reached")

// A Memory is a [Store] within one process, for tests and for programs of one process. It has its
// own clock, and simulates faults on demand. Its methods may be called from any goroutine.
type Memory struct {
	mu      sync.Mutex // guards all below
	now     func() time.Time
	records map[string]*memoryRecord
	outage  error
	lost    int
	delay   time.Duration
}

// A memoryRecord is never deleted, so the tokens of a name continue for ever.
type memoryRecord struct {
	holder  string // empty when the lease is released
	token   uint64
	expires time.Time
}

// NewMemory returns a Memory in which no lease is held.
func NewMemory() *Memory {
	return &Memory{now: time.Now, records: map[string]*memoryRecord{}}
}

// Lease returns owner's handle of the lease with that name, with the given ttl and otherwise
// default settings. It panics if an argument is not valid.
func (m *Memory) Lease(name, owner string, ttl time.Duration) Lease {
	l, err := New(m, name, owner, Settings{TTL: ttl})
	if err != nil {
		panic(err)
	}
	return l
}

// Take implements [Store].
func (m *Memory) Take(ctx context.Context, c Claim) (Grant, error) {
	return m.request(ctx, func() (Grant, error) {
		r := m.record(c.Name)
		if r.holder != c.Holder || m.expired(r) {
			if r.holder != "" && !m.expired(r) {
				return Grant{}, fmt.Errorf("%w: %s has it", ErrHeld, r.holder)
			}
			r.holder = c.Holder
			r.token++
		}
		if r.token <= c.Floor {
			r.token = c.Floor + 1
		}
		r.expires = m.now().Add(c.TTL)
		return Grant{Claim: c, Token: r.token}, nil
	})
}

// Renew implements [Store].
func (m *Memory) Renew(ctx context.Context, g Grant) (Grant, error) {
	return m.request(ctx, func() (Grant, error) {
		r := m.record(g.Name)
		switch {
		case r.holder != g.Holder && r.holder != "":
			return Grant{}, fmt.Errorf("%w: %s has it", ErrLost, r.holder)
		case r.holder != g.Holder || r.token != g.Token || m.expired(r):
			return Grant{}, ErrLost
		}
		r.expires = m.now().Add(g.TTL)
		return g, nil
	})
}

// Release implements [Store].
func (m *Memory) Release(ctx context.Context, g Grant) error {
	_, err := m.request(ctx, func() (Grant, error) {
		if r := m.record(g.Name); r.holder == g.Holder && r.token == g.Token {
			r.holder = ""
		}
		return Grant{}, nil
	})
	return err
}

func (m *Memory) request(ctx context.Context, do func() (Grant, error)) (Grant, error) {
	m.mu.Lock()
	delay := m.delay
	m.mu.Unlock()
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return Grant{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.outage != nil {
		return Grant{}, m.outage
	}
	g, err := do()
	if m.lost > 0 {
		m.lost--
		return Grant{}, fmt.Errorf("%w: the answer was lost", ErrUnavailable)
	}
	return g, err
}

func (m *Memory) record(name string) *memoryRecord {
	r, ok := m.records[name]
	if !ok {
		r = &memoryRecord{}
		m.records[name] = r
	}
	return r
}

func (m *Memory) expired(r *memoryRecord) bool { return !m.now().Before(r.expires) }

// SetClock replaces the clock by which leases expire, at first [time.Now]. A slower or faster clock
// simulates drift. now must not call the Memory.
func (m *Memory) SetClock(now func() time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = now
}

// SetOutage makes every request fail with err without being carried out, until it is called with
// nil.
func (m *Memory) SetOutage(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outage = err
}

// LoseAnswers lets the next n requests be carried out, but fail with [ErrUnavailable].
func (m *Memory) LoseAnswers(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost = n
}

// SetDelay delays every request by d. A request whose context ends before that is not carried out.
func (m *Memory) SetDelay(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.delay = d
}

// Usurp passes the lease of that name to holder for ttl, whether or not it is held.
func (m *Memory) Usurp(name, holder string, ttl time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.record(name)
	r.holder, r.expires = holder, m.now().Add(ttl)
	r.token++
}

// Delete ends the lease of that name, as if an operator had deleted its record. Its tokens
// continue.
func (m *Memory) Delete(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record(name).holder = ""
}

// A Holding is the state of one lease in a [Memory].
type Holding struct {
	Holder  string    // empty when nobody holds the lease
	Token   uint64    // the last one, 0 before the first
	Expires time.Time // by the clock of the Memory; zero when nobody holds the lease
}

// Inspect returns the holder of the lease with that name, its last token, and when it expires.
func (m *Memory) Inspect(name string) Holding {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[name]
	switch {
	case !ok:
		return Holding{}
	case r.holder == "" || m.expired(r):
		return Holding{Token: r.token}
	}
	return Holding{Holder: r.holder, Token: r.token, Expires: r.expires}
}
