package transport

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/internal/transport/outbox"
)

// A stingyConn takes few bytes at once from writes that do not block, and all from those that do.
type stingyConn struct {
	net.Conn
	sent    bytes.Buffer
	trying  chan struct{} // somebody tries to write, and waits for proceed
	proceed chan struct{}
}

func (c *stingyConn) tryWrite(b []byte) (int, error) {
	c.trying <- struct{}{}
	<-c.proceed
	return c.sent.Write(b[:1])
}

func (c *stingyConn) Write(b []byte) (int, error) { return c.sent.Write(b) }

func (c *stingyConn) SetWriteDeadline(time.Time) error { return nil }

func TestTheWriterWaitsForAnInlineWriteAndThenWritesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stingy := &stingyConn{trying: make(chan struct{}), proceed: make(chan struct{})}
		conn := nonBlocking(stingy)
		l := linkWithoutGoroutine()
		l.conn, l.writer.nonBlocking, l.writer.asleep = conn, asNonBlocking(conn), true
		var sending sync.WaitGroup
		sending.Go(func() {
			if err := l.send(outbox.Frame{Bytes: []byte("hello")}); err != nil {
				t.Error(err)
			}
		})
		<-stingy.trying
		written, _, err := l.writeNext(conn) // as its timer has fired
		require.NoError(t, err)
		require.False(t, written)
		stingy.proceed <- struct{}{}
		sending.Wait()
		require.Len(t, l.writer.wake, 1)

		written, _, err = l.writeNext(conn) // as its timer has fired again: it does not hear the wake
		require.NoError(t, err)
		require.True(t, written)
		require.Equal(t, "hello", stingy.sent.String())
		written, _, err = l.writeNext(conn)
		require.NoError(t, err)
		require.False(t, written)
	})
}

// A stingyNetwork has connections that take some bytes at once from writes that do not block.
type stingyNetwork struct{ *memnet.Host }

func (n stingyNetwork) Dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := n.Host.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return sparingConn{conn}, nil
}

type sparingConn struct{ net.Conn }

func (c sparingConn) tryWrite(b []byte) (int, error) { return c.Write(b[:rand.IntN(len(b)+1)]) }

func TestNothingIsLeftOfWhatAConnectionTakesInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := memnet.New(1)
		defer n.Close()
		var nodes []*Endpoint
		var systems []*actor.System
		for _, name := range []string{"a", "b"} {
			e, err := Listen(Config{Bind: name + ":7355", Network: stingyNetwork{n.Host(name)}})
			require.NoError(t, err)
			s := actor.NewSystem("test", extension.WithTransport(e.Addr(), e))
			e.Serve(s)
			nodes, systems = append(nodes, e), append(systems, s)
		}
		var mu sync.Mutex // guards late and count
		var late time.Duration
		count := 0
		actor.Spawn(systems[1], func(_ *actor.Context[time.Time], next *actor.Next[time.Time]) {
			next.OnMessage = func(_ *actor.Context[time.Time], sent time.Time) actor.Behavior[time.Time] {
				mu.Lock()
				defer mu.Unlock()
				count++
				late = max(late, time.Since(sent))
				return nil
			}
		}, "inbox")
		inbox := actor.Resolve[time.Time](systems[0], "understudy://test@"+nodes[1].Addr()+"/user/inbox")
		var sending sync.WaitGroup
		for range 4 {
			sending.Go(func() {
				for range 500 {
					time.Sleep(rand.N(100 * time.Microsecond))
					inbox.Tell(time.Now())
				}
			})
		}
		sending.Wait()
		time.Sleep(time.Second)
		mu.Lock()
		require.Equal(t, 2000, count)
		require.Less(t, late, time.Second)
		mu.Unlock()
		for i, e := range nodes {
			require.NoError(t, e.Close())
			require.NoError(t, systems[i].Shutdown(context.Background()))
		}
	})
}
