package transport_test

import (
	"context"
	"io"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/memnet"
)

func TestControlFramesArriveInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		var want []control
		for i := range 100 {
			data := []byte(strconv.Itoa(i))
			want = append(want, control{a.Self(), string(data)})
			a.SendControl(b.Addr(), data)
			data[0] = 'x'
		}
		soon()
		require.Equal(t, want, b.control.got())
	})
}

func TestControlChannelDropsTheOldest(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", func(cfg *transport.Config) {
			cfg.ControlSize = 10
			cfg.MaxMessage = 10
		})
		n.Partition([]string{"b"})
		b := start(t, n, "b")
		for i := range 100 {
			a.SendControl(b.Addr(), []byte(strconv.Itoa(i)))
		}
		a.SendControl(b.Addr(), make([]byte, 11))
		time.Sleep(time.Second)
		n.Heal()
		time.Sleep(2 * time.Second)
		got := b.control.got()
		require.Len(t, got, 10)
		require.Equal(t, "90", got[0].data)
		require.Equal(t, "99", got[9].data)
		require.Empty(t, a.lost.got(), "control frames are no letters")
	})
}

func TestControlChannelGivesUpAndBeginsAgain(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		failures := &collector[error]{}
		a := start(t, n, "a", func(cfg *transport.Config) {
			cfg.DialFailed = func(_ string, err error) { failures.add(err) }
		})
		a.SendControl("b:7355", []byte("early"))
		time.Sleep(10 * time.Second)
		require.ErrorIs(t, failures.got()[0], syscall.ECONNREFUSED)
		require.Less(t, len(failures.got()), 20, "attempts back off")

		b := start(t, n, "b")
		a.SendControl("b:7355", []byte("again"))
		soon()
		require.Equal(t, []control{{a.Self(), "again"}}, b.control.got())
		require.Zero(t, a.logs.FilterLevelExact(zap.WarnLevel).Len())
	})
}

func TestControlDoesNotWaitForUserTraffic(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		b := listen(t, transport.Config{Bind: "b:7355", Network: n.Host("b")}) // does not read its user channel
		to := ref[string](a, b, "/user/inbox")
		for range 10 {
			to.Tell(string(make([]byte, 1<<20)))
		}
		soon()
		a.SendControl(b.Addr(), []byte("beat"))
		time.Sleep(5 * time.Millisecond)
		require.Len(t, b.control.got(), 1)
	})
}

func TestPacketArrivesWithItsSender(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		a.SendPacket(b.Addr(), []byte("beat"))
		soon()
		require.Equal(t, []control{{a.Self(), "beat"}}, b.control.got())
		a.Rename(4711)
		a.SendPacket(b.Addr(), []byte("beat"))
		soon()
		require.Equal(t, uint64(4711), b.control.got()[1].from.Incarnation)
	})
}

func TestPacketsOfOtherClustersAreDropped(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", func(cfg *transport.Config) { cfg.Cluster = "green" })
		b := start(t, n, "b", func(cfg *transport.Config) { cfg.Cluster = "blue" })
		a.SendPacket(b.Addr(), []byte("beat"))
		p, err := n.Host("raw").ListenPacket(":0")
		require.NoError(t, err)
		for _, garbage := range []string{"", "U", "garbage"} {
			_, err = p.WriteTo([]byte(garbage), packetAddr(b.Addr()))
			require.NoError(t, err)
		}
		soon()
		require.Empty(t, b.control.got())
	})
}

type packetAddr string

func (a packetAddr) Network() string { return "udp" }
func (a packetAddr) String() string  { return string(a) }

func TestPacketThatCannotBeSentIsDropped(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		a.SendPacket("b:7355", make([]byte, 1<<20))
		a.SendPacket("nonsense", []byte("beat"))
		require.Equal(t, 2, a.logs.FilterMessage("packet not sent").Len())
	})
}

func TestGossipPacketsAndStreamsComeOutAsTheyWentIn(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		require.NoError(t, a.WritePacket([]byte("ping"), b.Addr()))
		p := <-b.Packets()
		require.Equal(t, "ping", string(p.Data))
		require.Equal(t, a.Addr(), p.From.String())
		require.Equal(t, time.Now(), p.Time)

		near, err := a.DialStream(t.Context(), b.Addr())
		require.NoError(t, err)
		far := <-b.StreamConns()
		time.Sleep(time.Hour) // no deadline of the handshake is left
		_, err = near.Write([]byte("push"))
		require.NoError(t, err)
		require.NoError(t, near.Close())
		all, err := io.ReadAll(far)
		require.NoError(t, err)
		require.Equal(t, "push", string(all))
		require.NoError(t, far.Close())
	})
}

func TestGossipThatNobodyTakesIsDropped(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		for range 1000 {
			require.NoError(t, a.WritePacket([]byte("ping"), b.Addr()))
		}
		near, err := a.DialStream(t.Context(), b.Addr())
		require.NoError(t, err)
		begin := time.Now()
		_, err = near.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.InDelta(t, 2*time.Second, time.Since(begin), float64(time.Millisecond))
		require.Less(t, len(b.Packets()), 1000)
		require.NoError(t, near.Close())
	})
}

// refusedStream opens a stream from one node to another, which has to close it.
func refusedStream(t *testing.T, from, to *testNode) {
	t.Helper()
	conn, err := from.DialStream(t.Context(), to.Addr())
	require.NoError(t, err)
	begin := time.Now()
	_, err = conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.Less(t, time.Since(begin), time.Second, "at once")
	require.NoError(t, conn.Close())
}

func TestStreamsAreForNodesOfTheCluster(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		refusedStream(t, startClient(t, n, "client", nil), a)
		refusedStream(t, start(t, n, "b", func(cfg *transport.Config) { cfg.Cluster = "green" }), a)
		raw := dialRaw(t, n, a)
		raw.write(opened('M', 0, 0, 0, 1, 0)...)
		raw.closed()
	})
}

func TestStreamsNeedTheCertificateOfANode(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		ca := newAuthority(t)
		a := start(t, n, "a", ca.node("a"))
		refusedStream(t, startClient(t, n, "client", nil, ca.node("client")), a)
		refusedStream(t, start(t, n, "client2", ca.node("client2"), at("b:7355")), a)
	})
}

func TestDialStreamEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		n.Partition([]string{"b"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := a.DialStream(ctx, "b:7355")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
