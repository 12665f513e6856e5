package kubernetes

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/understudy-go/understudy/singleton/lease"
)

// 227
func TestRenewalsFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		l, err := lease.New(newStore(t, server), "register", "a", lease.Settings{TTL: 4 * time.Second})
		require.NoError(t, err)
		held, err := l.Acquire(t.Context())
		require.NoError(t, err)
		require.True(t, held)
		before := server.get("register")
		for range 20 {
			time.Sleep(2 * time.Second)
			now := server.get("register")
			require.True(t, before.Spec.RenewTime.Before(now.Spec.RenewTime))
			require.True(t, before.Spec.AcquireTime.Equal(now.Spec.AcquireTime))
			require.NotEqual(t, before.ResourceVersion, now.ResourceVersion)
			before = now
		}
		for _, request := range server.requests()[2:] {
			require.Equal(t, "PUT register 200", request, "no conflict, and nothing is read")
		}
		require.NoError(t, l.Release(t.Context()))
	})
}

func TestARenewalInTheSameMicrosecondIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		g := take(t, s, "a")
		next, err := s.Renew(t.Context(), g)
		require.NoError(t, err)
		require.NotEqual(t, g.Version, next.Version)
	})
}

// 229
func TestARenewalOfADeletedObjectIsALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		g := take(t, s, "a")
		server.remove("register")
		_, err := s.Renew(t.Context(), g)
		require.ErrorIs(t, err, lease.ErrLost)
		require.Nil(t, server.get("register"), "a PUT may create a Lease; this one must not")
		require.NoError(t, s.Release(t.Context(), g))
		require.Nil(t, server.get("register"))
		require.Equal(t, g.Token+1, take(t, s, "a").Token, "a store that has seen the count remembers it")
	})
}

func TestARenewalOfAnotherAcquisitionIsALoss(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(o *coordinationv1.Lease)
	}{
		{"another holder", func(o *coordinationv1.Lease) { o.Spec.HolderIdentity = new("b") }},
		{"nobody", func(o *coordinationv1.Lease) { o.Spec.HolderIdentity = nil }},
		{"another count", func(o *coordinationv1.Lease) { o.Spec.LeaseTransitions = new(int32(5)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newAPIServer()
				s := newStore(t, server)
				g := take(t, s, "a")
				o := server.get("register")
				c.change(o)
				server.put(o)
				changed := server.get("register")
				_, err := s.Renew(t.Context(), g)
				require.ErrorIs(t, err, lease.ErrLost)
				require.NoError(t, s.Release(t.Context(), g))
				require.Equal(t, changed, server.get("register"))
			})
		})
	}
}

func TestAConflictWithSomebodyWhoLeavesTheLeaseAloneIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		g := take(t, s, "a")
		o := server.get("register")
		o.Labels = map[string]string{"who": "an administrator"}
		server.put(o)
		g, err := s.Renew(t.Context(), g)
		require.NoError(t, err)
		require.Equal(t, o.Labels, server.get("register").Labels)
		server.put(server.get("register"))
		require.NoError(t, s.Release(t.Context(), g))
		require.Empty(t, *server.get("register").Spec.HolderIdentity)
	})
}

func TestALeaseThatHasExpiredIsNotRenewedThoughNobodyTookIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		g := take(t, s, "a")
		time.Sleep(g.TTL - 1)
		g, err := s.Renew(t.Context(), g)
		require.NoError(t, err)
		time.Sleep(g.TTL)
		_, err = s.Renew(t.Context(), g)
		require.ErrorIs(t, err, lease.ErrLost)
		require.Equal(t, uint64(2), take(t, s, "a").Token)
	})
}

// 235
func TestARenewalThatIsSlowerThanTheIntervalIsTheOnlyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		l, err := lease.New(newStore(t, server), "register", "a", lease.Settings{
			TTL: 10 * time.Second, Renewal: time.Second, OperationTimeout: 5 * time.Second,
		})
		require.NoError(t, err)
		l.OnLost(func(reason error) { t.Errorf("lost: %v", reason) })
		_, err = l.Acquire(t.Context())
		require.NoError(t, err)
		server.fail(always(fault{delay: 2500 * time.Millisecond}, http.MethodPut))
		time.Sleep(time.Minute)
		require.True(t, l.Valid())
		require.Equal(t, 1, server.most)
		require.NoError(t, l.Release(t.Context()))
	})
}

// 238
func TestAHolderKnowsWhenItsTimeIsOverThoughNothingAnswers(t *testing.T) {
	for _, f := range []fault{{hang: true}, {status: http.StatusInternalServerError}, {lost: true}} {
		synctest.Test(t, func(t *testing.T) {
			server := newAPIServer()
			l, err := lease.New(newStore(t, server), "register", "a", lease.Settings{TTL: 10 * time.Second})
			require.NoError(t, err)
			lost := make(chan time.Time, 1)
			l.OnLost(func(error) { lost <- time.Now() })
			_, err = l.Acquire(t.Context())
			require.NoError(t, err)
			start := time.Now()
			server.fail(always(f, http.MethodGet, http.MethodPut))
			require.Less(t, (<-lost).Sub(start), 10*time.Second)
			require.False(t, l.Valid())
			server.fail(nil)
			require.NoError(t, l.Release(t.Context()))
		})
	}
}

func TestARenewalAfterAnAnswerThatNeverCameGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		g := take(t, s, "a")
		server.fail(once(fault{mute: true}, http.MethodPut))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Renew(ctx, g)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		next, err := s.Renew(t.Context(), g) // with the version from before
		require.NoError(t, err)
		require.Equal(t, g.Token, next.Token)
	})
}
