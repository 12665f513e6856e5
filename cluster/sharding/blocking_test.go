package sharding_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A handler that takes long delays the entities of its shard when its node leaves,
// and no others.
func TestWhileANodeLeavesAndHandlersBlockTheOtherEntitiesAnswer(t *testing.T) {
	effort.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		regions := map[string]*sharding.Region[note]{}
		for _, name := range []string{"n1", "n2", "n3"} {
			r, err := sharding.Start(c.Node(name), "sleeper", func(e sharding.Entity) actor.Behavior[note] {
				return behaviors.Receive(func(_ *actor.Context[note], n note) actor.Behavior[note] {
					if n.Text == "sleep" {
						time.Sleep(20 * time.Second)
					} else {
						n.ReplyTo.Tell(e.ID)
					}
					return nil
				})
			})
			require.NoError(t, err)
			regions[name] = r
		}
		time.Sleep(3 * time.Minute)
		const entities = 200
		for n := range entities {
			read(t, regions["n1"].Ref(fmt.Sprint("e", n)))
		}
		blocked := map[int]bool{}
		for n := 0; n < entities; n += 2 {
			r := regions["n1"].Ref(fmt.Sprint("e", n))
			blocked[regions["n1"].Shard(fmt.Sprint("e", n))] = true
			r.Tell(note{Text: "sleep"})
		}
		left := make(chan error, 1)
		go func() { left <- c.Node("n2").Leave(t.Context()) }()
		var all sync.WaitGroup
		var mu sync.Mutex
		longest := map[bool]time.Duration{} // by whether the shard has a handler that blocks
		until := time.Now().Add(time.Minute)
		for n := 1; n < entities; n += 2 {
			all.Go(func() {
				id := fmt.Sprint("e", n)
				shared := blocked[regions["n1"].Shard(id)]
				for time.Now().Before(until) {
					time.Sleep(100 * time.Millisecond)
					began := time.Now()
					_, err := actor.AskTimeout(t.Context(), regions["n1"].Ref(id), time.Minute, func(r actor.ActorRef[string]) note { return note{ReplyTo: r} })
					if err != nil {
						t.Errorf("%s, whose shard has a handler that blocks: %v: %v", id, shared, err)
					}
					mu.Lock()
					longest[shared] = max(longest[shared], time.Since(began))
					mu.Unlock()
				}
			})
		}
		all.Wait()
		require.NoError(t, <-left)
		t.Logf("longest: %v", longest)
		require.Less(t, longest[false], 2*time.Second)
		require.Less(t, longest[true], 22*time.Second)
	})
}
