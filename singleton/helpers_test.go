package singleton_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// msg is the message type of the singletons in these tests.
type msg struct {
	Text    string
	ReplyTo actor.ActorRef[string]
}

func init() { actor.RegisterType[msg]("singleton_test.msg") }

// parrot answers with the text of the message.
func parrot() actor.Behavior[msg] {
	return behaviors.Receive(func(_ *actor.Context[msg], m msg) actor.Behavior[msg] {
		m.ReplyTo.Tell(m.Text)
		return behaviors.Same
	})
}

// mortal answers with the generation of its instance and the text. "stop" and "fail" end it.
func mortal() actor.Behavior[msg] {
	return behaviors.Receive(func(ctx *actor.Context[msg], m msg) actor.Behavior[msg] {
		switch m.Text {
		case "stop":
			return behaviors.Stopped
		case "fail":
			panic("told to")
		}
		m.ReplyTo.Tell(singleton.GenerationOf(ctx).String() + " " + m.Text)
		return behaviors.Same
	})
}

// numbered is the n-th message that its sender has told.
type numbered struct {
	Sender string
	N      int
}

func init() { actor.RegisterType[numbered]("singleton_test.numbered") }

// A ledger records what instances have handled, wherever they ran.
type ledger struct {
	mu      sync.Mutex // guards handled
	handled map[string][]int
}

func newLedger() *ledger { return &ledger{handled: map[string][]int{}} }

// keep is the behavior of an instance that takes its time for each message.
func (l *ledger) keep(each time.Duration) func() actor.Behavior[numbered] {
	return func() actor.Behavior[numbered] {
		return behaviors.Receive(func(_ *actor.Context[numbered], m numbered) actor.Behavior[numbered] {
			time.Sleep(each)
			l.add(m)
			return behaviors.Same
		})
	}
}

func (l *ledger) add(m numbered) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handled[m.Sender] = append(l.handled[m.Sender], m.N)
}

// requireAll fails unless 1 to n of each sender have been handled once, in order.
func (l *ledger) requireAll(t testing.TB, n int, senders ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range senders {
		require.Len(t, l.handled[s], n, "messages of %s", s)
		for i, got := range l.handled[s] {
			require.Equal(t, i+1, got, "message %d of %s", i, s)
		}
	}
}

// onAll spawns the singleton on every node, and returns the refs by the name of the node.
func onAll[M any](c *cluster, factory func() actor.Behavior[M], opts ...singleton.Option) map[string]actor.ActorRef[M] {
	refs := map[string]actor.ActorRef[M]{}
	for _, n := range c.members {
		refs[n.peer.Name] = actor.Spawn(n.System, behaviors.Singleton(factory, opts...), "one")
	}
	return refs
}

// requireOne fails unless exactly one instance runs, on the node of that name, and two have never
// run at once.
func requireOne(t testing.TB, census *testkit.Census, host string) {
	t.Helper()
	require.Equal(t, 1, census.Running())
	require.Equal(t, 1, census.Peak())
	timeline := census.Timeline()
	require.Contains(t, timeline[len(timeline)-1].Path, fmt.Sprintf("@%s/", host))
}

// settle waits until everything that can happen at once in a cluster has happened.
func settle() {
	time.Sleep(40 * time.Millisecond)
	synctest.Wait()
}
