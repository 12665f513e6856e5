package transport_test

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

func TestSendsSucceedAgainAfterThePeerHasRestarted(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		first, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		for i := range 100 {
			to.Tell(i)
		}
		soon()
		n.Pause("b") // messages that are sent now are on the wire when b dies
		for i := 100; i < 200; i++ {
			to.Tell(i)
		}
		soon()
		n.Crash("b")
		b.stop()
		soon()
		for i := 200; i < 300; i++ {
			to.Tell(i)
		}
		soon()
		b = start(t, n, "b")
		second, _ := spawn[int](b, "inbox")
		time.Sleep(2 * time.Second)
		for i := 300; i < 400; i++ {
			to.Tell(i)
		}
		soon()

		require.Equal(t, count(100), first.got())
		require.Equal(t, count(400)[200:], second.got())
		require.Equal(t, count(200)[100:], lostMessages(t, a, actor.ErrUnreachable, remote.ErrInDoubt))
	})
}

func TestCutConnectionLosesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		proxy := startProxy(t, n, "proxy", b.Addr())
		inbox, _ := spawn[int](b, "inbox")
		to := actor.Resolve[int](a.sys, "understudy://test@"+proxy.addr+"/user/inbox")
		for i := range 2000 {
			to.Tell(i)
			if i%100 == 50 {
				proxy.cut()
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, count(2000), inbox.got())
		require.Empty(t, a.lost.got())
		require.GreaterOrEqual(t, proxy.connections(), 10)
	})
}

func TestDeadPeerBlocksNobody(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		n.Host("c")
		n.Partition([]string{"c"})
		refused := actor.Resolve[int](a.sys, "understudy://test@nobody:7355/user/inbox")
		hanging := actor.Resolve[int](a.sys, "understudy://test@c:7355/user/inbox")
		living := ref[int](a, b, "/user/inbox")
		begin := time.Now()
		for i := range 1000 {
			refused.Tell(i)
			hanging.Tell(i)
			living.Tell(i)
		}
		require.Zero(t, time.Since(begin))
		soon()
		require.Equal(t, count(1000), inbox.got())
	})
}

func TestPeerThatReadsNothingBlocksNobody(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", func(cfg *transport.Config) { cfg.OutboxSize = 100 })
		b := listen(t, transport.Config{Bind: "b:7355", Network: n.Host("b")}) // never serves
		to := ref[string](a, b, "/user/inbox")
		large := string(make([]byte, 100_000))
		begin := time.Now()
		for range 200 {
			to.TellNoWait(large)
			time.Sleep(time.Millisecond)
		}
		require.Equal(t, 200*time.Millisecond, time.Since(begin))
		refused := a.lost.got()
		require.InDelta(t, 95, len(refused), 5, "a hundred wait, and a few are on the wire")
		for _, l := range refused {
			require.ErrorIs(t, l.Reason, remote.ErrOutboxFull)
			require.ErrorIs(t, l.Reason, actor.ErrUnreachable)
		}
		time.Sleep(5 * time.Second)
		require.Len(t, a.lost.got(), 200)
	})
}

func TestUnreachablePeerTurnsWhatWaitsIntoDeadLetters(t *testing.T) {
	for name, cut := range map[string]func(n *memnet.Network){
		"crashed": func(n *memnet.Network) { n.Crash("b") },
		"cut off": func(n *memnet.Network) { n.Partition([]string{"b"}) },
		"deaf":    func(n *memnet.Network) { n.OneWay("a", "b") },
		"dumb":    func(n *memnet.Network) { n.OneWay("b", "a") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				a, b := start(t, n, "a"), start(t, n, "b")
				to := ref[int](a, b, "/user/inbox")
				to.Tell(-1)
				soon()
				cut(n)
				begin := time.Now()
				for i := range 10 {
					to.Tell(i)
				}
				time.Sleep(4900 * time.Millisecond)
				require.Empty(t, a.lost.got())
				time.Sleep(200 * time.Millisecond)
				require.Equal(t, count(10), lostMessages(t, a, actor.ErrUnreachable))
				require.Less(t, time.Since(begin), 5200*time.Millisecond)
			})
		})
	}
}

func TestPeerIsReachedAgainAfterACutOfTenMinutes(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		to.Tell(0)
		soon()
		n.Partition([]string{"a"}, []string{"b"})
		for range 600 {
			to.Tell(-1)
			time.Sleep(time.Second)
		}
		time.Sleep(10 * time.Second)
		require.Len(t, a.lost.got(), 600)
		n.Heal()
		to.Tell(1)
		soon()
		require.Equal(t, 1, inbox.got()[len(inbox.got())-1])
	})
}

func TestRenamedNodeIsSomebodyElse(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		spawnAdder(a.sys)
		ref[int](a, b, "/user/inbox").Tell(1)
		require.Equal(t, 2, ask(t, ref[question](b, a, "/user/adder"), 1))
		a.SendControl(b.Addr(), []byte("old"))
		soon()

		a.Rename(4711)
		soon()
		require.Equal(t, remote.NodeID{Address: a.Addr(), Incarnation: 4711}, a.Self())
		ref[int](a, b, "/user/inbox").Tell(2)
		require.Equal(t, 3, ask(t, ref[question](b, a, "/user/adder"), 2))
		a.SendControl(b.Addr(), []byte("new"))
		soon()
		require.Equal(t, []int{1, 2}, inbox.got())
		require.Equal(t, a.Self(), b.control.got()[1].from)
		require.NotEqual(t, a.Self(), b.control.got()[0].from)
		require.Empty(t, a.lost.got())
	})
}

func TestRenameLeavesWhatIsInDoubtBehind(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		to.Tell(0)
		soon()
		n.OneWay("b", "a") // b gets it, but cannot say so
		to.Tell(1)
		soon()
		a.Rename(4711)
		to.Tell(2)
		n.Heal()
		soon()
		require.Equal(t, count(3), inbox.got())
		require.Equal(t, []int{1}, lostMessages(t, a, remote.ErrInDoubt))
	})
}

func TestForgottenPeerTakesItsMessagesAlong(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		to := ref[int](a, b, "/user/inbox")
		to.Tell(-1)
		soon()
		gone := b.Self()
		n.Crash("b")
		b.stop()
		for i := range 10 {
			to.Tell(i)
		}
		a.Forget(remote.NodeID{Address: gone.Address, Incarnation: gone.Incarnation + 1})
		soon()
		require.Empty(t, a.lost.got(), "that was somebody else")
		_, known := a.Peer(gone.Address)
		require.True(t, known)
		a.Forget(gone)
		_, known = a.Peer(gone.Address)
		require.False(t, known)
		soon()
		require.Equal(t, count(10), lostMessages(t, a, actor.ErrUnreachable))

		b = start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		to.Tell(1)
		soon()
		require.Equal(t, []int{1}, inbox.got(), "later messages are for whoever is there")
	})
}

func TestForgottenPeerIsHungUp(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		conn := dialUser(t, n, b)
		b.Forget(remote.NodeID{Address: "raw:7355", Incarnation: 77})
		require.Less(t, conn.closed(), time.Millisecond)
	})
}

func TestIdleConnectionIsClosedAndComesBack(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		proxy := startProxy(t, n, "proxy", b.Addr())
		inbox, _ := spawn[int](b, "inbox")
		to := actor.Resolve[int](a.sys, "understudy://test@"+proxy.addr+"/user/inbox")
		for i := range 3 {
			to.Tell(i)
			soon()
			require.Equal(t, 1, proxy.open())
			time.Sleep(time.Hour)
			require.Zero(t, proxy.open())
		}
		require.Equal(t, count(3), inbox.got())
		require.Equal(t, 3, proxy.connections())
	})
}

func TestCloseLetsConnectedPeersHaveWhatWasSent(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		to.Tell(0)
		soon()
		for i := 1; i < 1000; i++ {
			to.Tell(i)
		}
		a.stop()
		require.Equal(t, count(1000), inbox.got())
		require.Zero(t, a.sys.DeadLetters())
	})
}

func TestCloseTurnsWhatCannotBeSentIntoDeadLetters(t *testing.T) {
	for name, cut := range map[string]func(n *memnet.Network){
		"connected": func(n *memnet.Network) { n.Partition([]string{"b"}) },
		"crashed":   func(n *memnet.Network) { n.Crash("b"); soon() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				a, b := start(t, n, "a"), start(t, n, "b")
				to := ref[int](a, b, "/user/inbox")
				to.Tell(-1)
				soon()
				cut(n)
				for i := range 10 {
					to.Tell(i)
				}
				begin := time.Now()
				require.NoError(t, a.Close())
				require.LessOrEqual(t, time.Since(begin), time.Second)
				to.Tell(10)
				soon()
				require.Equal(t, count(11), lostMessages(t, a, remote.ErrClosed))
				require.NoError(t, a.Close(), "again")
			})
		})
	}
}

// lostMessages returns the dead letters of a node; all have to have those reasons.
func lostMessages(t testing.TB, x *testNode, reasons ...error) (all []int) {
	t.Helper()
	for _, l := range x.lost.got() {
		all = append(all, l.Message.(int))
		for _, reason := range reasons {
			require.ErrorIs(t, l.Reason, reason)
		}
	}
	return all
}
