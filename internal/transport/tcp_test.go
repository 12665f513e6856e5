package transport_test

import (
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
)

// startTCP starts a node on the loopback interface of this machine.
func startTCP(t testing.TB, change ...func(*transport.Config)) *testNode {
	t.Helper()
	x := listen(t, transport.Config{}, change...)
	x.Serve(x.sys)
	return x
}

// eventually waits for what other goroutines do in real time.
func eventually(t testing.TB, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 20*time.Second, time.Millisecond) //nolint:forbidigo // real sockets
}

func TestMessagesArriveOnceAndInOrderOverRealTCP(t *testing.T) {
	a, b := startTCP(t), startTCP(t)
	inbox, _ := spawn[int](b, "inbox")
	to := ref[int](a, b, "/user/inbox")
	for i := range 1000 {
		to.Tell(i)
	}
	eventually(t, func() bool { return len(inbox.got()) == 1000 })
	require.Equal(t, count(1000), inbox.got())

	spawnAdder(b.sys)
	require.Equal(t, 42, ask(t, ref[question](a, b, "/user/adder"), 41))
}

func TestSendsSucceedAgainAfterThePeerHasRestartedOverRealTCP(t *testing.T) {
	a, b := startTCP(t), startTCP(t)
	inbox, _ := spawn[int](b, "inbox")
	to := ref[int](a, b, "/user/inbox")
	to.Tell(1)
	eventually(t, func() bool { return len(inbox.got()) == 1 })
	old := b.Self()
	b.stop()

	b = listen(t, transport.Config{Bind: old.Address})
	again, _ := spawn[int](b, "inbox")
	b.Serve(b.sys)
	sent := 1
	eventually(t, func() bool {
		sent++
		to.Tell(sent)
		return len(again.got()) > 0
	})
	eventually(t, func() bool { return len(again.got())+len(a.lost.got()) >= sent-1 })
	require.NotEqual(t, old, b.Self())
}

func TestControlAndPacketsOverRealTCPAndUDP(t *testing.T) {
	a, b := startTCP(t), startTCP(t)
	a.SendControl(b.Addr(), []byte("frame"))
	a.SendPacket(b.Addr(), []byte("packet"))
	eventually(t, func() bool { return len(b.control.got()) == 2 })
	require.ElementsMatch(t, []control{{a.Self(), "frame"}, {a.Self(), "packet"}}, b.control.got())

	require.NoError(t, a.WritePacket([]byte("ping"), b.Addr()))
	p := <-b.Packets()
	require.Equal(t, "ping", string(p.Data))

	near, err := a.DialStream(t.Context(), b.Addr())
	require.NoError(t, err)
	far := <-b.StreamConns()
	_, err = near.Write([]byte("push"))
	require.NoError(t, err)
	require.NoError(t, near.Close())
	all, err := io.ReadAll(far)
	require.NoError(t, err)
	require.Equal(t, "push", string(all))
	require.NoError(t, far.Close())
}

func TestRefusedDialIsToldOverRealTCP(t *testing.T) {
	gone := startTCP(t)
	gone.stop()
	failures := &collector[error]{}
	a := startTCP(t, func(cfg *transport.Config) {
		cfg.UnreachableAfter = 100 * time.Millisecond
		cfg.DialFailed = func(_ string, err error) { failures.add(err) }
	})
	ref[int](a, gone, "/user/inbox").Tell(1)
	eventually(t, func() bool { return len(a.lost.got()) == 1 })
	require.ErrorIs(t, failures.got()[0], syscall.ECONNREFUSED)
	require.ErrorIs(t, a.lost.got()[0].Reason, actor.ErrUnreachable)
}

func TestHostNamesAreResolvedOverRealTCPAndUDP(t *testing.T) {
	b := startTCP(t, func(cfg *transport.Config) { cfg.Advertise = "localhost:0" })
	a := startTCP(t)
	inbox, _ := spawn[int](b, "inbox")
	ref[int](a, b, "/user/inbox").Tell(1)
	eventually(t, func() bool {
		a.SendPacket(b.Addr(), []byte("beat")) // lost until the look-up is done
		return len(inbox.got()) == 1 && len(b.control.got()) > 0
	})
}

func TestWildcardNeedsAnAdvertisedAddressOverRealTCP(t *testing.T) {
	_, err := transport.Listen(transport.Config{Bind: ":0"})
	require.ErrorContains(t, err, "Config.Advertise is required")
	e, err := transport.Listen(transport.Config{Bind: ":0", Advertise: "127.0.0.1:0"})
	require.NoError(t, err)
	require.NoError(t, e.Close())
}
