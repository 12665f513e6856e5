package leases

import (
	"context"
	crand "crypto/rand"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

func TestStoresOfManyProcesses(t *testing.T) {
	leasetest.RunInBubble(t, func(*testing.T) leasetest.Backend {
		m := &model{}
		return backend(m, true, func(*testing.T) lease.Store { return &Store{bucket: m} })
	})
}

// Here, an administrator deletes keys without a trace.
func TestOneStoreOfAProcess(t *testing.T) {
	leasetest.RunInBubble(t, func(*testing.T) leasetest.Backend {
		m := &model{}
		s := &Store{bucket: m}
		return backend(m, false, func(*testing.T) lease.Store { return s })
	})
}

func backend(m *model, trace bool, open func(*testing.T) lease.Store) leasetest.Backend {
	return leasetest.Backend{
		Open: open,
		TTL:  2 * time.Second,
		Outage: func(*testing.T) (end func()) {
			m.setDown(true)
			return func() { m.setDown(false) }
		},
		Restart: func(*testing.T) {
			m.setDown(true)
			time.Sleep(100 * time.Millisecond)
			m.setDown(false)
		},
		Delete: func(_ *testing.T, name string) {
			m.remove(holderKey(name), trace)
			m.remove(tokenKey(name), trace)
		},
		Usurp: m.usurp,
	}
}

// Whatever replicas answer, at most one holds a lease, by its own clock, and tokens grow.
func TestAnswersThatAreOutOfDateGrantNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &contest{end: time.Now().Add(time.Hour)}
		m := &model{lag: contestTTL / 4}
		var all sync.WaitGroup
		for range 5 {
			s := &Store{bucket: m}
			all.Go(func() {
				for time.Now().Before(c.end) && !t.Failed() {
					time.Sleep(rand.N(contestTTL / 4))
					c.serve(t, s)
				}
			})
		}
		all.Wait()
		t.Logf("%d stints, %d renewals", c.stints, c.renewals)
		require.Greater(t, c.stints, 200)
		require.Greater(t, c.renewals, 200)
	})
}

const contestTTL = 2 * time.Second

// A contest is what its judge knows of a lease.
type contest struct {
	end time.Time

	mu               sync.Mutex // guards what follows
	until            time.Time  // somebody may count on it
	token            uint64
	stints, renewals int
}

// serve takes the lease if it can, renews it some times, and gives it back or dies.
func (c *contest) serve(t *testing.T, s *Store) {
	began := time.Now()
	g, err := s.Take(t.Context(), lease.Claim{Name: "x", Holder: crand.Text(), TTL: contestTTL})
	if err != nil {
		return
	}
	c.granted(t, g, began)
	for rand.N(4) != 0 {
		time.Sleep(rand.N(contestTTL / 2))
		began := time.Now()
		if g, err = s.Renew(t.Context(), g); err != nil {
			t.Error("nobody may have taken it:", err)
			return
		}
		c.lasts(began)
	}
	if rand.N(2) == 0 {
		c.ends()
		if err := s.Release(t.Context(), g); err != nil {
			t.Error(err)
		}
	}
}

func (c *contest) granted(t *testing.T, g lease.Grant, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until.After(time.Now()) {
		t.Errorf("token %d was granted while token %d is held", g.Token, c.token)
	}
	if g.Token <= c.token {
		t.Errorf("token %d was granted after token %d", g.Token, c.token)
	}
	c.token, c.until = g.Token, began.Add(contestTTL)
	c.stints++
}

func (c *contest) lasts(began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = began.Add(contestTTL)
	c.renewals++
}

func (c *contest) ends() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = time.Time{}
}

func TestTokensGrowOverDeletionsAlsoWhenAFloorWasFarAhead(t *testing.T) {
	for _, key := range []func(string) string{holderKey, tokenKey} {
		for _, trace := range []bool{true, false} {
			m := &model{}
			s := &Store{bucket: m}
			c := lease.Claim{Name: "x", Holder: "a", TTL: time.Minute, Floor: 1_000_000}
			g, err := s.Take(t.Context(), c)
			require.NoError(t, err)
			require.EqualValues(t, 1_000_001, g.Token)
			require.NoError(t, s.Release(t.Context(), g))
			m.remove(key("x"), trace)
			c.Floor = 0
			g, err = (&Store{bucket: m}).Take(t.Context(), c)
			require.NoError(t, err)
			require.EqualValues(t, 1_000_002, g.Token)
		}
	}
}

func TestTokensCountByOne(t *testing.T) {
	m := &model{}
	s := &Store{bucket: m}
	for i := range uint64(5) {
		g, err := s.Take(t.Context(), lease.Claim{Name: "x", Holder: "a", TTL: time.Minute})
		require.NoError(t, err)
		require.Equal(t, i+1, g.Token)
		require.NoError(t, s.Release(t.Context(), g))
	}
}

func TestTokensEndWithAClearError(t *testing.T) {
	leasetest.TokensEnd(t, &Store{bucket: &model{}}, ErrOverflow)
}

// A revision that is written anew, after a stream has lost its end, is another record.
func TestARevisionThatComesAgainIsSeenAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s observations
		first := newRecord("a", 1, time.Minute)
		first.revision = 7
		s.saw("x", first, time.Now())
		time.Sleep(time.Second)
		s.saw("x", first, time.Now())
		require.Equal(t, time.Second, s.age("x", first))

		second := newRecord("a", 1, time.Minute)
		second.revision = 7
		s.saw("x", second, time.Now())
		require.Zero(t, s.age("x", second))
		require.Zero(t, s.age("x", record{revision: 8}))
		require.Zero(t, s.age("y", first))
	})
}

func TestWhoIsOvertakenForEverIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{bucket: restless{&model{}}}
		_, err := s.Take(t.Context(), lease.Claim{Name: "x", Holder: "a", TTL: time.Minute})
		require.ErrorContains(t, err, "40 times in a row: others have written first")
		require.NotErrorIs(t, err, lease.ErrHeld)
	})
}

// A restless bucket has changed whenever something is to be written.
type restless struct{ *model }

func (b restless) update(ctx context.Context, key string, _ []byte, _ uint64) (uint64, error) {
	b.remove(key, true)
	return b.model.update(ctx, key, nil, 0)
}

func TestAKeyThatIsGoneWithoutATraceIsALeaseLost(t *testing.T) {
	m := &model{}
	s := &Store{bucket: m}
	g, err := s.Take(t.Context(), lease.Claim{Name: "x", Holder: "a", TTL: time.Minute})
	require.NoError(t, err)
	m.remove(holderKey("x"), false)
	_, err = s.Renew(t.Context(), g)
	require.ErrorIs(t, err, lease.ErrLost)
	require.NoError(t, s.Release(t.Context(), g))
}

// An answer from before the grant is not believed.
func TestAReplicaThatIsBehindTakesNoLeaseAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{}
		s := &Store{bucket: m}
		former, err := s.Take(t.Context(), lease.Claim{Name: "x", Holder: "b", TTL: time.Minute})
		require.NoError(t, err)
		require.NoError(t, s.Release(t.Context(), former))
		time.Sleep(time.Second)
		g, err := s.Take(t.Context(), lease.Claim{Name: "x", Holder: "a", TTL: time.Minute})
		require.NoError(t, err)
		lost := g // the answer to the renewal
		_, err = s.Renew(t.Context(), g)
		require.NoError(t, err)
		m.lag = 200 * time.Millisecond
		g, err = s.Renew(t.Context(), lost)
		require.NoError(t, err)
		require.NoError(t, s.Release(t.Context(), lost))
		_, err = s.Renew(t.Context(), g)
		require.ErrorIs(t, err, lease.ErrLost)
	})
}
