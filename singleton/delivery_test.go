package singleton_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func TestMessagesToldBeforeThereIsAHostArriveInOrder(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		book := newLedger()
		for _, name := range abc {
			c.join(name)
		}
		for name, ref := range onAll(c, book.keep(0)) {
			for n := range 100 {
				ref.Tell(numbered{name, n + 1})
			}
		}
		time.Sleep(time.Hour)
		require.Equal(t, 100, c.nodes["b"].status("one").Held)
		for _, name := range abc {
			c.up(c.nodes[name])
		}
		settle()
		book.requireAll(t, 100, abc...)
		require.Zero(t, c.nodes["b"].status("one").Held)
		require.Equal(t, uint64(100), c.nodes["b"].status("one").Kept)
	})
}

func TestNothingIsLostOrOutOfOrderInTwoMoves(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Millisecond, 40 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			inCluster(t, []string{"a", "b", "c", "d", "e"}, func(t *testing.T, c *cluster) {
				c.net.slow(delay)
				book, census := newLedger(), testkit.NewCensus(t)
				refs := onAll(c, testkit.Counted(census, book.keep(0)))
				senders := []string{"c", "d", "e"}
				for i, name := range senders {
					go func() {
						for n := range 1000 {
							refs[name].Tell(numbered{name, n + 1})
							time.Sleep(time.Duration(50+20*i) * time.Microsecond)
						}
					}()
				}
				time.Sleep(20 * time.Millisecond)
				c.leave("a")
				c.leave("b")
				time.Sleep(2 * time.Second)
				for _, n := range c.nodes {
					n.deadLetters.ExpectNone(0)
				}
				book.requireAll(t, 1000, senders...)
				requireOne(t, census, "c")
			})
		})
	}
}

func TestNothingIsLostWhenTwoLeaveAtOnce(t *testing.T) {
	inCluster(t, []string{"a", "b", "c", "d"}, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, book.keep(time.Microsecond))
		for _, name := range []string{"a", "b", "c", "d"} {
			go func() {
				for n := range 300 {
					refs[name].Tell(numbered{name, n + 1})
					time.Sleep(100 * time.Microsecond)
				}
			}()
		}
		time.Sleep(40 * time.Millisecond) // leaving nodes have sent everything
		c.startLeaving("a")
		c.startLeaving("b")
		c.finishLeaving("a")
		c.finishLeaving("b")
		time.Sleep(time.Second)
		book.requireAll(t, 300, "a", "b", "c", "d")
	})
}

func TestAReplyGoesStraightToTheAsker(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		refs := onAll(c, parrot)
		settle()
		var replies []link
		c.net.losing(func(l link, m any) bool {
			if _, reply := m.(string); reply {
				replies = append(replies, l)
			}
			return false
		})
		got := testkit.Ask(t.Context(), t, refs["c"], func(to actor.ActorRef[string]) msg { return msg{"hello", to} })
		require.Equal(t, "hello", got)
		require.Equal(t, []link{{"a", "c"}}, replies)
	})
}

func TestWithoutABufferWhatHasNoHostIsADeadLetterAtOnce(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a := c.join("a")
		refs := onAll(c, parrot, singleton.Buffer(0))
		settle()
		refs["a"].Tell(msg{Text: "lost"})
		dead := a.deadLetters.Receive()
		require.Equal(t, msg{Text: "lost"}, dead.Message)
		require.ErrorIs(t, dead.Reason, singleton.ErrBufferFull)
	})
}

func TestAFullBufferDropsTheOldest(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a := c.join("a")
		book := newLedger()
		refs := onAll(c, book.keep(0), singleton.Buffer(3))
		settle()
		for n := range 10 {
			refs["a"].Tell(numbered{"a", n - 6})
		}
		for n := range 7 {
			dead := a.deadLetters.Receive()
			require.Equal(t, numbered{"a", n - 6}, dead.Message)
			require.ErrorIs(t, dead.Reason, singleton.ErrBufferFull)
		}
		c.up(a)
		settle()
		book.requireAll(t, 3, "a")
		a.deadLetters.ExpectNone(time.Hour)
	})
}

func TestTheBufferForMessagesOfAnotherNodeIsBoundedToo(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, func() actor.Behavior[numbered] {
			return behaviors.Receive(func(ctx *actor.Context[numbered], m numbered) actor.Behavior[numbered] {
				if m.Sender == "fail" {
					panic("told to")
				}
				book.add(m)
				return behaviors.Same
			})
		}, singleton.Buffer(3))
		settle()
		refs["a"].Tell(numbered{Sender: "fail"})
		settle() // within the delay of the restart
		for n := range 5 {
			refs["b"].Tell(numbered{"b", n - 1})
		}
		settle()
		for n := range 2 {
			dead := c.nodes["a"].deadLetters.Receive()
			require.Equal(t, numbered{"b", n - 1}, dead.Message)
			require.ErrorIs(t, dead.Reason, singleton.ErrBufferFull)
		}
		time.Sleep(time.Second)
		book.requireAll(t, 3, "b")
	})
}

func TestMessagesForAnUnreachableHostWait(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		refs := onAll(c, parrot)
		settle()
		p := testkit.NewProbe[string](t, c.nodes["b"].System)
		a := c.nodes["a"]
		c.reachable(a, false)
		settle()
		refs["b"].Tell(msg{"1", p.Ref()})
		p.ExpectNone(time.Hour)
		c.reachable(a, true) // it was a false alarm: nothing has moved
		p.Expect("1")
		c.reachable(a, false)
		settle()
		refs["b"].Tell(msg{"2", p.Ref()})
		c.crash("a")
		c.downed(a)
		p.ExpectNone(margin - time.Second)
		p.Expect("2")
	})
}

func TestAMessageThatReachesAFormerHostFindsTheNewOne(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, book.keep(0))
		settle()
		a, b, d := c.nodes["a"], c.nodes["b"], c.nodes["c"]
		c.change(func() { a.peer.Up = false; b.peer.Up = true })
		settle()
		c.showTo(d, a, b, d)
		stale := a.peer
		stale.Up = true
		d.views.put(directory.Topology{Self: d.peer.ID, Members: []directory.Peer{stale, b.peer, d.peer}}) // c knows nothing yet
		settle()
		refs["c"].Tell(numbered{"c", 1})
		refs["c"].Tell(numbered{"c", 2})
		time.Sleep(time.Minute)
		book.requireAll(t, 0, "c")
		require.Equal(t, 2, d.status("one").Held)
		c.change(func() {})
		refs["c"].Tell(numbered{"c", 3})
		time.Sleep(2 * time.Second)
		book.requireAll(t, 3, "c")
		require.Zero(t, d.DeadLetters())
	})
}

func TestAMessageOfANewcomerIsNotTakenForThatOfANodeThatHasLeft(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		book := newLedger()
		onAll(c, book.keep(0))
		settle()
		c.change(func() { c.nodes["b"].behind = true }) // knows neither of c nor that it is to host
		c.change(func() { c.nodes["a"].peer.Up = false })
		d := c.join("c")
		actor.Spawn(d.System, behaviors.Singleton(book.keep(0)), "one").Tell(numbered{"c", 1})
		settle()
		require.NotZero(t, d.status("one").Kept, "it has come back")
		book.requireAll(t, 0, "c")
		c.change(func() { c.nodes["b"].behind = false })
		time.Sleep(5 * time.Second)
		book.requireAll(t, 1, "c")
	})
}

func TestMessagesAreNotLostWhileViewsGoInACircle(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, book.keep(0))
		settle()
		a, b, d := c.nodes["a"], c.nodes["b"], c.nodes["c"]
		c.change(func() { c.members = []*node{d, a, b} }) // c is to host; it asks and gets it
		settle()
		for name, believes := range map[string][]*node{"a": {b, a, d}, "b": {d, a, b}, "c": {a, b, d}} {
			c.showTo(c.nodes[name], believes...)
		}
		for n := range 50 {
			for _, name := range abc {
				refs[name].Tell(numbered{name, n + 1})
			}
			time.Sleep(3 * time.Millisecond)
		}
		c.change(func() { c.members = []*node{b, d, a} })
		time.Sleep(5 * time.Second)
		book.requireAll(t, 50, abc...)
	})
}

func TestMessagesOfANodeThatHasLeftAreStillDelivered(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, book.keep(2*time.Second))
		refs["a"].Tell(numbered{"a", 1}) // keeps the instance busy while a hands over
		settle()
		c.startLeaving("a")
		settle() // b asks for permission, and keeps messages that arrive meanwhile
		refs["c"].Tell(numbered{"c", 1})
		settle()
		require.Equal(t, 1, c.nodes["b"].status("one").Held)
		c.leave("c")
		c.finishLeaving("a")
		time.Sleep(10 * time.Second)
		book.requireAll(t, 1, "a", "c")
	})
}

func TestAManagerThatStopsMakesDeadLettersOfWhatItHolds(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a := c.join("a")
		ref, stop := spawnBelow(a.System, behaviors.Singleton(parrot))
		ref.Tell(msg{Text: "too early"})
		settle()
		require.Equal(t, 1, a.status("parent/one").Held)
		stop()
		dead := a.deadLetters.Receive()
		require.Equal(t, msg{Text: "too early"}, dead.Message)
		require.ErrorIs(t, dead.Reason, singleton.ErrManagerStopped)
		c.up(a)
		a.deadLetters.ExpectNone(time.Hour)
		_, known := singleton.StatusOf(a.System, "parent/one")
		require.False(t, known)
	})
}

func TestAManagerThatStopsGivesBackWhatOtherNodesHaveSent(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		a, b := c.nodes["a"], c.nodes["b"]
		_, stop := spawnBelow(a.System, behaviors.Singleton(mortal))
		ref, _ := spawnBelow(b.System, behaviors.Singleton(mortal))
		p := testkit.NewProbe[string](t, b.System)
		settle()
		ref.Tell(msg{Text: "fail"})
		settle()
		ref.Tell(msg{"please", p.Ref()}) // it waits at a for the restart
		settle()
		require.Equal(t, 1, a.status("parent/one").Held)
		singleton.Withdraw(a.System, "parent/one")
		stop()
		require.Contains(t, p.Receive(), "please")
		a.deadLetters.ExpectNone(0)
		b.deadLetters.ExpectNone(0)
	})
}

// spawnBelow spawns a singleton as the child "one" of an actor "parent", which stop stops.
func spawnBelow[M any](s *actor.System, b actor.Behavior[M]) (ref actor.ActorRef[M], stop func()) {
	refs := make(chan actor.ActorRef[M], 1)
	parent := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
		refs <- actor.Spawn(ctx, b, "one")
		return behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] { return behaviors.Stopped })
	}), "parent")
	return <-refs, func() { parent.Tell("stop") }
}

type unregistered struct{ Text string }

func TestAMessageWithoutAWireNameIsADeadLetterThatSaysWhatToDo(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		refs := onAll(c, func() actor.Behavior[any] { return behaviors.Ignore[any] })
		settle()
		refs["b"].Tell(unregistered{"hello"})
		dead := c.nodes["b"].deadLetters.Receive()
		require.Equal(t, unregistered{"hello"}, dead.Message)
		require.ErrorIs(t, dead.Reason, actor.ErrNotSerializable)
		require.Contains(t, dead.Reason.Error(), "RegisterType")
		refs["a"].Tell(unregistered{"here no wire is needed"})
		c.nodes["a"].deadLetters.ExpectNone(time.Hour)
	})
}

func TestAMessageOfAnotherTypeIsADeadLetterAtTheHost(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		actor.Spawn(c.nodes["a"].System, behaviors.Singleton(parrot), "one")
		ref := actor.Spawn(c.nodes["b"].System, behaviors.Singleton(newLedger().keep(0)), "one")
		settle()
		singleton.Advertise(c.nodes["a"].System, "one") // it does not say of which type
		settle()
		ref.Tell(numbered{"b", 1})
		dead := c.nodes["a"].deadLetters.Receive()
		require.Equal(t, numbered{"b", 1}, dead.Message)
		require.ErrorIs(t, dead.Reason, actor.ErrWrongType)
	})
}

func TestARecallThatIsLostIsSentAgain(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, book.keep(0))
		settle()
		refs["c"].Tell(numbered{"c", 1})
		settle()
		c.net.losing(cut("c"))
		c.startLeaving("a")
		settle()
		refs["c"].Tell(numbered{"c", 2})
		settle()
		require.True(t, c.nodes["c"].status("one").Closed)
		book.requireAll(t, 1, "c")
		c.net.losing(nil)
		time.Sleep(time.Second)
		book.requireAll(t, 2, "c")
		c.finishLeaving("a")
	})
}

func TestNobodyWaitsForMessagesOfAHostThatCannotBeReached(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, book.keep(0))
		settle()
		refs["c"].Tell(numbered{"c", 1})
		settle()
		c.net.losing(cut("c"))
		c.startLeaving("a")
		settle()
		refs["c"].Tell(numbered{"c", 2})
		time.Sleep(time.Minute)
		book.requireAll(t, 1, "c")
		c.reachable(c.nodes["a"], false)
		time.Sleep(time.Second)
		book.requireAll(t, 2, "c")
		c.net.losing(nil)
		c.finishLeaving("a")
	})
}

func TestAskingThroughEveryNodeDuringAMoveIsAnswered(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		refs := onAll(c, parrot)
		settle()
		c.startLeaving("a")
		for i := range 20 {
			for _, name := range abc {
				want := fmt.Sprint(name, i)
				require.Equal(t, want, testkit.Ask(t.Context(), t, refs[name], func(to actor.ActorRef[string]) msg { return msg{want, to} }))
			}
		}
		c.finishLeaving("a")
		_, err := actor.Ask(t.Context(), refs["a"], func(to actor.ActorRef[string]) msg { return msg{"late", to} })
		require.ErrorIs(t, err, actor.ErrTerminated)
		synctest.Wait()
	})
}
