package transport_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

// crowd connects to b from hosts, many times from each.
func crowd(t *testing.T, n *memnet.Network, b *testNode, hosts, each int) (all []net.Conn) {
	t.Helper()
	for i := range hosts {
		host := n.Host(fmt.Sprintf("unknown%d", i))
		for range each {
			conn, err := host.Dial(t.Context(), b.Addr())
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			all = append(all, conn)
		}
	}
	soon()
	return all
}

// stillOpen counts the connections that the other side has not closed.
func stillOpen(t *testing.T, all []net.Conn) (open int) {
	t.Helper()
	for _, conn := range all {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Microsecond)))
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			open++
		}
	}
	return open
}

func TestUnauthenticatedConnectionsAreBoundedAndKeepNoNodeOut(t *testing.T) {
	for name, c := range map[string]struct{ hosts, each, open int }{
		"of one host":   {1, 2000, 16},
		"of many hosts": {500, 4, 128},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*transport.Config)) {
				b := start(t, n, "b", protect("b"))
				inbox, _ := spawn[int](b, "inbox")
				all := crowd(t, n, b, c.hosts, c.each)
				require.Equal(t, c.open, stillOpen(t, all))
				a := start(t, n, "a", protect("a"))
				ref[int](a, b, "/user/inbox").Tell(1)
				soon()
				require.Equal(t, []int{1}, inbox.got(), "a member gets in all the same")
				time.Sleep(2 * time.Second)
				require.Zero(t, stillOpen(t, all))
				require.Empty(t, warnings(b))
			})
		})
	}
}

func TestUnauthenticatedPeersThatTalkCostLittleMemoryAndFewWarnings(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*transport.Config)) {
		b := start(t, n, "b", protect("b"))
		before := heap()
		all := crowd(t, n, b, 500, 4)
		hello := clientHello(t)
		for _, conn := range all { // a handshake that is never ended, in records as large as can be
			_, _ = conn.Write(hello)
			_, _ = conn.Write([]byte{0x16, 3, 3, 0x40, 0})
			_, _ = conn.Write(make([]byte, 12<<10))
		}
		soon()
		require.LessOrEqual(t, heap()-before, int64(16<<20))
		for _, conn := range crowd(t, n, b, 200, 10) {
			_, _ = conn.Write([]byte("GET / HTTP/1.1\r\nHost: b\r\n\r\n"))
		}
		soon()
		require.LessOrEqual(t, len(warnings(b)), 10)
		time.Sleep(2 * time.Second)
		require.Zero(t, stillOpen(t, all))
	})
}

// heap returns how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // it fits
}

// clientHello returns how a client of TLS begins.
func clientHello(t *testing.T) []byte {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = far.Close() })
	go func() { _ = tls.Client(near, &tls.Config{ServerName: "b", MinVersion: tls.VersionTLS13}).Handshake() }()
	buf := make([]byte, 4096)
	count, err := far.Read(buf)
	require.NoError(t, err)
	require.NoError(t, far.Close())
	return buf[:count]
}

func TestAnUnauthenticatedPeerThatSendsTooMuchIsCutOff(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b", ring(keyring(t, secret(1))))
		conn := dialRaw(t, n, b)
		record := append([]byte{0x16, 3, 1, 0x3f, 0xff, 1, 0, 0xff, 0xff}, make([]byte, 0x3fff-4)...) // part of a hello of 64 KiB
		for range 3 {
			_, err := conn.Write(record)
			require.NoError(t, err)
		}
		require.Less(t, conn.closed(), time.Millisecond)
		require.Contains(t, b.logs.FilterMessage("connection closed").All()[0].ContextMap()["error"], "bytes before authentication")
	})
}

func TestAnUnauthenticatedPeerIsToldNothing(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*transport.Config)) {
		b := start(t, n, "b", named, protect("b"))
		for name, say := range map[string]string{
			"silence":      "",
			"HTTP":         "GET / HTTP/1.1\r\n\r\n",
			"stream":       preface + "M",
			"hello":        preface + "C\x00\x00\x00\x01\xa0",
			"no preface":   "C\x00\x00\x00\x01\xa0",
			"half of one":  preface[:7] + "C\x00\x00\x00\x01\xa0",
			"unknown lane": preface + "X",
		} {
			conn := dialRaw(t, n, b)
			_, err := conn.Write([]byte(say))
			require.NoError(t, err)
			var heard []byte
			for buf := make([]byte, 4096); ; {
				count, err := conn.Read(buf)
				heard = append(heard, buf[:count]...)
				if err != nil {
					break
				}
			}
			require.NotContains(t, string(heard), "blue-cluster", name)
			if name == "hello" {
				require.Contains(t, string(heard), "TLS is required", "who speaks our protocol is told what it lacks")
			} else {
				require.Less(t, len(heard), 8, name)
			}
		}
	})
}

func TestMessagesOfARemovedPeerAreRefusedAndItsControlChannelIsNot(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		removed := errors.New("you have been removed")
		a := start(t, n, "a")
		old := a.Self()
		b := start(t, n, "b", func(cfg *transport.Config) {
			cfg.AdmitMessages = func(p remote.NodeID) error {
				if p == old {
					return removed
				}
				return nil
			}
		})
		inbox, _ := spawn[int](b, "inbox")
		ref[int](a, b, "/user/inbox").Tell(1)
		a.SendControl(b.Addr(), []byte("am I?"))
		soon()
		require.Equal(t, []control{{a.Self(), "am I?"}}, b.control.got())
		time.Sleep(5 * time.Second)
		require.Empty(t, inbox.got())
		var refused *remote.RefusedError
		require.ErrorAs(t, a.lost.got()[0].Reason, &refused)
		require.Equal(t, remote.RefusedMember, refused.Refusal)
		require.Equal(t, "you have been removed", refused.Detail)

		a.Rename(4711)
		ref[int](a, b, "/user/inbox").Tell(2)
		soon()
		require.Equal(t, []int{2}, inbox.got(), "its next incarnation is another one")
	})
}

func TestUnauthenticatedPeersOfTheSameHostKeepAMemberOutForAMomentOnly(t *testing.T) {
	bothWays(t, func(t *testing.T, n *memnet.Network, protect func(string) func(*transport.Config)) {
		b := start(t, n, "b", protect("b"))
		inbox, _ := spawn[int](b, "inbox")
		a := start(t, n, "unknown0", protect("unknown0"))
		all := crowd(t, n, b, 1, 16)
		require.Equal(t, 16, stillOpen(t, all))
		time.Sleep(300 * time.Millisecond)
		ref[int](a, b, "/user/inbox").Tell(1)
		soon()
		require.Equal(t, []int{1}, inbox.got())
		require.Equal(t, 15, stillOpen(t, all))
	})
}
