//go:build !quick

package sharding_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
)

type knock struct{ done *sync.WaitGroup }

func knocked() actor.Behavior[knock] {
	return behaviors.Receive(func(_ *actor.Context[knock], k knock) actor.Behavior[knock] {
		if k.done != nil {
			k.done.Done()
		}
		return nil
	})
}

// BenchmarkTell compares a tell to an entity of this node with one to a plain actor.
func BenchmarkTell(b *testing.B) {
	s := actor.NewSystem("bench")
	b.Cleanup(func() { require.NoError(b, s.Shutdown(context.Background())) })
	r, err := sharding.Start(s, "door", func(sharding.Entity) actor.Behavior[knock] { return knocked() })
	require.NoError(b, err)
	for name, ref := range map[string]actor.ActorRef[knock]{"entity": r.Ref("1"), "actor": actor.Spawn(s, knocked(), "")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				ref.Tell(knock{})
			}
			var done sync.WaitGroup
			done.Add(1)
			ref.Tell(knock{&done})
			done.Wait()
		})
	}
}

// BenchmarkIdle, run once, reports how many bytes an idle entity has, beside its state.
func BenchmarkIdle(b *testing.B) {
	s := actor.NewSystem("bench")
	b.Cleanup(func() { require.NoError(b, s.Shutdown(context.Background())) })
	r, err := sharding.Start(s, "door", func(sharding.Entity) actor.Behavior[knock] { return knocked() }, sharding.PassivateAfter(0))
	require.NoError(b, err)
	const entities = 100_000
	var done sync.WaitGroup
	done.Add(entities)
	before := heap()
	for n := range entities {
		r.Ref(fmt.Sprint("door-", n)).Tell(knock{&done})
	}
	done.Wait()
	b.ReportMetric(float64(heap()-before)/entities, "bytes/entity")
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
