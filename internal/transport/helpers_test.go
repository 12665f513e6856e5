package transport_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/memnet"
)

// question is a message with a ref.
type question struct {
	Number  int
	ReplyTo actor.ActorRef[int]
}

func init() { actor.RegisterType[question]("transport_test.question") }

// bubble runs f with a network in virtual time. All goroutines have to end.
func bubble(t *testing.T, f func(t *testing.T, n *memnet.Network)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := memnet.New(1)
		t.Cleanup(n.Close)
		f(t, n)
	})
}

// A testNode is an endpoint with a system, and what they report.
type testNode struct {
	*transport.Endpoint
	t       testing.TB
	sys     *actor.System
	lost    *collector[actor.DeadLetter]
	control *collector[control]
	logs    *observer.ObservedLogs
}

// control is what came by control frame or packet.
type control struct {
	from remote.NodeID
	data string
}

// start starts a node that serves at port 7355 of host name.
func start(t testing.TB, n *memnet.Network, name string, change ...func(*transport.Config)) *testNode {
	t.Helper()
	x := listen(t, transport.Config{Bind: name + ":7355", Network: n.Host(name)}, change...)
	x.Serve(x.sys)
	return x
}

// listen starts a node that does not serve yet.
func listen(t testing.TB, cfg transport.Config, change ...func(*transport.Config)) *testNode {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	x := &testNode{t: t, logs: logs, control: &collector[control]{}, lost: &collector[actor.DeadLetter]{}}
	cfg.Logger = zap.New(core)
	cfg.Control = func(from remote.NodeID, data []byte) { x.control.add(control{from, string(data)}) }
	for _, f := range change {
		f(&cfg)
	}
	var err error
	x.Endpoint, err = transport.Listen(cfg)
	require.NoError(t, err)
	x.sys = actor.NewSystem("test", extension.WithTransport(x.Addr(), x.Endpoint))
	actor.Subscribe(x.sys, actor.Spawn(x.sys, x.lost.behavior(), "lost"))
	t.Cleanup(x.stop)
	return x
}

// stop ends the node. It may be called again.
func (x *testNode) stop() {
	x.t.Helper()
	if err := x.Close(); !errors.Is(err, net.ErrClosed) { // a host that has crashed has closed them
		require.NoError(x.t, err)
	}
	require.NoError(x.t, x.sys.Shutdown(context.Background()))
}

// ref returns a ref of the node to a path at another one.
func ref[M any](from, to *testNode, path string) actor.ActorRef[M] {
	return actor.Resolve[M](from.sys, "understudy://test@"+to.Addr()+path)
}

// spawn starts an actor that collects its messages.
func spawn[M any](x *testNode, name string) (*collector[M], actor.ActorRef[M]) {
	c := &collector[M]{}
	return c, spawnCollector(x, c, name)
}

func spawnCollector[M any](x *testNode, c *collector[M], name string) actor.ActorRef[M] {
	return actor.Spawn(x.sys, c.behavior(), name)
}

// spawnAdder starts an actor at /user/adder that answers questions.
func spawnAdder(s *actor.System) actor.ActorRef[question] {
	return actor.Spawn(s, receive(func(q question) { q.ReplyTo.Tell(q.Number + 1) }), "adder")
}

// ask asks a question.
func ask(t testing.TB, to actor.ActorRef[question], number int) int {
	t.Helper()
	got, err := actor.Ask(t.Context(), to, func(reply actor.ActorRef[int]) question { return question{number, reply} })
	require.NoError(t, err)
	return got
}

func receive[M any](handle func(M)) actor.Behavior[M] {
	return func(_ *actor.Context[M], next *actor.Next[M]) {
		next.OnMessage = func(_ *actor.Context[M], m M) actor.Behavior[M] {
			handle(m)
			return nil
		}
	}
}

// A collector keeps what it is given, in order.
type collector[M any] struct {
	mu  sync.Mutex // guards all
	all []M
}

func (c *collector[M]) behavior() actor.Behavior[M] { return receive(c.add) }

func (c *collector[M]) add(m M) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, m)
}

func (c *collector[M]) got() []M {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]M(nil), c.all...)
}

func (c *collector[M]) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}

// count returns 0, 1, … n-1.
func count(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// soon gives everything time to arrive that is under way.
func soon() { time.Sleep(100 * time.Millisecond) }
