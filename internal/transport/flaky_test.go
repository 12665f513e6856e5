package transport_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

// A flakyNetwork has sockets that fail now and then, as when file descriptors run out.
type flakyNetwork struct {
	*memnet.Host
	failures atomic.Int32 // that are left
}

func (f *flakyNetwork) fail() error {
	if f.failures.Add(-1) >= 0 {
		return errors.New("too many open files")
	}
	return nil
}

func (f *flakyNetwork) Listen(addr string) (net.Listener, error) {
	l, err := f.Host.Listen(addr)
	return flakyListener{l, f}, err
}

func (f *flakyNetwork) ListenPacket(addr string) (net.PacketConn, error) {
	p, err := f.Host.ListenPacket(addr)
	return flakyPacketConn{p, f}, err
}

type flakyListener struct {
	net.Listener
	net *flakyNetwork
}

func (l flakyListener) Accept() (net.Conn, error) {
	if err := l.net.fail(); err != nil {
		return nil, err
	}
	return l.Listener.Accept()
}

type flakyPacketConn struct {
	net.PacketConn
	net *flakyNetwork
}

func (p flakyPacketConn) ReadFrom(b []byte) (int, net.Addr, error) {
	if err := p.net.fail(); err != nil {
		return 0, nil, err
	}
	return p.PacketConn.ReadFrom(b)
}

func TestEndpointSurvivesSocketsThatFail(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		flaky := &flakyNetwork{Host: n.Host("b")}
		flaky.failures.Store(10)
		a, b := start(t, n, "a"), start(t, n, "b", func(cfg *transport.Config) { cfg.Network = flaky })
		inbox, _ := spawn[int](b, "inbox")
		ref[int](a, b, "/user/inbox").Tell(1)
		time.Sleep(4 * time.Second)
		a.SendPacket(b.Addr(), []byte("beat"))
		soon()
		require.Equal(t, []int{1}, inbox.got())
		require.Len(t, b.control.got(), 1)
	})
}

func TestCloseEndsThePauseAfterAFailure(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		flaky := &flakyNetwork{Host: n.Host("a")}
		flaky.failures.Store(1 << 30)
		a := start(t, n, "a", func(cfg *transport.Config) { cfg.Network = flaky })
		time.Sleep(time.Minute)
		begin := time.Now()
		a.stop()
		require.Zero(t, time.Since(begin))
	})
}

// explosive can be decoded once, when it is encoded, and not again.
type explosive struct{ X int }

var explosions atomic.Int64 // decodings so far

func (e *explosive) UnmarshalCBOR(data []byte) error {
	if explosions.Add(1) > 1 {
		panic("boom")
	}
	var x struct{ X int }
	err := codec.Unmarshal(data, &x)
	e.X = x.X
	return err
}

func init() { actor.RegisterType[explosive]("transport_test.explosive") }

func TestPanicInADecoderIsADeadLetter(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		explosions.Store(0)
		_, numbered := spawn[explosive](b, "explosives")
		actor.Resolve[explosive](a.sys, numbered.String()).Tell(explosive{1})
		ref[int](a, b, "/user/inbox").Tell(1)
		soon()
		require.Equal(t, []int{1}, inbox.got())
		lost := b.lost.got()
		require.Len(t, lost, 1)
		require.Equal(t, numbered.String(), lost[0].Recipient)
		require.ErrorIs(t, lost[0].Reason, actor.ErrNotDecodable)
		require.ErrorContains(t, lost[0].Reason, "boom")
		require.IsType(t, extension.Payload{}, lost[0].Message)
	})
}

func TestUndecodableDeadLetterIsAPayload(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		n.Crash("b")
		b.stop()
		explosions.Store(0)
		ref[explosive](a, b, "/user/explosives").Tell(explosive{1})
		time.Sleep(6 * time.Second)
		require.IsType(t, extension.Payload{}, a.lost.got()[0].Message)
	})
}

func TestPeerThatOnlyShakesHandsIsNotDialledAllTheTime(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		connections := 0
		end := serveRaw(t, n, func(r *raw) {
			connections++
			r.skip()
			r.readFields()
			r.frame(accepted(9, 0))
		})
		a.SendControl("raw:7355", []byte("hello"))
		time.Sleep(10 * time.Second)
		end()
		require.Less(t, connections, 20)
	})
}

// The last attempt to connect may have little time. That it had none says less than why those
// before it failed.
func TestTheLastAttemptDoesNotHideWhyTheOthersFailed(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		failures := &collector[error]{}
		a := start(t, n, "a", func(cfg *transport.Config) {
			cfg.DialFailed = func(_ string, err error) { failures.add(err) }
		})
		silent := time.Now().Add(3700 * time.Millisecond) // one attempt is later, as they are 1.2 s apart at most, and it lasts until the link gives up
		end := serveRaw(t, n, func(r *raw) {
			r.skip()
			r.readFields()
			if time.Now().Before(silent) {
				r.frame(fields{answerMin: 1, answerMax: 1, answerIncarnation: 9, answerRefusal: remote.RefusedCluster, answerDetail: "this is blue"})
			}
			_, _ = r.Read(make([]byte, 1)) // until the other side closes it
		})
		actor.Resolve[int](a.sys, "understudy://test@raw:7355/user/x").Tell(1)
		time.Sleep(7 * time.Second)
		end()
		require.ErrorContains(t, a.lost.got()[0].Reason, "this is blue")
		all := failures.got()
		require.ErrorIs(t, all[len(all)-1], context.DeadlineExceeded, "%v", all)
	})
}
