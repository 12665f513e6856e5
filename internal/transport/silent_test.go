package transport_test

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
)

// Neither the network nor the peer reports that these connections are gone.
func TestNoMessageIsLostWithConnectionsThatTheNetworkHasForgotten(t *testing.T) {
	for name, ways := range map[string]func(t *testing.T, n *memnet.Network) (from, to *testNode){
		"from node to node": func(t *testing.T, n *memnet.Network) (from, to *testNode) {
			return start(t, n, "a"), start(t, n, "b")
		},
		"from client to node": func(t *testing.T, n *memnet.Network) (from, to *testNode) {
			b := start(t, n, "b")
			return startClient(t, n, "a", []*testNode{b}), b
		},
		"from node to client": func(t *testing.T, n *memnet.Network) (from, to *testNode) {
			a := start(t, n, "a")
			return a, startClient(t, n, "b", []*testNode{a})
		},
		"from node to client, with a secret": func(t *testing.T, n *memnet.Network) (from, to *testNode) {
			a := start(t, n, "a", ring(keyring(t, secret(1))))
			return a, startClient(t, n, "b", []*testNode{a}, ring(keyring(t, secret(1))))
		},
	} {
		for wait, pause := range map[string]time.Duration{"used": time.Millisecond, "idle": 30 * time.Second, "none": 5 * time.Minute} {
			t.Run(name+", "+wait, func(t *testing.T) {
				bubble(t, func(t *testing.T, n *memnet.Network) {
					from, to := ways(t, n)
					inbox, _ := spawn[int](to, "inbox")
					ref := ref[int](from, to, "/user/inbox")
					for i := range 20 {
						ref.Tell(i)
						time.Sleep(pause)
						if i%5 == 3 {
							n.Sever("a", "b")
							time.Sleep(10 * time.Second) // until a client has noticed it
						}
					}
					time.Sleep(10 * time.Second)
					require.Equal(t, count(20), inbox.got())
					require.Empty(t, from.lost.got())
				})
			})
		}
	}
}

// A connection that is lost while much is sent takes nothing any more: a write waits.
func TestNoMessageIsLostWhenTheNetworkForgetsABusyConnection(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[string](b, "inbox")
		to := ref[string](a, b, "/user/inbox")
		for i := range 200 {
			to.Tell(strings.Repeat("x", 20_000))
			time.Sleep(10 * time.Millisecond)
			if i == 50 {
				n.Sever("a", "b")
			}
		}
		time.Sleep(5 * time.Second)
		require.Len(t, inbox.got(), 200)
		require.Empty(t, a.lost.got())
	})
}

// The connection that is tried instead has as much time as the one before it.
func TestNoMessageIsLostWithAForgottenConnectionWhereEverythingTakesLong(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.Delay(250*time.Millisecond, 0)
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		for i := range 10 {
			to.Tell(i)
			time.Sleep(10 * time.Second)
			n.Sever("a", "b")
		}
		require.Equal(t, count(10), inbox.got())
		require.Empty(t, a.lost.got())
	})
}

// Each connection has an end in time, whatever it is for and whichever side has opened it.
func TestNoConnectionOutlivesItsSilence(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		client := startClient(t, n, "client", []*testNode{a, b})
		nodes := []*testNode{a, b, client}
		for _, x := range nodes {
			spawnAdder(x.sys)
		}
		for _, from := range nodes {
			for _, to := range nodes {
				if from != to {
					require.Equal(t, 2, ask(t, ref[question](from, to, "/user/adder"), 1))
				}
			}
		}
		a.SendControl(b.Addr(), []byte("beat"))
		unauthenticatedConn, err := n.Host("unknown").Dial(t.Context(), a.Addr()) // says nothing
		require.NoError(t, err)
		stream, err := a.DialStream(t.Context(), b.Addr())
		require.NoError(t, err)
		require.NoError(t, stream.SetDeadline(time.Now().Add(time.Second)))
		time.Sleep(time.Second)
		require.NoError(t, stream.Close()) // the side that takes a stream ends it
		for _, ends := range [][2]string{{"a", "b"}, {"a", "client"}, {"b", "client"}, {"a", "unknown"}} {
			n.Sever(ends[0], ends[1])
		}
		require.NoError(t, unauthenticatedConn.Close())
		require.Positive(t, n.Severed())
		time.Sleep(15 * time.Second) // for those that wait
		require.Positive(t, n.Severed(), "some are still idle")
		time.Sleep(2 * time.Minute)
		require.Zero(t, n.Severed())
		for _, from := range nodes {
			for _, to := range nodes {
				if from != to {
					require.Equal(t, 2, ask(t, ref[question](from, to, "/user/adder"), 1))
				}
			}
		}
	})
}

// The peer may be gone before it has sent anything.
func TestAPeerThatHasShakenHandsAndIsSilentIsHungUp(t *testing.T) {
	for _, channel := range []byte{'A', 'C'} {
		bubble(t, func(t *testing.T, n *memnet.Network) {
			b := start(t, n, "b")
			conn := dialRaw(t, n, b)
			conn.greet(channel, goodHello())
			require.InDelta(t, 2*time.Minute, conn.closed(), float64(time.Second))
		})
	}
}

// The acknowledgements on a connection get lost with it, those in the next handshake do not.
func TestWhatAHandshakeAcknowledgesIsASignOfLife(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		received := 0
		end := serveRaw(t, n, func(r *raw) {
			r.skip()
			r.readFields()
			r.frame(accepted(5, received))
			require.NoError(t, r.SetReadDeadline(time.Now().Add(400*time.Millisecond)))
			for header := make([]byte, 4); ; received++ {
				if _, err := io.ReadFull(r, header); err != nil {
					return
				}
				_, err := io.ReadFull(r, make([]byte, binary.BigEndian.Uint32(header)))
				require.NoError(t, err)
			}
		})
		to := actor.Resolve[int](a.sys, "understudy://test@raw:7355/user/x")
		for i := range 6000 { // a minute
			to.Tell(i)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		end()
		require.Equal(t, 6000, received)
		require.Empty(t, a.lost.got())
	})
}
