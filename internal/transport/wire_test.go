package transport_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

func TestDiallersThatDoNotBelongAreRefusedWithAReason(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b", func(cfg *transport.Config) {
			cfg.Cluster = "blue"
			cfg.Incarnation = 5
			cfg.Admit = func(p remote.NodeID) error {
				if p.Incarnation == 13 {
					return errors.New("you were removed")
				}
				return nil
			}
		})
		for name, c := range map[string]struct {
			field  int
			value  any
			reason remote.Refusal
			detail string
		}{
			"without a version":  {helloMin, 2, remote.RefusedHello, "it names no version of the protocol"},
			"of another cluster": {helloCluster, "green", remote.RefusedCluster, `its cluster is "blue", not "green"; set Config.Name to the same on all nodes of one cluster`},
			"without an address": {helloAddr, "", remote.RefusedHello, "address and incarnation are required"},
			"not admitted":       {helloIncarnation, 13, remote.RefusedMember, "you were removed"},
			"looking for others": {helloWant, 4, remote.RefusedIncarnation, "incarnation 4 is gone, it is 5 now"},
		} {
			hello := goodHello()
			hello[helloCluster] = "blue"
			hello[c.field] = c.value
			conn := dialRaw(t, n, b)
			answer := conn.greet('A', hello)
			require.Equal(t, uint64(1), answer[answerMin], name)
			require.Equal(t, uint64(1), answer[answerMax], name)
			require.Equal(t, uint64(0), answer[answerVersion], name)
			require.Equal(t, uint64(5), answer[answerIncarnation], name)
			require.Equal(t, uint64(c.reason), answer[answerRefusal], name)
			require.Equal(t, c.detail, answer[answerDetail], name)
			require.Less(t, conn.closed(), time.Millisecond, name)
		}
		require.Equal(t, 5, b.logs.FilterMessage("connection closed").FilterLevelExact(zap.WarnLevel).Len())
	})
}

func TestRefusedDiallerLearnsTheReason(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		failures := &collector[error]{}
		a := start(t, n, "a", func(cfg *transport.Config) {
			cfg.Cluster = "green"
			cfg.DialFailed = func(addr string, err error) { failures.add(err) }
		})
		b := start(t, n, "b", func(cfg *transport.Config) { cfg.Cluster = "blue" })
		ref[int](a, b, "/user/inbox").Tell(1)
		time.Sleep(6 * time.Second)
		var refused *remote.RefusedError
		require.ErrorAs(t, failures.got()[0], &refused)
		require.Equal(t, remote.RefusedCluster, refused.Refusal)
		require.Equal(t, b.Self(), refused.Peer)
		require.ErrorAs(t, a.lost.got()[0].Reason, &refused, "the dead letter says it as well")
	})
}

func TestDiallerAsksItsOwnAdmitToo(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		refusal := errors.New("it was removed")
		a := start(t, n, "a", func(cfg *transport.Config) { cfg.Admit = func(remote.NodeID) error { return refusal } })
		b := start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		ref[int](a, b, "/user/inbox").Tell(1)
		time.Sleep(6 * time.Second)
		require.Empty(t, inbox.got())
		require.ErrorIs(t, a.lost.got()[0].Reason, refusal)
	})
}

func TestGarbageClosesItsConnectionAndNothingElse(t *testing.T) {
	for name, speak := range map[string]func(r *raw){
		"no preface":      func(r *raw) { r.write([]byte("GET / HTTP/1.1\r\n\r\n")...) },
		"another preface": func(r *raw) { r.write(append([]byte(preface[:len(preface)-1]), "AA"...)...) },
		"unknown lane":    func(r *raw) { r.write(opened('X')...) },
		"too large hello": func(r *raw) { r.write(opened('C', 0xff, 0xff, 0xff, 0xff)...) },
		"too large frame": func(r *raw) { r.greet('A', goodHello()); r.write(0xff, 0xff, 0xff, 0xff) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				a, b := start(t, n, "a"), start(t, n, "b")
				inbox, _ := spawn[int](b, "inbox")
				to := ref[int](a, b, "/user/inbox")
				to.Tell(0)
				soon()
				conn := dialRaw(t, n, b)
				speak(conn)
				require.Less(t, conn.closed(), time.Millisecond)
				to.Tell(1)
				soon()
				require.Equal(t, count(2), inbox.got())
				require.Equal(t, 1, b.logs.FilterMessage("connection closed").FilterLevelExact(zap.WarnLevel).Len())
			})
		})
	}
}

// A port scanner fills its own part of the log, and says when the rest is left out.
func TestGarbageDoesNotHideARefusal(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b", func(cfg *transport.Config) { cfg.Cluster = "blue" })
		for range 20 {
			conn := dialRaw(t, n, b)
			conn.write([]byte("GET / HTTP/1.1\r\n\r\n")...)
			conn.closed()
		}
		warned := b.logs.FilterMessage("connection closed").FilterLevelExact(zap.WarnLevel).All()
		require.Len(t, warned, 10)
		require.NotContains(t, warned[8].ContextMap(), "next")
		require.Equal(t, "further warnings of this minute are not logged", warned[9].ContextMap()["next"])

		hello := goodHello()
		hello[helloCluster] = "green"
		conn := dialRaw(t, n, b)
		conn.greet('A', hello)
		conn.closed()
		warned = b.logs.FilterMessage("connection closed").FilterLevelExact(zap.WarnLevel).All()
		require.Len(t, warned, 11)
		require.Contains(t, warned[10].ContextMap()["error"], "green")
	})
}

func TestHelloThatIsNoHelloIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		conn := dialRaw(t, n, b)
		conn.write(opened('C', 0, 0, 0, 3, 'x', 'y', 'z')...)
		require.Equal(t, uint64(remote.RefusedHello), conn.readFields()[answerRefusal])
		require.Less(t, conn.closed(), time.Millisecond)
	})
}

func TestSlowHandshakeIsCutOff(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		conn := dialRaw(t, n, b)
		begin := time.Now()
		for _, x := range [][]byte{opened('A'), {0}, {0}} {
			conn.write(x...)
			time.Sleep(600 * time.Millisecond)
		}
		conn.closed()
		require.InDelta(t, 2*time.Second, time.Since(begin), float64(10*time.Millisecond))
	})
}

func TestProbeThatConnectsAndLeavesIsNoEvent(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		require.NoError(t, dialRaw(t, n, b).Close())
		soon()
		require.Zero(t, b.logs.FilterLevelExact(zap.WarnLevel).Len())
	})
}

func TestNextConnectionOfASessionGoesOnWhereTheLastOneEnded(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		first := dialUser(t, n, b)
		first.tell("int", 1)
		first.tell("int", 2)
		soon()
		second := dialRaw(t, n, b)
		require.Equal(t, uint64(2), second.greet('A', goodHello())[answerReceived])
		first.closed()
		second.tell("int", 3)
		soon()

		third := dialRaw(t, n, b)
		other := goodHello()
		other[helloSession] = 2
		require.Equal(t, uint64(0), third.greet('A', other)[answerReceived], "another session begins at 0")

		lost := goodHello()
		lost[helloWant] = b.Self().Incarnation
		require.Equal(t, uint64(remote.RefusedSession), dialRaw(t, n, b).greet('A', lost)[answerRefusal], "the first is over")
		require.Equal(t, []int{1, 2, 3}, inbox.got())
	})
}

func TestSessionIsForgottenInTime(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		first := dialUser(t, n, b)
		first.tell("int", 1)
		soon()
		require.NoError(t, first.Close())
		time.Sleep(time.Hour)
		other := goodHello()
		other[helloAddr] = "another:7355"
		require.Zero(t, dialRaw(t, n, b).greet('A', other)[answerRefusal], "any handshake tidies up")
		require.Equal(t, uint64(0), dialRaw(t, n, b).greet('A', goodHello())[answerReceived])
	})
}

func TestNewIncarnationEndsTheConnectionsOfTheOldOne(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		old := dialUser(t, n, b)
		reborn := goodHello()
		reborn[helloIncarnation] = 78
		require.Zero(t, dialRaw(t, n, b).greet('C', reborn)[answerRefusal])
		require.Less(t, old.closed(), time.Millisecond)
	})
}

func TestPeerThatAcknowledgesNonsenseIsHungUp(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		l, err := n.Host("raw").Listen("raw:7355")
		require.NoError(t, err)
		a.SendControl("raw:7355", []byte("hello"))
		for range 2 {
			conn, err := l.Accept()
			require.NoError(t, err)
			r := &raw{conn, t}
			channel := make([]byte, len(preface)+1)
			_, err = io.ReadFull(r, channel)
			require.NoError(t, err)
			require.Equal(t, preface+"C", string(channel))
			r.readFields()
			r.frame(accepted(9, 0))
			r.write(0, 0, 0, 0, 0, 0, 0, 99)
			require.Less(t, r.closed(), time.Millisecond)
		}
	})
}

func TestPeerThatForgetsTheSessionGetsANewOne(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		l, err := n.Host("raw").Listen("raw:7355")
		require.NoError(t, err)
		a.SendControl("raw:7355", []byte("hello"))
		var sessions []any
		for _, received := range []int{0, 7, 0} {
			conn, err := l.Accept()
			require.NoError(t, err)
			r := &raw{conn, t}
			r.skip()
			sessions = append(sessions, r.readFields()[helloSession])
			r.frame(accepted(9, received))
			soon()
			_ = r.Close()
		}
		require.Equal(t, sessions[0], sessions[1])
		require.NotEqual(t, sessions[1], sessions[2])
	})
}
