package transport

import (
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A fresh unauthenticated connection keeps its place; after unauthenticatedGrace it makes room for
// another one of its host, and only the oldest does.
func TestUnauthenticatedConnectionsOfAHostStayForTheirGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := unauthenticated{max: 10, maxPerHost: 2}
		first, firstEnd := net.Pipe()
		second, secondEnd := net.Pipe()
		defer func() { require.NoError(t, second.Close()) }()
		require.NotNil(t, s.enter(first))
		require.NotNil(t, s.enter(second))
		time.Sleep(unauthenticatedGrace - time.Nanosecond)
		third, thirdEnd := net.Pipe()
		require.Nil(t, s.enter(third), "those that are there have only just come")
		time.Sleep(time.Nanosecond)
		require.NotNil(t, s.enter(third))
		requireClosed(t, firstEnd)
		requireOpen(t, secondEnd)
		requireOpen(t, thirdEnd)
		require.NoError(t, third.Close())
	})
}

// When all together are too many the oldest has to go, at once.
func TestTheOldestUnauthenticatedConnectionMakesRoomForAnotherHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := unauthenticated{max: 2, maxPerHost: 5}
		ends := make([]net.Conn, 3)
		for i := range ends {
			var conn net.Conn
			conn, ends[i] = net.Pipe()
			require.NotNil(t, s.enter(conn))
		}
		requireClosed(t, ends[0])
		requireOpen(t, ends[1])
		requireOpen(t, ends[2])
	})
}

func requireClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	_, err := conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

func requireOpen(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Second)))
	_, err := conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}
