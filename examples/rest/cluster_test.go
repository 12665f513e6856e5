package main

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// inCluster gives a test the handlers of three nodes, of which n1 hosts the fund. A write takes 10
// ms of virtual time.
func inCluster(t *testing.T, f func(t *testing.T, c *clustertest.Cluster, handlers map[string]http.Handler, journal *journal.Memory)) {
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		c := clustertest.Start(t, 3)
		handlers := map[string]http.Handler{}
		for _, n := range c.Nodes() {
			ref := actor.Spawn(n, fund(slow{store, 10 * time.Millisecond}), "fund")
			handlers[n.View().Self.Name] = routes(ref, cluster.Config{}.Expected().FailoverFenced)
		}
		c.AwaitQuiet()
		require.Equal(t, "1000000", balance(t, handlers["n2"]))
		time.Sleep(time.Second) // all nodes know that the fund has a journal
		f(t, c, handlers, store)
	})
}

// try sends the payment of a customer once, and notes the answer.
func try(t *testing.T, h http.Handler, who *customer) request {
	r := request{sent: time.Now()}
	w := post(t, h, who.key, `{"cents": 1}`)
	r.status, r.text, r.took = w.Code, w.Body.String(), time.Since(r.sent)
	r.retryAfter, _ = strconv.Atoi(w.Header().Get("Retry-After")) // 0 without one
	who.note(r)
	return r
}

func TestUnderOverloadEachPaymentIsMadeOrRefusedAtOnce(t *testing.T) {
	inCluster(t, func(t *testing.T, _ *clustertest.Cluster, handlers map[string]http.Handler, journal *journal.Memory) {
		var mu sync.Mutex
		var all []*customer
		var requests []request
		var left sync.WaitGroup
		for i := range 3 * 100 * 10 { // for ten seconds
			who := &customer{key: strconv.Itoa(i)}
			all = append(all, who)
			left.Go(func() {
				r := try(t, handlers["n"+strconv.Itoa(i%3+1)], who)
				mu.Lock()
				defer mu.Unlock()
				requests = append(requests, r)
			})
			time.Sleep(time.Second / 300)
		}
		left.Wait()
		made := 0
		for _, r := range requests {
			switch r.status {
			case http.StatusCreated:
				made++
				require.Less(t, r.took, patience/2)
			default:
				require.Equal(t, http.StatusServiceUnavailable, r.status, r.text)
				require.Equal(t, 1, r.retryAfter)
			}
		}
		require.Greater(t, made, 900, "of the 1000 that can be made in ten seconds")
		require.NoError(t, check(t.Context(), journal, all))
	})
}

func TestInAFailoverEachPaymentIsMadeOnceByTryingAgain(t *testing.T) {
	inCluster(t, func(t *testing.T, c *clustertest.Cluster, handlers map[string]http.Handler, journal *journal.Memory) {
		var mu sync.Mutex
		var all []*customer
		var told []request
		var left sync.WaitGroup
		pay := func(i int) {
			who := &customer{key: strconv.Itoa(i)}
			all = append(all, who)
			left.Go(func() {
				for range tries {
					r := try(t, handlers["n"+strconv.Itoa(i%2+2)], who)
					mu.Lock()
					told = append(told, r)
					mu.Unlock()
					if who.acknowledged {
						return
					}
					time.Sleep(time.Duration(max(1, r.retryAfter)) * time.Second)
				}
			})
			time.Sleep(20 * time.Millisecond)
		}
		for i := range 50 {
			pay(i)
		}
		c.Kill("n1")
		killed := time.Now()
		for i := range 500 {
			pay(50 + i)
		}
		left.Wait()
		failover := cluster.Config{}.Expected().FailoverFenced
		var first time.Duration
		unavailable := 0
		for _, r := range told {
			after := r.sent.Add(r.took).Sub(killed)
			switch r.status {
			case http.StatusCreated:
				if after > 0 && (first == 0 || after < first) {
					first = after
				}
			default:
				require.Equal(t, http.StatusServiceUnavailable, r.status, "%v after the kill: %s", after, r.text)
				require.Less(t, after, failover+patience)
				if r.retryAfter == 5 {
					unavailable++
					continue
				}
				require.Equal(t, 1, r.retryAfter)
				require.Contains(t, r.text, actor.ErrOverloaded.Error(), "many wait for the next host")
			}
		}
		require.LessOrEqual(t, first, failover)
		require.Greater(t, unavailable, 50)
		for _, who := range all {
			require.True(t, who.acknowledged, who.key)
		}
		require.NoError(t, check(t.Context(), journal, all))
	})
}
