package singleton_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// requireAtLeast fails unless 1 to n of each sender have been handled in order. Messages may have
// been handled again from some point on.
func (l *ledger) requireAtLeast(t testing.TB, n int, senders ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range senders {
		highest := 0
		for _, got := range l.handled[s] {
			require.LessOrEqual(t, got, highest+1, "%s: %d comes before %d", s, got, highest+1)
			highest = max(highest, got)
		}
		require.Equal(t, n, highest, "messages of %s", s)
	}
}

// telling tells 1 to n in the name of each node, in the background.
func telling(refs map[string]actor.ActorRef[numbered], n int, each time.Duration, senders ...string) {
	for _, name := range senders {
		go func() {
			for i := range n {
				refs[name].Tell(numbered{name, i + 1})
				time.Sleep(each)
			}
		}()
	}
}

func TestAtLeastOnceIsExactlyOnceInGracefulMoves(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Millisecond, 40 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			inCluster(t, []string{"a", "b", "c", "d"}, func(t *testing.T, c *cluster) {
				c.net.slow(delay)
				book, census := newLedger(), testkit.NewCensus(t)
				refs := onAll(c, testkit.Counted(census, book.keep(0)), singleton.AtLeastOnce(20))
				telling(refs, 500, 100*time.Microsecond, "c", "d")
				telling(refs, 100, 100*time.Microsecond, "a", "b")
				time.Sleep(20 * time.Millisecond)
				c.leave("a")
				c.leave("b")
				time.Sleep(10 * time.Second)
				book.requireAll(t, 500, "c", "d")
				book.requireAll(t, 100, "a", "b")
				requireOne(t, census, "c")
				for _, n := range c.nodes {
					n.deadLetters.ExpectNone(0)
				}
				require.Zero(t, c.nodes["d"].status("one").Unacknowledged)
			})
		})
	}
}

func TestAtLeastOnceOutlivesACrashOfTheHost(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, book.keep(time.Millisecond), singleton.AtLeastOnce(50))
		telling(refs, 400, time.Millisecond, "b", "c")
		time.Sleep(100 * time.Millisecond)
		a := c.nodes["a"]
		c.crash("a")
		time.Sleep(time.Second)
		c.removed(a)
		time.Sleep(time.Minute)
		book.requireAtLeast(t, 400, "b", "c")
		for _, name := range []string{"b", "c"} {
			c.nodes[name].deadLetters.ExpectNone(0)
		}
	})
}

func TestAtLeastOnceOutlivesABadNetwork(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, book.keep(0), singleton.AtLeastOnce(10))
		random := rand.New(rand.NewPCG(1, 2))
		c.net.losing(func(link, any) bool { return random.IntN(4) == 0 })
		telling(refs, 200, time.Millisecond, "b", "c")
		time.Sleep(10 * time.Minute)
		book.requireAll(t, 200, "b", "c")
	})
}

func TestAtLeastOnceSendsAgainToTheNextInstanceInPlace(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		book := newLedger()
		var failures atomic.Int32
		fallible := func() actor.Behavior[numbered] {
			n := 0
			return behaviors.Receive(func(_ *actor.Context[numbered], m numbered) actor.Behavior[numbered] {
				if n++; n == 7 && failures.Add(1) < 20 {
					panic("the seventh of this instance")
				}
				book.add(m)
				return behaviors.Same
			})
		}
		refs := onAll(c, fallible, singleton.AtLeastOnce(30))
		telling(refs, 50, 0, "a", "b")
		time.Sleep(10 * time.Minute)
		require.Greater(t, failures.Load(), int32(10), "there were failures")
		book.requireAll(t, 50, "a", "b")
		for _, n := range c.nodes {
			n.deadLetters.ExpectNone(0)
		}
	})
}

func TestAtLeastOnceWorksWithoutACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		book := newLedger()
		failed := false
		ref := actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[numbered] {
			return behaviors.Receive(func(_ *actor.Context[numbered], m numbered) actor.Behavior[numbered] {
				if m.N == 3 && !failed {
					failed = true
					return behaviors.Stopped // it says that it has handled it
				}
				book.add(m)
				return behaviors.Same
			})
		}, singleton.AtLeastOnce(2)), "one")
		for n := range 6 {
			ref.Tell(numbered{"s", n + 1})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []int{1, 2, 4, 5, 6}, book.handled["s"])
	})
}

func TestAMessageThatEveryInstanceFailsAtIsGivenUp(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		book := newLedger()
		tries := 0
		refs := onAll(c, func() actor.Behavior[numbered] {
			return behaviors.Receive(func(ctx *actor.Context[numbered], m numbered) actor.Behavior[numbered] {
				if m.N == 0 {
					tries++
					panic("cannot handle zero")
				}
				book.add(m)
				return behaviors.Same
			})
		}, singleton.AtLeastOnce(10))
		settle()
		for _, n := range []int{1, 0, 2, 3} {
			refs["b"].Tell(numbered{"b", n})
		}
		time.Sleep(time.Hour)
		book.requireAll(t, 3, "b")
		require.Equal(t, singleton.DefaultAttempts, tries)
		dead := c.nodes["a"].deadLetters.Receive()
		require.Equal(t, numbered{"b", 0}, dead.Message)
		require.ErrorIs(t, dead.Reason, singleton.ErrGivenUp)
		require.ErrorContains(t, dead.Reason, "cannot handle zero")
		require.Equal(t, 0, c.nodes["b"].status("one").Unacknowledged)
	})
}

// secret has no name for the wire.
type secret struct{ N int }

func TestWhatCannotBeEncodedIsADeadLetterAndBlocksNothing(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		var got []any
		refs := onAll(c, func() actor.Behavior[any] {
			return behaviors.Receive(func(_ *actor.Context[any], m any) actor.Behavior[any] {
				got = append(got, m)
				return behaviors.Same
			})
		}, singleton.AtLeastOnce(10))
		settle()
		refs["b"].Tell(numbered{"b", 1})
		refs["b"].Tell(secret{2})
		refs["b"].Tell(numbered{"b", 3})
		settle()
		require.Equal(t, []any{numbered{"b", 1}, numbered{"b", 3}}, got)
		dead := c.nodes["b"].deadLetters.Receive()
		require.Equal(t, secret{2}, dead.Message)
		require.ErrorIs(t, dead.Reason, actor.ErrNotSerializable)
		require.Zero(t, c.nodes["b"].status("one").Unacknowledged)
	})
}

func TestWhatIsNotAcknowledgedWhenTheManagerEndsIsADeadLetter(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a := c.join("a")
		ref, stop := spawnBelow(a.System, behaviors.Singleton(newLedger().keep(0), singleton.AtLeastOnce(1), singleton.Buffer(1)))
		ref.Tell(numbered{"a", 1})
		ref.Tell(numbered{"a", 2})
		ref.Tell(numbered{"a", 3})
		dead := a.deadLetters.Receive()
		require.Equal(t, numbered{"a", 2}, dead.Message)
		require.ErrorIs(t, dead.Reason, singleton.ErrBufferFull)
		settle()
		require.Equal(t, 1, a.status("parent/one").Unacknowledged)
		require.Equal(t, 1, a.status("parent/one").Held)
		stop()
		for _, n := range []int{1, 3} {
			dead := a.deadLetters.Receive()
			require.Equal(t, numbered{"a", n}, dead.Message)
			require.ErrorIs(t, dead.Reason, singleton.ErrManagerStopped)
		}
	})
}

func TestSupervisionInsideTheInstanceDecidesAboutTheMessage(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, func() actor.Behavior[numbered] {
			return behaviors.Supervise(behaviors.Receive(func(_ *actor.Context[numbered], m numbered) actor.Behavior[numbered] {
				book.add(m)
				if m.N == 2 {
					panic("two")
				}
				return behaviors.Same
			}), actor.Strategy{})
		}, singleton.AtLeastOnce(1))
		telling(refs, 4, 0, "b")
		time.Sleep(time.Hour)
		book.requireAll(t, 4, "b")
	})
}

func TestANodeLeavesWhileItsActorsGoOnTelling(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, book.keep(time.Millisecond), singleton.AtLeastOnce(3))
		settle()
		told, done := 0, make(chan struct{})
		go func() {
			for range 3000 {
				told++
				refs["b"].Tell(numbered{"b", told})
				time.Sleep(500 * time.Microsecond)
			}
			close(done)
		}()
		time.Sleep(100 * time.Millisecond)
		c.startLeaving("b")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, singletons.Drain(ctx, c.nodes["b"].System), "it does not wait for what is told for ever")
		<-done
	})
}
