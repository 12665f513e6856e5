package transport

import (
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
	"github.com/understudy-go/understudy/internal/transport/outbox"
)

// sockets returns both ends of a connection of the operating system.
func sockets(t *testing.T) (dialed, accepted net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	dialed, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	accepted, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { discard(dialed); discard(accepted) })
	return dialed, accepted
}

func TestNonBlockingWritesDoNotWaitForAPeerThatReadsNothing(t *testing.T) {
	from, to := sockets(t)
	conn := asNonBlocking(nonBlocking(asSocket(from)))
	if conn == nil {
		needs.Missing(t, "nothing can be written without waiting on this operating system")
	}
	var want []byte
	for i := 0; !conn.hasPending(); i++ {
		text := []byte(strconv.Itoa(i) + ",")
		for range 4 << 10 / len(text) {
			want = append(want, text...)
		}
		conn.withoutBlocking(func() {
			_, err := conn.Write(want[len(want)-4<<10/len(text)*len(text):])
			require.NoError(t, err)
		})
	}
	left := conn.withoutBlocking(func() {
		_, err := conn.Write([]byte("behind"))
		require.NoError(t, err)
	})
	require.True(t, left)
	want = append(want, "behind, and last"...)

	var writing sync.WaitGroup
	writing.Go(func() {
		if err := conn.flush(); err != nil {
			t.Error(err)
		}
		if _, err := conn.Write([]byte(", and last")); err != nil {
			t.Error(err)
		}
		discard(conn)
	})
	got, err := io.ReadAll(to)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	writing.Wait()
}

func TestAFailedNonBlockingWriteIsReportedByFlush(t *testing.T) {
	from, to := sockets(t)
	conn := asNonBlocking(nonBlocking(asSocket(from)))
	if conn == nil {
		needs.Missing(t, "nothing can be written without waiting on this operating system")
	}
	discard(to)
	discard(from)
	require.True(t, conn.withoutBlocking(func() {
		_, err := conn.Write([]byte("x"))
		require.NoError(t, err)
	}))
	require.ErrorIs(t, conn.flush(), net.ErrClosed)
	_, err := conn.Write([]byte("y"))
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestOnlySocketsCanBeWrittenWithoutBlocking(t *testing.T) {
	a, b := net.Pipe()
	defer discard(a)
	defer discard(b)
	require.Nil(t, asNonBlocking(nonBlocking(a)))
}

func TestASenderToAnIdleLinkWritesInline(t *testing.T) {
	from, _ := sockets(t)
	conn := nonBlocking(asSocket(from))
	if asNonBlocking(conn) == nil {
		needs.Missing(t, "nothing can be written without waiting on this operating system")
	}
	l := linkWithoutGoroutine()
	require.NoError(t, l.send(numbered(0)))
	require.Equal(t, 1, l.out.Unsent(), "there is no connection")

	l.conn, l.writer.nonBlocking, l.writer.asleep = conn, asNonBlocking(conn), true
	require.NoError(t, l.send(numbered(1)))
	require.Equal(t, 2, l.out.Unsent(), "what waits already is for the goroutine")
	require.Len(t, l.writer.wake, 1)
	<-l.writer.wake

	l.out.Take(make([]byte, 0, 10))
	l.writer.asleep = true
	require.NoError(t, l.send(numbered(2)))
	require.Zero(t, l.out.Unsent())
	require.True(t, l.writer.asleep, "nobody is woken")

	l.writer.slept = time.Now().Add(time.Hour)
	require.NoError(t, l.send(numbered(3)))
	require.Equal(t, 1, l.out.Unsent(), "just before, somebody has sent: the goroutine writes for more of them")
	require.Len(t, l.writer.wake, 1)
}

func linkWithoutGoroutine() *link {
	return &link{
		links:  &links{localNode: &localNode{cfg: Config{}.withDefaults()}},
		out:    outbox.Outbox{MaxFrames: 10, MaxBytes: 1000},
		writer: writerState{wake: make(chan struct{}, 1)},
	}
}

func numbered(i int) outbox.Frame { return outbox.Frame{Bytes: []byte(strconv.Itoa(i))} }
