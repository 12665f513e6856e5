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
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// What clients send while the nodes are restarted in good order arrives, and is answered in time.
func TestARollingRestartLosesNothingOfClients(t *testing.T) {
	effort.Unraced(t)
	for name, pause := range map[string]time.Duration{"one after the other": 2 * time.Second, "at once": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { rollingRestartForClients(t, pause) })
		})
	}
}

func rollingRestartForClients(t *testing.T, pause time.Duration) {
	nodes := []string{"n1", "n2", "n3", "n4"}
	c := clustertest.Start(t, len(nodes))
	start := func(name string) {
		_, err := sharding.Start(c.Node(name), "notebook", notebook, sharding.Shards(16))
		require.NoError(t, err)
		actor.Spawn(c.Node(name), behaviors.Singleton(func() actor.Behavior[note] { return notebook(sharding.Entity{ID: "single"}) }), "single")
	}
	for _, name := range nodes {
		start(name)
	}
	time.Sleep(time.Minute)
	var (
		mu   sync.Mutex
		lost []string
		asks int
		work sync.WaitGroup
	)
	done := make(chan struct{})
	use := func(to actor.ActorRef[note], what string) {
		work.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(20 * time.Millisecond):
				}
				to.Tell(note{Text: "x"})
				_, err := actor.AskTimeout(t.Context(), to, 3*time.Second, func(r actor.ActorRef[string]) note { return note{ReplyTo: r} })
				mu.Lock()
				asks++
				if err != nil {
					lost = append(lost, fmt.Sprint(what, ": ", err))
				}
				mu.Unlock()
			}
		})
	}
	listen := func(s *actor.System) {
		seen := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[actor.DeadLetter], d actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
			mu.Lock()
			defer mu.Unlock()
			lost = append(lost, fmt.Sprint("dead letter: ", d.Recipient, " ", d.Reason))
			return behaviors.Same
		}), "lost")
		actor.Subscribe(s, seen)
	}
	for _, name := range nodes {
		listen(c.Node(name).System)
	}
	for i := range 3 {
		client := c.Dial(fmt.Sprint("client", i))
		listen(client.System)
		for id := range 4 {
			use(sharding.RefOf[note](client, "notebook", fmt.Sprint("e", id)), "entity")
		}
		if pause > 0 { // else a client may take a node for one that has the manager before it has been spawned
			use(singleton.Ref[note](client.System, "single"), "singleton")
		}
	}
	for range 2 {
		for _, name := range nodes {
			time.Sleep(pause)
			c.Leave(name)
			c.Add(name)
			start(name)
			listen(c.Node(name).System)
		}
	}
	time.Sleep(time.Second)
	close(done)
	work.Wait()
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%d asks", asks)
	require.Empty(t, lost)
}
