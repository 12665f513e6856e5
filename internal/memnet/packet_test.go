package memnet_test

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
)

// readPacket returns a read that expects want.
func readPacket(p net.PacketConn, want string) func() error {
	return func() error {
		buf := make([]byte, 100)
		count, _, err := p.ReadFrom(buf)
		if err == nil && string(buf[:count]) != want {
			return fmt.Errorf("got %q, want %q", buf[:count], want)
		}
		return err
	}
}

func TestDatagramArrivesWithItsSender(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		from, to := packetConn(t, n, "n1"), packetConn(t, n, "n2")
		_, err := from.WriteTo([]byte("hello"), to.LocalAddr())
		require.NoError(t, err)
		buf := make([]byte, 3)
		count, sender, err := to.ReadFrom(buf)
		require.NoError(t, err)
		require.Equal(t, "hel", string(buf[:count]), "what does not fit is lost")
		require.Equal(t, from.LocalAddr(), sender)
	})
}

func TestDatagramToNobodyVanishes(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		from, to := packetConn(t, n, "n1"), packetConn(t, n, "n2")
		address := to.LocalAddr()
		require.NoError(t, to.Close())
		require.ErrorIs(t, to.Close(), net.ErrClosed)
		_, err := from.WriteTo([]byte("hello"), address)
		require.NoError(t, err)
	})
}

func TestDatagramsOverACutVanish(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		from, to := packetConn(t, n, "n1"), packetConn(t, n, "n2")
		n.OneWay("n1", "n2")
		_, err := from.WriteTo([]byte("lost"), to.LocalAddr())
		require.NoError(t, err)
		time.Sleep(time.Second)
		n.Heal()
		silent(t, to, readPacket(to, ""))
	})
}

func TestLoseLosesTheShareItIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		from, to := packetConn(t, n, "n1"), packetConn(t, n, "n2")
		n.Lose(0.25)
		for range 1000 {
			_, err := from.WriteTo([]byte("hello"), to.LocalAddr())
			require.NoError(t, err)
		}
		require.InDelta(t, 750, drain(to), 50)
	})
}

func TestDatagramsBeyondTheQueueAreDropped(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		from, to := packetConn(t, n, "n1"), packetConn(t, n, "n2")
		for range 5000 {
			_, err := from.WriteTo([]byte("hello"), to.LocalAddr())
			require.NoError(t, err)
		}
		time.Sleep(time.Second)
		require.Equal(t, 1024, drain(to))
	})
}

// drain counts the datagrams that can be read.
func drain(p net.PacketConn) int {
	count := 0
	for p.SetDeadline(time.Now().Add(time.Second)) == nil && readPacket(p, "hello")() == nil {
		count++
	}
	return count
}

func TestDatagramSocketSaysWhatItCannotDo(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		p := packetConn(t, n, "n1")
		_, err := p.WriteTo(make([]byte, 65508), p.LocalAddr())
		require.ErrorIs(t, err, syscall.EMSGSIZE)
		_, err = p.WriteTo(nil, &net.UnixAddr{Name: "nowhere"})
		require.Error(t, err)
		_, err = n.Host("n1").ListenPacket(p.LocalAddr().String())
		require.ErrorIs(t, err, syscall.EADDRINUSE)
		require.NoError(t, p.SetWriteDeadline(time.Now()))
		require.NoError(t, p.SetDeadline(time.Now()))
		require.ErrorIs(t, readPacket(p, "")(), os.ErrDeadlineExceeded)
		require.NoError(t, p.Close())
		require.ErrorIs(t, p.SetDeadline(time.Now()), net.ErrClosed)
	})
}

func TestEqualSeedsDrawEqualDelaysAndLosses(t *testing.T) {
	first := fates(t, 1, 0)
	again := fates(t, 1, 0)
	require.Equal(t, first, again)
	require.Equal(t, first, fates(t, 1, 3), "traffic of others changes nothing")
	require.NotEqual(t, first, fates(t, 2, 0))
}

// fates sends 50 datagrams from n1 to n2, others among them from n3, and tells which arrived
// when.
func fates(t *testing.T, seed uint64, others int) (arrived []time.Duration) {
	t.Helper()
	bubble(t, func(t *testing.T, _ *memnet.Network) {
		n := memnet.New(seed)
		defer n.Close()
		n.Lose(0.5)
		from, other, to := packetConn(t, n, "n1"), packetConn(t, n, "n3"), packetConn(t, n, "n2")
		for range 50 {
			for range others {
				_, err := other.WriteTo([]byte("noise"), other.LocalAddr())
				require.NoError(t, err)
			}
			_, err := from.WriteTo([]byte("hello"), to.LocalAddr())
			require.NoError(t, err)
			begin := time.Now()
			require.NoError(t, to.SetReadDeadline(begin.Add(time.Second)))
			_ = readPacket(to, "hello")() // lost ones are part of the result: they take a second
			arrived = append(arrived, time.Since(begin))
		}
	})
	return arrived
}
