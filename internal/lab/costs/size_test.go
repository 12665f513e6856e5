//go:build !race && !understudy_debug

package costs_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// With the race detector an actor also knows the goroutine of its turn.
func TestAnIdleActorHasLessThan500Bytes(t *testing.T) {
	const actors = 10_000
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	var started sync.WaitGroup
	started.Add(actors)
	idle := behaviors.Setup(func(*actor.Context[sample]) actor.Behavior[sample] {
		started.Done()
		return behaviors.Ignore
	})
	before := heap()
	for range actors {
		actor.Spawn(s, idle, "")
	}
	started.Wait()
	each := (heap() - before) / actors
	t.Logf("%d bytes", each)
	require.Less(t, each, int64(500))
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
