package memnet_test

import (
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
)

// bubble runs f with a network in virtual time.
func bubble(t *testing.T, f func(t *testing.T, n *memnet.Network)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := memnet.New(1)
		defer n.Close()
		f(t, n)
	})
}

// connect returns both ends of a new stream between two hosts.
func connect(t *testing.T, n *memnet.Network, from, to string) (near, far net.Conn) {
	t.Helper()
	l, err := n.Host(to).Listen(":0")
	require.NoError(t, err)
	defer l.Close()
	near, err = n.Host(from).Dial(t.Context(), l.Addr().String())
	require.NoError(t, err)
	far, err = l.Accept()
	require.NoError(t, err)
	return near, far
}

// packetConn opens a datagram socket on a host.
func packetConn(t *testing.T, n *memnet.Network, host string) net.PacketConn {
	t.Helper()
	p, err := n.Host(host).ListenPacket(":0")
	require.NoError(t, err)
	return p
}

// arrives waits for text to arrive, and tells how long that took.
func arrives(t *testing.T, c net.Conn, text string) time.Duration {
	t.Helper()
	begin := time.Now()
	buf := make([]byte, len(text))
	_, err := io.ReadFull(c, buf)
	require.NoError(t, err)
	require.Equal(t, text, string(buf))
	return time.Since(begin)
}

// silent waits an hour for something to read, in vain.
func silent(t *testing.T, c interface {
	SetReadDeadline(t time.Time) error
}, read func() error,
) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Hour)))
	require.ErrorIs(t, read(), os.ErrDeadlineExceeded)
	require.NoError(t, c.SetReadDeadline(time.Time{}))
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	_, err := c.Write([]byte(text))
	require.NoError(t, err)
}

func readByte(c net.Conn) func() error {
	return func() error {
		_, err := c.Read(make([]byte, 1))
		return err
	}
}
