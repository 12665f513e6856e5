package transport_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
)

func TestRefsCarryTheAdvertisedAddress(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		proxy := startProxy(t, n, "nat", "a:7355")
		a := start(t, n, "a", func(cfg *transport.Config) { cfg.Advertise = proxy.addr })
		b := start(t, n, "b")
		require.Equal(t, "nat:9000", a.Addr())
		spawnAdder(b.sys)
		require.Equal(t, 42, ask(t, ref[question](a, b, "/user/adder"), 41))
		require.Equal(t, 1, proxy.connections(), "the reply came by the advertised address")
	})
}

func TestListenSaysWhatIsWrong(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		h := n.Host("a")
		_, err := h.ListenPacket("a:1")
		require.NoError(t, err)
		for _, cfg := range []transport.Config{
			{Bind: "nonsense"},
			{Bind: "a:99999"},
			{Bind: "a:http"},
			{Bind: "a:2", Advertise: "a:65536"},
			{Bind: "a:1"},
			{Bind: "other:1"},
			{Bind: "a:2", OutboxSize: -1},
			{Bind: "a:2", Linger: -time.Second},
			{Bind: "a:2", Advertise: "nonsense"},
			{Bind: "a:2", Advertise: ":2"},
			{Bind: "a:2", Advertise: "0.0.0.0:2"},
			{Bind: "a:2", Advertise: strings.Repeat("x", 300) + ":2"},
		} {
			cfg.Network = h
			_, err := transport.Listen(cfg)
			require.ErrorContains(t, err, "remote: Config.", "of %+v", cfg.Bind)
		}
		e, err := transport.Listen(transport.Config{Bind: "a:2", Network: h})
		require.NoError(t, err, "nothing was left open")
		require.NoError(t, e.Close())
	})
}

func TestPortZeroIsTheSameForStreamsAndPackets(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		_, err := n.Host("a").ListenPacket("a:0") // takes the port that is first for streams as well
		require.NoError(t, err)
		e, err := transport.Listen(transport.Config{Bind: "a:0", Advertise: "public:0", Network: n.Host("a")})
		require.NoError(t, err)
		defer e.Close()
		host, port, err := net.SplitHostPort(e.Addr())
		require.NoError(t, err)
		require.Equal(t, "public", host)
		_, err = n.Host("a").Listen("a:" + port)
		require.Error(t, err)
		_, err = n.Host("a").ListenPacket("a:" + port)
		require.Error(t, err)
		require.NotZero(t, e.Self().Incarnation, "drawn at random")
	})
}

func TestCloseEndsConnectionsThatHaveNotShakenHands(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		silent := dialRaw(t, n, a)
		waiting, err := start(t, n, "b").DialStream(t.Context(), a.Addr())
		require.NoError(t, err)
		begin := time.Now()
		a.stop()
		require.Zero(t, time.Since(begin))
		require.Less(t, silent.closed(), time.Millisecond)
		require.NoError(t, waiting.Close())
		actor.Resolve[int](a.sys, "understudy://test@b:7355/user/x").Tell(1) // a dead letter, and no panic
		a.SendControl("b:7355", nil)
		a.SendPacket("b:7355", nil)
		require.Error(t, a.WritePacket(nil, "b:7355"))
	})
}
