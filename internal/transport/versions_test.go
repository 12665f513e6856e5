package transport_test

import (
	"testing"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

// of returns the setting by which an endpoint is of a release that speaks some versions.
func of(lowest, highest uint64) func(*transport.Config) {
	return func(c *transport.Config) { transport.Speak(c, lowest, highest) }
}

func TestEndpointsOfTwoReleasesSpeakTheHighestVersionThatBothKnow(t *testing.T) {
	for name, c := range map[string]struct {
		a, b func(*transport.Config)
		want uint64
	}{
		"an upgrade":     {of(1, 1), of(1, 2), 1},
		"a roll-back":    {of(2, 3), of(1, 2), 2},
		"the same":       {of(2, 3), of(2, 3), 3},
		"older dials":    {of(1, 2), of(2, 3), 2},
		"far, but wider": {of(1, 5), of(4, 7), 5},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				a, b := start(t, n, "a", c.a), start(t, n, "b", c.b)
				inbox, _ := spawn[int](b, "inbox")
				ref[int](a, b, "/user/inbox").Tell(1)
				a.SendControl(b.Addr(), []byte("control"))
				soon()
				a.SendPacket(b.Addr(), []byte("packet"))
				b.SendPacket(a.Addr(), []byte("packet"))
				soon()
				require.Equal(t, []int{1}, inbox.got())
				require.Equal(t, []control{{a.Self(), "control"}, {a.Self(), "packet"}}, b.control.got())
				require.Equal(t, []control{{b.Self(), "packet"}}, a.control.got())
				for x, y := range map[*testNode]*testNode{a: b, b: a} {
					peer, ok := x.Peer(y.Addr())
					require.True(t, ok)
					require.Equal(t, transport.Peer{ID: y.Self(), Version: c.want}, peer)
				}
			})
		})
	}
}

// The sender is of the older release here, and its lowest version is unknown to the newer one.
func TestADatagramBeforeTheFirstHandshakeIsOfAVersionThatOtherPeersSpeak(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b, c := start(t, n, "a", of(1, 2)), start(t, n, "b", of(2, 3)), start(t, n, "c", of(2, 3))
		a.SendControl(b.Addr(), []byte("control"))
		soon()
		a.SendPacket(c.Addr(), []byte("packet"))
		soon()
		_, known := a.Peer(c.Addr())
		require.False(t, known)
		require.Equal(t, []control{{a.Self(), "packet"}}, c.control.got())
	})
}

func TestEndpointsWithoutACommonVersionRefuseEachOtherWithBothRanges(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		failed := &collector[error]{}
		a := start(t, n, "a", of(1, 1), func(c *transport.Config) { c.DialFailed = func(_ string, err error) { failed.add(err) } })
		b := start(t, n, "b", of(3, 4))
		ref[int](a, b, "/user/inbox").Tell(1)
		soon()
		var refused *remote.RefusedError
		require.ErrorAs(t, failed.got()[0], &refused)
		require.Equal(t, remote.RefusedVersion, refused.Refusal)
		require.Equal(t, "b:7355 speaks versions 3 to 4 of the remote protocol, a:7355 speaks version 1, and they have none in common; "+
			"upgrade a:7355 to a release that speaks version 3, after all nodes have one that speaks version 2", refused.Detail)
	})
}

func TestTheUsersOfEndpointsAgreeToo(t *testing.T) {
	speaks := func(lowest, highest, features uint64) func(*transport.Config) {
		return func(c *transport.Config) {
			c.Protocol = transport.Protocol{Min: lowest, Max: highest, Features: features}
		}
	}
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", speaks(1, 2, 0b101)), start(t, n, "b", speaks(2, 3, 1<<63))
		a.SendControl(b.Addr(), []byte("control"))
		soon()
		peer, ok := a.Peer(b.Addr())
		require.True(t, ok)
		require.Equal(t, transport.Protocol{Min: 2, Max: 3, Features: 1 << 63}, peer.Protocol)
		peer, ok = b.Peer(a.Addr())
		require.True(t, ok)
		require.Equal(t, transport.Protocol{Min: 1, Max: 2, Features: 0b101}, peer.Protocol)
		_, ok = a.Peer("nowhere:1")
		require.False(t, ok)
	})
}
