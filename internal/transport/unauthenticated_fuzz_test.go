package transport_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/memnet"
)

// encoded is a frame of that.
func encoded(t testing.TB, v any) []byte {
	t.Helper()
	body, err := codec.Marshal(v)
	require.NoError(t, err)
	return framed(body)
}

func framed(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// welcomed tells whether what an unauthenticated peer has received begins with an answer that
// refuses nothing.
func welcomed(heard []byte) bool {
	if len(heard) < 4 || uint32(len(heard)-4) < binary.BigEndian.Uint32(heard) {
		return false
	}
	var answer fields
	err := codec.Unmarshal(heard[4:4+binary.BigEndian.Uint32(heard)], &answer)
	return err == nil && (answer[answerRefusal] == nil || answer[answerRefusal] == uint64(0))
}

// listenTo reads until the other side closes the connection, and tells what it has heard, and
// whether it was closed in time.
func listenTo(conn net.Conn) (heard []byte, closed bool) {
	if conn.SetReadDeadline(time.Now().Add(5*time.Second)) != nil {
		return nil, true
	}
	heard, err := io.ReadAll(conn)
	return heard, !errors.Is(err, os.ErrDeadlineExceeded)
}

// FuzzUnauthenticatedDialer lets an unauthenticated peer send anything to a node, at each stage of
// the handshake. A peer that has not been welcomed is disconnected in time, nothing stays behind,
// and other peers are served.
func FuzzUnauthenticatedDialer(f *testing.F) {
	hello := encoded(f, goodHello())
	stages := [][]byte{
		{},
		opened('C'), opened('A'), opened('M'), opened('R'), opened('A', hello...), opened('C', hello...),
		[]byte(preface[:1]), []byte(preface[:5]), []byte(preface),
	}
	for stage := range stages {
		for _, secure := range []bool{false, true} {
			f.Add(uint8(stage), secure, false, []byte{})
			f.Add(uint8(stage), secure, true, hello[4:])
			f.Add(uint8(stage), secure, false, hello[:len(hello)-1])
			f.Add(uint8(stage), secure, false, []byte{0xff, 0xff, 0xff, 0xff, 1})
			f.Add(uint8(stage), secure, false, []byte{0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0})
			f.Add(uint8(stage), secure, true, []byte{0x84, 0x6b, '/', 'u', 's', 'e', 'r', '/', 'i', 'n', 'b', 'o', 'x', 0, 0x63, 'i', 'n', 't', 0x41, 7})
			f.Add(uint8(stage), secure, true, []byte{0x82, 3, 0x42, 1, 2})
		}
	}
	f.Fuzz(func(t *testing.T, stage uint8, secure, frame bool, data []byte) {
		said := stages[int(stage)%len(stages)]
		early := len(said) <= len(opened('C'))
		if frame {
			data = framed(data)
		}
		bubble(t, func(t *testing.T, n *memnet.Network) {
			protect := func(*transport.Config) {}
			if secure {
				protect = ring(keyring(t, secret(1)))
			}
			b := start(t, n, "b", protect)
			inbox, _ := spawn[int](b, "inbox")
			conn, err := n.Host("raw").Dial(t.Context(), b.Addr())
			require.NoError(t, err)
			require.NoError(t, conn.SetWriteDeadline(time.Now().Add(time.Second)))
			_, _ = conn.Write(slices.Concat(said, data)) // it may be closed before it has read all
			heard, closed := listenTo(conn)
			if early || secure {
				require.True(t, closed || !secure && welcomed(heard), "it is turned out")
			}
			ref[int](start(t, n, "a", protect), b, "/user/inbox").Tell(4711)
			soon()
			require.Contains(t, inbox.got(), 4711)
			b.stop()
			_, closed = listenTo(conn)
			require.True(t, closed)
			require.NoError(t, conn.Close())
		})
	})
}

// FuzzUnauthenticatedListener lets an unauthenticated peer answer anything to a node that dials it,
// or to a client that offers it a connection.
func FuzzUnauthenticatedListener(f *testing.F) {
	answer := encoded(f, accepted(5, 0))
	stages := [][]byte{{}, answer, slices.Concat(answer, opened('A')), slices.Concat(answer, opened('A', encoded(f, goodHello())...))}
	for stage := range stages {
		for _, client := range []bool{false, true} {
			f.Add(uint8(stage), client, false, []byte{})
			f.Add(uint8(stage), client, true, answer[4:])
			f.Add(uint8(stage), client, false, answer[:len(answer)-1])
			f.Add(uint8(stage), client, false, []byte{0, 0, 0, 0, 0, 0, 0, 1})
			f.Add(uint8(stage), client, false, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
		}
	}
	f.Fuzz(func(t *testing.T, stage uint8, client, frame bool, data []byte) {
		if frame {
			data = framed(data)
		}
		said := slices.Concat(stages[int(stage)%len(stages)], data)
		bubble(t, func(t *testing.T, n *memnet.Network) {
			l, err := n.Host("raw").Listen("raw:7355")
			require.NoError(t, err)
			var answering sync.WaitGroup
			answering.Go(func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					answering.Go(func() {
						_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
						_, _ = conn.Write(said)
						_, _ = io.Copy(io.Discard, conn)
						_ = conn.Close()
					})
				}
			})
			var a *testNode
			if client {
				a = startClient(t, n, "a", nil)
				a.Reach([]string{"raw:7355"})
			} else {
				a = start(t, n, "a")
			}
			inbox, _ := spawn[int](a, "inbox")
			actor.Resolve[int](a.sys, "understudy://test@raw:7355/user/x").Tell(1)
			time.Sleep(12 * time.Second)
			if int(stage)%len(stages) == 0 && !welcomed(said) {
				require.Len(t, a.lost.got(), 1, "the message is a dead letter")
			}
			if !client {
				ref[int](start(t, n, "b"), a, "/user/inbox").Tell(4711)
				soon()
				require.Contains(t, inbox.got(), 4711)
			}
			a.stop()
			require.NoError(t, l.Close())
			answering.Wait()
		})
	})
}
