package cluster

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// The test uses the sockets of the operating system, in real time. The limit on unauthenticated
// connections per host must not keep out nodes that all start on one host at once. Beside
// other tests, or with the race detector, twenty nodes do not get enough processor time to finish
// their handshakes within two seconds.
func TestTwentyNodesOfOneHostThatStartAtOnceJoinOverRealTLS(t *testing.T) {
	effort.Long(t)
	const size = 20
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seeds := []string{freeAddress(t)}
	type started struct {
		node *Node
		err  error
	}
	results := make(chan started)
	for i := range size {
		cfg := Config{Name: "crowd", Secret: goodSecret, Seeds: seeds, Detector: WAN(), Logger: logger(t)}
		if i == 0 {
			cfg.Bind = seeds[0]
		}
		go func() {
			n, err := Start(ctx, cfg)
			results <- started{n, err}
		}()
	}
	var all []*Node
	var errs error
	for range size {
		s := <-results
		if s.err == nil {
			all = append(all, s.node)
		}
		errs = errors.Join(errs, s.err)
	}
	for _, n := range all { // without leaving, because the test is over
		n.abort(ErrEnded)
	}
	closed := make(chan error)
	for _, n := range all {
		go func() { closed <- n.Shutdown(ctx) }()
	}
	for range all {
		require.NoError(t, <-closed)
	}
	require.NoError(t, errs)
}

// The keys, connections and goroutines of nodes that have exchanged messages for an hour must not
// accumulate, and those of nodes that come and go must not either. Except in make long, an hour is
// five minutes.
func TestAnHourOfSecureClusterDoesNotGrow(t *testing.T) {
	effort.Verify(t)
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(cfg *Config) { cfg.Secret = goodSecret }
		f.start("n1", "n2", "n3")
		f.await(10*time.Second, "n1", "n2", "n3")
		measure := func() (goroutines int, heap uint64) {
			time.Sleep(effort.Of(150*time.Second, 150*time.Second, 30*time.Minute))
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return runtime.NumGoroutine(), m.HeapAlloc
		}
		for range 5 {
			f.crash("n3")
			f.await(20*time.Second, "n1", "n2")
			f.start("n3")
			f.await(20*time.Second, "n1", "n2", "n3")
		}
		goroutines, heap := measure()
		again, grown := measure()
		require.LessOrEqual(t, again, goroutines+5)
		require.LessOrEqual(t, grown, heap+2<<20)
	})
}
