package memnet_test

import (
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
)

func TestStreamStallsInAPartitionAndGoesOnAfterwards(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		write(t, near, "before ")
		n.Partition([]string{"n1"}, []string{"n2"})
		write(t, near, "during ")
		silent(t, far, readByte(far))
		n.Heal()
		write(t, near, "after")
		arrives(t, far, "before during after")
	})
}

func TestPartitionLeavesTheSidesConnected(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.Partition([]string{"n1", "n2"}, []string{"n3"})
		for _, pair := range [][2]string{{"n1", "n2"}, {"n4", "n5"}} {
			near, far := connect(t, n, pair[0], pair[1])
			write(t, near, "hello")
			arrives(t, far, "hello")
		}
	})
}

func TestOneWayCutsOneDirection(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		n.OneWay("n1", "n2")
		write(t, near, "lost?")
		write(t, far, "open")
		arrives(t, near, "open")
		silent(t, far, readByte(far))
		n.Heal()
		arrives(t, far, "lost?")
	})
}

func TestCrashResetsPeersAndKeepsWhatIsUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		write(t, near, "last words")
		n.Crash("n1")
		arrives(t, far, "last words")
		require.ErrorIs(t, readByte(far)(), syscall.ECONNRESET)
		require.ErrorIs(t, readByte(near)(), syscall.ENETDOWN)
		_, err := near.Write([]byte("x"))
		require.ErrorIs(t, err, syscall.ENETDOWN)
	})
}

func TestCrashBehindACutIsNotSeenUntilSomebodyWrites(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		n.Partition([]string{"n1"})
		write(t, near, "nobody retransmits this")
		time.Sleep(time.Second)
		n.Crash("n1")
		time.Sleep(time.Second)
		n.Heal()
		silent(t, far, readByte(far))
		write(t, far, "anybody?")
		require.ErrorIs(t, readByte(far)(), syscall.ECONNRESET)
	})
}

func TestCrashedHostIsOfNoUseAndItsNameIsFree(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		old := n.Host("n1")
		l, err := old.Listen("n1:7355")
		require.NoError(t, err)
		p, err := old.ListenPacket("n1:7355")
		require.NoError(t, err)
		n.Crash("n1")
		n.Crash("n1")

		_, err = l.Accept()
		require.ErrorIs(t, err, net.ErrClosed)
		_, _, err = p.ReadFrom(nil)
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = p.WriteTo(nil, p.LocalAddr())
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = old.Listen(":0")
		require.ErrorIs(t, err, syscall.ENETDOWN)
		_, err = old.Dial(t.Context(), "n2:1")
		require.ErrorIs(t, err, syscall.ENETDOWN)

		_, err = n.Host("n2").Dial(t.Context(), "n1:7355")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.NotSame(t, old, n.Host("n1"))
		_, err = n.Host("n1").Listen("n1:7355")
		require.NoError(t, err)
	})
}

func TestCrashEndsADialUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.Partition([]string{"n1"})
		time.AfterFunc(time.Second, func() { n.Crash("n1") })
		_, err := n.Host("n1").Dial(t.Context(), "n2:7355")
		require.ErrorIs(t, err, syscall.ENETDOWN)
	})
}

func TestPauseKeepsEverythingBackUntilResume(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		from, to := packetConn(t, n, "n1"), packetConn(t, n, "n2")
		n.Pause("n2")
		write(t, near, "in")
		write(t, far, "out")
		_, err := from.WriteTo([]byte("datagram"), to.LocalAddr())
		require.NoError(t, err)
		silent(t, far, readByte(far))
		silent(t, near, readByte(near))
		silent(t, to, readPacket(to, ""))

		n.Resume("n2")
		arrives(t, far, "in")
		arrives(t, near, "out")
		require.NoError(t, readPacket(to, "datagram")())
	})
}

func TestDelayIsWhatThingsTake(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		write(t, near, "quick")
		require.InDelta(t, 350*time.Microsecond, arrives(t, far, "quick"), float64(150*time.Microsecond))
		n.Delay(time.Minute, 0)
		write(t, near, "slow")
		require.Equal(t, time.Minute, arrives(t, far, "slow"))
	})
}

func TestCloseOfTheNetworkEndsEverything(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		write(t, near, "never read")
		results := make(chan error)
		go func() { results <- readByte(near)() }()
		go func() {
			_, err := n.Host("n1").Dial(t.Context(), "n3:1")
			results <- err
		}()
		n.Partition([]string{"n3"})
		time.Sleep(time.Second)
		n.Close()
		require.ErrorIs(t, <-results, syscall.ENETDOWN)
		require.ErrorIs(t, <-results, syscall.ENETDOWN)
		_, err := n.Host("n4").Listen(":0")
		require.ErrorIs(t, err, syscall.ENETDOWN)
		_, err = io.ReadFull(far, make([]byte, len("never read")))
		require.NoError(t, err, "what has arrived can be read")
	})
}

func TestAHostWithoutPowerIsSilentUntilItReturns(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		old, _ := connect(t, n, "n2", "n1")
		n.PowerOff("n1")
		write(t, old, "x")
		require.NoError(t, old.SetReadDeadline(time.Now().Add(time.Hour)))
		_, err := old.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "nobody resets it")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = n.Host("n2").Dial(ctx, "n1:1")
		require.ErrorIs(t, err, context.DeadlineExceeded, "nobody refuses it")

		n.Host("n1")
		_, err = n.Host("n2").Dial(t.Context(), "n1:1")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.NoError(t, old.SetReadDeadline(time.Time{}))
		write(t, old, "x")
		_, err = old.Read(make([]byte, 1))
		require.ErrorIs(t, err, syscall.ECONNRESET)
	})
}
