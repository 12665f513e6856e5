package cluster

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Over the sockets of the operating system, in real time: the limit on strangers of one
// host must not keep nodes out that all start there at once. Under the race detector, beside
// other tests, twenty nodes have not enough of a processor to shake hands within two seconds.
func TestTwentyNodesOfOneHostThatStartAtOnceJoinOverRealTLS(t *testing.T) {
	if underRace {
		t.Skip("twenty nodes under the race detector are too slow: run it without -race")
	}
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
	for _, n := range all { // without a word, as what is tested is over
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

// Keys, connections and goroutines of nodes that have talked for an hour, and of ones that
// have come and gone, must not pile up. Under the race detector an hour is five minutes.
func TestAnHourOfSecureClusterDoesNotGrow(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.tune = func(cfg *Config) { cfg.Secret = goodSecret }
		f.start("n1", "n2", "n3")
		f.await(10*time.Second, "n1", "n2", "n3")
		measure := func() (goroutines int, heap uint64) {
			time.Sleep(long(30 * time.Minute))
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
