//go:build !quick

package clustertest_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// Item is the n-th message of a node.
type Item struct {
	From string
	N    int
}

func init() { actor.RegisterType[Item]("clustertest.item") }

// Accounts record the fate of all items of a test, on all nodes.
type accounts struct {
	mu      sync.Mutex // guards all below
	handled map[string][]int
	dead    map[string][]int
}

func newAccounts() *accounts { return &accounts{handled: map[string][]int{}, dead: map[string][]int{}} }

// keep returns the factory of instances that take some time for each item.
func (b *accounts) keep(each time.Duration) func() actor.Behavior[Item] {
	return func() actor.Behavior[Item] {
		return behaviors.Receive(func(_ *actor.Context[Item], i Item) actor.Behavior[Item] {
			time.Sleep(each)
			b.mu.Lock()
			defer b.mu.Unlock()
			b.handled[i.From] = append(b.handled[i.From], i.N)
			return behaviors.Same
		})
	}
}

// bury notes the dead letters of a system.
func (b *accounts) bury(s *actor.System) {
	ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[actor.DeadLetter], l actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
		if i, ok := l.Message.(Item); ok {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.dead[i.From] = append(b.dead[i.From], i.N)
		}
		return behaviors.Same
	}), "")
	actor.Subscribe(s, ref)
}

// counts returns how many items of all nodes are handled, and how many are dead letters.
func (b *accounts) counts() (handled, dead int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, all := range b.handled {
		handled += len(all)
	}
	for _, all := range b.dead {
		dead += len(all)
	}
	return handled, dead
}

// requireInOrder fails if an item of any sender was handled twice, or after a later one.
func (b *accounts) requireInOrder(t *testing.T) {
	t.Helper()
	for from, all := range b.handled {
		for i := 1; i < len(all); i++ {
			require.Less(t, all[i-1], all[i], "of %s", from)
		}
	}
}

// kept is a cluster with a singleton that keeps accounts.
func kept(t *testing.T, nodes int, each time.Duration, opts ...singleton.Option) (*clustertest.Cluster, *accounts, map[string]actor.ActorRef[Item]) {
	t.Helper()
	c, b, refs := clustertest.Start(t, nodes), newAccounts(), map[string]actor.ActorRef[Item]{}
	for _, name := range named(nodes) {
		b.bury(c.Node(name).System)
		refs[name] = actor.Spawn(c.Node(name), behaviors.Singleton(b.keep(each), opts...), "accounts")
	}
	c.AwaitQuiet()
	return c, b, refs
}

// The host leaves with 10,000 messages of three senders in the mailbox of its instance. The
// senders send as many again during the hand-over.
func TestAGracefulLeaveWithTenThousandQueuedMessagesLosesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const queued = 10_000
		c, b, refs := kept(t, 3, 100*time.Microsecond, singleton.Buffer(queued))
		senders := named(3)
		next := 0
		round := func() {
			next++
			for _, from := range senders {
				refs[from].Tell(Item{from, next})
			}
		}
		for next < queued/len(senders) {
			round()
		}
		time.Sleep(10 * time.Millisecond)
		handled, _ := b.counts()
		require.Less(t, handled, queued/10, "most of them wait")
		var leaves sync.WaitGroup
		leaves.Go(func() { c.Leave("n1") })
		time.Sleep(time.Millisecond)
		senders = senders[1:] // the sender on n1 has stopped
		for next < 2*queued/3 {
			round()
			if next%10 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		leaves.Wait()
		time.Sleep(5 * time.Second)
		handled, dead := b.counts()
		require.Zero(t, dead)
		require.Equal(t, next*2+queued/3, handled)
		b.requireInOrder(t)
		status, _ := singleton.StatusOf(c.Node("n2").System, "accounts")
		require.True(t, status.Here)
	})
}

// The host crashes while two other nodes send 10,000 messages. Each message has been
// handled, or is a dead letter of its sender or of the node that died with it. Messages that had
// arrived when the host died, and were not yet acknowledged on the wire, may be both.
func TestACrashDuringTenThousandTellsAccountsForEachOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each = 5_000
		c, b, refs := kept(t, 3, 0, singleton.Buffer(100))
		c.Delay(5*time.Millisecond, 0)
		for n := 1; n <= each; n++ {
			refs["n2"].Tell(Item{"n2", n})
			refs["n3"].Tell(Item{"n3", n})
			time.Sleep(time.Millisecond)
			if n == each/2 {
				go c.Crash("n1")
			}
		}
		time.Sleep(time.Minute)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.requireInOrder(t)
		for _, from := range []string{"n2", "n3"} {
			handled, dead := map[int]bool{}, map[int]bool{}
			for _, n := range b.handled[from] {
				handled[n] = true
			}
			both := 0
			for _, n := range b.dead[from] {
				require.False(t, dead[n], "message %d of %s is a dead letter twice", n, from)
				dead[n] = true
				if handled[n] {
					both++
				}
			}
			for n := 1; n <= each; n++ {
				require.True(t, handled[n] || dead[n], "message %d of %s is gone", n, from)
			}
			require.Greater(t, len(handled), each/2)
			require.Greater(t, len(dead), each/4, "what came after the crash and found no room")
			require.Less(t, both, 20, "those of one round trip")
		}
	})
}
