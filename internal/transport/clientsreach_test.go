package transport_test

import (
	"testing"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

func TestAPanicOfClientsReachRefusesTheMessageAndIsLoggedOnce(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", func(c *transport.Config) {
			c.ClientsReach = func(path string) bool {
				if path == "/user/inbox" {
					panic("no such rule")
				}
				return true
			}
		})
		client := startClient(t, n, "client", []*testNode{a})
		inbox, _ := spawn[int](a, "inbox")
		other, _ := spawn[int](a, "other")
		ref[int](client, a, "/user/inbox").Tell(1)
		ref[int](client, a, "/user/inbox").Tell(2)
		ref[int](client, a, "/user/other").Tell(3)
		soon()
		require.Empty(t, inbox.got())
		require.Equal(t, []int{3}, other.got())
		lost := a.lost.got()
		require.Len(t, lost, 2)
		for _, letter := range lost {
			require.ErrorIs(t, letter.Reason, remote.ErrPrivate)
		}
		lines := a.logs.FilterLevelExact(zap.ErrorLevel).All()
		require.Len(t, lines, 1)
		require.Equal(t, "panic: no such rule", lines[0].ContextMap()["error"])
	})
}

// A user's function gets only paths that an actor may have, whatever a client writes.
func TestClientsReachIsNotAskedAboutInvalidPaths(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		asked := &collector[string]{}
		a := start(t, n, "a", func(c *transport.Config) {
			c.ClientsReach = func(path string) bool { asked.add(path); return true }
		})
		inbox, _ := spawn[int](a, "inbox")
		hello := goodHello()
		hello[helloAddr] = "0123456789abcdef.client.invalid:1"
		conn := dialRaw(t, n, a)
		require.Zero(t, conn.greet('A', hello)[answerRefusal])
		for _, path := range []string{"/user/", "/user//inbox", "/user/inbox/", "/user/a b", "/user/inbox"} {
			conn.tellAt(path, "int", 1)
		}
		soon()
		require.Equal(t, []string{"/user/inbox"}, asked.got())
		require.Equal(t, []int{1}, inbox.got())
		require.Len(t, a.lost.got(), 4)
	})
}
