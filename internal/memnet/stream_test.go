package memnet_test

import (
	"context"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
)

func TestStreamCarriesBytesBothWays(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		write(t, near, "hello")
		arrives(t, far, "hello")
		write(t, far, "and back")
		arrives(t, near, "and back")
		require.Equal(t, near.LocalAddr(), far.RemoteAddr())
		require.Equal(t, near.RemoteAddr(), far.LocalAddr())
	})
}

func TestStreamKeepsItsOrderUnderJitter(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.Delay(0, 10*time.Millisecond)
		near, far := connect(t, n, "n1", "n2")
		var all strings.Builder
		for i := range 1000 {
			all.WriteString(strconv.Itoa(i))
			write(t, near, strconv.Itoa(i))
		}
		arrives(t, far, all.String())
	})
}

func TestWhatIsWrittenBeforeCloseIsReadBeforeEOF(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		write(t, near, "last words")
		require.NoError(t, near.Close())
		require.ErrorIs(t, near.Close(), net.ErrClosed)
		all, err := io.ReadAll(far)
		require.NoError(t, err)
		require.Equal(t, "last words", string(all))
	})
}

func TestWriteToAClosedPeerIsReset(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		require.NoError(t, far.Close())
		write(t, near, "anybody?")
		time.Sleep(time.Second)
		_, err := near.Write([]byte("x"))
		require.ErrorIs(t, err, syscall.ECONNRESET)
	})
}

func TestCloseWakesReadersAndWriters(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, _ := connect(t, n, "n1", "n2")
		results := make(chan error, 2)
		go func() { results <- readByte(near)() }()
		go func() {
			_, err := near.Write(make([]byte, 1<<20))
			results <- err
		}()
		synctest.Wait()
		require.Empty(t, results, "nobody reads, so both wait")
		require.NoError(t, near.Close())
		require.ErrorIs(t, <-results, net.ErrClosed)
		require.ErrorIs(t, <-results, net.ErrClosed)
	})
}

func TestWriterWaitsForAReaderWhenTheWindowIsFull(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		const size = 1 << 20
		done := make(chan error, 1)
		go func() {
			_, err := near.Write(make([]byte, size))
			done <- err
		}()
		time.Sleep(time.Hour)
		require.Empty(t, done)
		_, err := io.ReadFull(far, make([]byte, size))
		require.NoError(t, err)
		require.NoError(t, <-done)
	})
}

func TestDeadlinesEndReadsAndWrites(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, _ := connect(t, n, "n1", "n2")
		begin := time.Now()
		require.NoError(t, near.SetDeadline(begin.Add(time.Minute)))
		require.ErrorIs(t, readByte(near)(), os.ErrDeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(begin))
		written, err := near.Write([]byte("too late"))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Zero(t, written)

		require.NoError(t, near.SetDeadline(time.Time{}))
		write(t, near, "a deadline can be taken back")

		require.NoError(t, near.SetWriteDeadline(time.Now().Add(time.Minute)))
		written, err = near.Write(make([]byte, 1<<20))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Positive(t, written)
	})
}

func TestDialIsRefusedWhereNobodyListens(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.Host("n2")
		for _, address := range []string{"n2:7355", "nowhere:7355"} {
			_, err := n.Host("n1").Dial(t.Context(), address)
			require.ErrorIs(t, err, syscall.ECONNREFUSED)
			var op *net.OpError
			require.ErrorAs(t, err, &op)
			require.Equal(t, "dial", op.Op)
			require.Equal(t, address, op.Addr.String())
		}
	})
}

func TestDialOverACutHangsUntilItsContextEnds(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		l, err := n.Host("n2").Listen("n2:7355")
		require.NoError(t, err)
		n.OneWay("n2", "n1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		_, err = n.Host("n1").Dial(ctx, "n2:7355")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(begin))

		n.Heal()
		far, err := l.Accept()
		require.NoError(t, err)
		require.ErrorIs(t, readByte(far)(), io.EOF, "the dialler has gone")
	})
}

func TestDialConnectsWhenTheCutHealsInTime(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		_, err := n.Host("n2").Listen("n2:7355")
		require.NoError(t, err)
		n.Partition([]string{"n1"})
		time.AfterFunc(time.Minute, n.Heal)
		_, err = n.Host("n1").Dial(t.Context(), "n2:7355")
		require.NoError(t, err)
	})
}

func TestPortZeroPicksFreePorts(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		h := n.Host("n1")
		seen := map[string]bool{}
		for range 10 {
			l, err := h.Listen("n1:0")
			require.NoError(t, err)
			require.False(t, seen[l.Addr().String()])
			seen[l.Addr().String()] = true
			_, err = h.ListenPacket(l.Addr().String())
			require.NoError(t, err, "streams and datagrams have ports of their own")
		}
	})
}

func TestListenRefusesWhatItCannotBind(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		h := n.Host("n1")
		_, err := h.Listen(":7355")
		require.NoError(t, err)
		_, err = h.Listen("n1:7355")
		require.ErrorIs(t, err, syscall.EADDRINUSE)
		_, err = h.Listen("n2:7355")
		require.ErrorIs(t, err, syscall.EADDRNOTAVAIL)
		for _, address := range []string{"n1", "n1:http", "n1:70000"} {
			_, err = h.Listen(address)
			require.Error(t, err, address)
			_, err = h.Dial(t.Context(), address)
			require.Error(t, err, address)
		}
	})
}

func TestClosedListenerFreesItsPortAndResetsItsBacklog(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		l, err := n.Host("n2").Listen("n2:7355")
		require.NoError(t, err)
		near, err := n.Host("n1").Dial(t.Context(), "n2:7355")
		require.NoError(t, err)
		require.NoError(t, l.Close())
		require.ErrorIs(t, readByte(near)(), syscall.ECONNRESET)
		_, err = l.Accept()
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = n.Host("n2").Listen("n2:7355")
		require.NoError(t, err)
	})
}
