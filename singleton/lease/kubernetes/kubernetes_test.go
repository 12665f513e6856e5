//go:build kubeapi

package kubernetes

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

// 233, with a real API server: its test of the model, its rules, its failures.
func TestKubernetes(t *testing.T) {
	c := startCluster(t)
	t.Run("TheModelAnswersLikeTheServer", func(t *testing.T) {
		require.Equal(t, interview(c.asker(t, c.Admin)), interview(model(t)))
	})
	t.Run("ManifestsOfTheGuide", func(t *testing.T) { manifestsOfTheGuide(t, c) })
	t.Run("AnAccountNeedsThreeVerbs", func(t *testing.T) { accountNeedsThreeVerbs(t, c) })
	t.Run("TimesHaveSixDigits", func(t *testing.T) { timesHaveSixDigits(t, c) })
	t.Run("ADeletedObjectIsALoss", func(t *testing.T) { deletedObjectIsALoss(t, c) })
	t.Run("ClientGoContends", func(t *testing.T) { clientGoContends(t, c) })
	t.Run("Laws", func(t *testing.T) {
		leasetest.Run(t, func(t *testing.T) leasetest.Backend { return lawsOf(c) })
	})
	t.Run("ASingletonRunsWhereTheLeaseIsHeld", func(t *testing.T) {
		singletonHolds(t, func() lease.Store { return c.connect(t, c.Pod) })
	})
	t.Run("AHolderOutlivesItsServer", func(t *testing.T) { holderOutlivesItsServer(t, c) })
}

// until asks a real server again until condition holds.
func until(t *testing.T, condition func() bool) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for !condition() {
		require.True(t, time.Now().Before(end), "not within a minute")
		<-time.After(50 * time.Millisecond)
	}
}

func lawsOf(c *cluster) leasetest.Backend {
	return leasetest.Backend{
		Open: func(t *testing.T) lease.Store { return c.connect(t, c.Admin) },
		TTL:  4 * time.Second,
		Outage: func(t *testing.T) (end func()) {
			c.kill(t)
			return func() { c.restart(t) }
		},
		Usurp: func(t *testing.T, name string) {
			leases := c.client(t).Leases(namespace)
			o, err := leases.Get(t.Context(), ObjectName(name), metav1.GetOptions{})
			require.NoError(t, err)
			_, err = leases.Update(t.Context(), usurped(o), metav1.UpdateOptions{})
			require.NoError(t, err)
		},
	}
}

// 242
func accountNeedsThreeVerbs(t *testing.T, c *cluster) {
	s := c.connect(t, c.Pod)
	bound := lease.Claim{Name: "bound", Holder: "pod", TTL: 5 * time.Second}
	_, err := s.Take(t.Context(), bound)
	require.ErrorContains(t, err, "403 Forbidden")
	require.ErrorContains(t, err, "verbs get, create and update on leases of coordination.k8s.io")

	admin := c.asker(t, c.Admin)
	const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/demo/"
	status, answer := admin.ask("POST", rbac+"roles", `{"metadata":{"name":"leases"},"rules":[
		{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["get","create","update"]}]}`)
	require.Equal(t, http.StatusCreated, status, answer)
	status, answer = admin.ask("POST", rbac+"rolebindings", `{"metadata":{"name":"leases"},
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"leases"},
		"subjects":[{"kind":"ServiceAccount","namespace":"demo","name":"actors"}]}`)
	require.Equal(t, http.StatusCreated, status, answer)

	var g lease.Grant
	until(t, func() bool { // the server learns about roles in its own time
		g, err = s.Take(t.Context(), bound)
		return err == nil
	})
	g, err = s.Renew(t.Context(), g)
	require.NoError(t, err)
	require.NoError(t, s.Release(t.Context(), g))
}

func timesHaveSixDigits(t *testing.T, c *cluster) {
	for name, s := range map[string]*Store{
		"json": c.connect(t, c.Admin), "protobuf": New(c.client(t).RESTClient(), namespace),
	} {
		name = "digits-" + name
		g, err := s.Take(t.Context(), lease.Claim{Name: name, Holder: "a", TTL: 5 * time.Second})
		require.NoError(t, err)
		g, err = s.Renew(t.Context(), g)
		require.NoError(t, err)
		_, answer := c.asker(t, c.Admin).ask("GET", "/apis/coordination.k8s.io/v1/namespaces/demo/leases/"+name, "")
		require.NoError(t, checkTimes([]byte(answer)))
		require.Contains(t, answer, `"renewTime":"2`)
		require.NoError(t, s.Release(t.Context(), g))
	}
}

// 229
func deletedObjectIsALoss(t *testing.T, c *cluster) {
	s := c.connect(t, c.Admin)
	g, err := s.Take(t.Context(), lease.Claim{Name: "deleted", Holder: "a", TTL: 5 * time.Second})
	require.NoError(t, err)
	leases := c.client(t).Leases(namespace)
	require.NoError(t, leases.Delete(t.Context(), "deleted", metav1.DeleteOptions{}))
	_, err = s.Renew(t.Context(), g)
	require.ErrorIs(t, err, lease.ErrLost)
	_, err = leases.Get(t.Context(), "deleted", metav1.GetOptions{})
	require.True(t, missing(err), "the renewal must not have made a new one")
	again, err := s.Take(t.Context(), g.Claim)
	require.NoError(t, err)
	require.Greater(t, again.Token, g.Token)
}

// clientGoContends lets client-go's leader election and a store take one object from each
// other, by release and by death.
func clientGoContends(t *testing.T, c *cluster) {
	const ttl = 3 * time.Second
	elect := func(releases bool) (leads *atomic.Bool, stop func()) {
		leads = &atomic.Bool{}
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Name: "contended", Namespace: namespace}, Client: c.client(t),
				LockConfig: resourcelock.ResourceLockConfig{Identity: "client-go"},
			},
			LeaseDuration: ttl, RenewDeadline: 2 * time.Second, RetryPeriod: 300 * time.Millisecond,
			ReleaseOnCancel: releases,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leads.Store(true) },
				OnStoppedLeading: func() { leads.Store(false) },
			},
		})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			elector.Run(ctx)
		}()
		return leads, func() {
			cancel()
			<-ended
		}
	}
	s := c.connect(t, c.Admin)
	contended := lease.Claim{Name: "contended", Holder: "store", TTL: ttl}
	taken := func(above uint64) (g lease.Grant) {
		t.Helper()
		until(t, func() bool {
			var err error
			if g, err = s.Take(t.Context(), contended); err != nil {
				require.ErrorIs(t, err, lease.ErrHeld)
			}
			return err == nil
		})
		require.Greater(t, g.Token, above)
		return g
	}

	ours := taken(0)
	leads, stop := elect(true)
	for start := time.Now(); time.Since(start) < 2*ttl; <-time.After(ttl / 10) {
		var err error
		ours, err = s.Renew(t.Context(), ours)
		require.NoError(t, err)
		require.False(t, leads.Load())
	}
	require.NoError(t, s.Release(t.Context(), ours))
	until(t, leads.Load)
	for start := time.Now(); time.Since(start) < 2*ttl; <-time.After(ttl / 10) {
		_, err := s.Take(t.Context(), contended)
		require.ErrorIs(t, err, lease.ErrHeld)
		require.True(t, leads.Load())
	}
	stop() // and releases
	ours = taken(ours.Token + 1)

	leads, stop = elect(false)
	died := time.Now() // of ours: nobody renews it
	until(t, leads.Load)
	require.Greater(t, time.Since(died), ttl*9/10)
	_, err := s.Renew(t.Context(), ours)
	require.ErrorIs(t, err, lease.ErrLost)
	require.NoError(t, s.Release(t.Context(), ours))
	require.True(t, leads.Load())
	stop() // without a release
	died = time.Now()
	taken(ours.Token + 1)
	require.Greater(t, time.Since(died), time.Second, "it was renewed last at most a retry period and a bit before")
}

// holderOutlivesItsServer kills the server under a lease.
func holderOutlivesItsServer(t *testing.T, c *cluster) {
	l, err := lease.New(c.connect(t, c.Admin), "outage", "a", lease.Settings{TTL: 5 * time.Second})
	require.NoError(t, err)
	lost := make(chan error, 10)
	l.OnLost(func(reason error) { lost <- reason })
	held, err := l.Acquire(t.Context())
	require.NoError(t, err)
	require.True(t, held)
	token := l.Token()

	c.kill(t)
	killed := time.Now()
	require.True(t, l.Valid())
	require.ErrorIs(t, <-lost, lease.ErrExpired)
	require.Less(t, time.Since(killed), 5*time.Second)
	require.False(t, l.Valid())

	c.restart(t)
	until(t, func() bool {
		held, err = l.Acquire(t.Context())
		return held
	})
	require.Greater(t, l.Token(), token)
	require.True(t, l.Valid())
	require.NoError(t, l.Release(t.Context()))
}
