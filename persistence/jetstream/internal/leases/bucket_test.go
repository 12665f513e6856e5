package leases

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
)

// A model is a bucket in memory whose reads may be answered by a replica that is behind.
// Its zero value is empty.
type model struct {
	mu      sync.Mutex // guards what follows
	entries []modelEntry
	removed map[string]uint64 // up to which revision a key has left no trace
	down    bool
	lag     time.Duration // reads may miss what was written since then
}

type modelEntry struct {
	key   string
	value []byte
	at    time.Time
}

var errDown = errors.New("no server answers")

// travel is how long a request takes.
const travel = time.Millisecond

func (m *model) last(ctx context.Context, key string) (entry, error) {
	if err := m.request(ctx); err != nil {
		return entry{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	replicated := len(m.entries)
	if m.lag > 0 {
		for before := time.Now().Add(-rand.N(m.lag)); replicated > 0 && m.entries[replicated-1].at.After(before); {
			replicated--
		}
	}
	return m.lastOf(key, replicated), nil
}

func (m *model) update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := m.request(ctx); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lastOf(key, len(m.entries)).revision != revision {
		return 0, errStale
	}
	m.entries = append(m.entries, modelEntry{key, value, time.Now()})
	return uint64(len(m.entries)), nil
}

// lastOf is called with mu held. It knows the first entries only.
func (m *model) lastOf(key string, first int) entry {
	for i := first; i > 0 && uint64(i) > m.removed[key]; i-- {
		if e := m.entries[i-1]; e.key == key {
			return entry{revision: uint64(i), value: e.value}
		}
	}
	return entry{}
}

func (m *model) request(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(travel):
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return errDown
	}
	return nil
}

func (m *model) setDown(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// remove deletes a key; without a trace, there is no entry that says so.
func (m *model) remove(key string, trace bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if trace {
		m.entries = append(m.entries, modelEntry{key: key, at: time.Now()})
		return
	}
	if m.removed == nil {
		m.removed = map[string]uint64{}
	}
	m.removed[key] = uint64(len(m.entries))
}

func (m *model) usurp(t *testing.T, name string) {
	m.remove(holderKey(name), true)
	usurper := &Store{bucket: m}
	for {
		_, err := usurper.Take(t.Context(), lease.Claim{Name: name, Holder: "usurper", TTL: time.Minute})
		if err == nil {
			return
		}
		if !errors.Is(err, lease.ErrHeld) { // by an answer that was out of date
			t.Error(err)
			return
		}
	}
}
