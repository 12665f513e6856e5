//go:build !quick

package placement

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// A job is the initial state of the workers in these tests.
type job struct {
	Takes    time.Duration // to be made
	Lasts    time.Duration // to stop
	Panics   bool
	Nothing  bool          // the factory returns nil
	Quits    bool          // it stops at once
	Flaky    int           // this many starts fail, and its supervision repeats them
	Escalate bool          // a failure goes to the agent
	Idle     time.Duration // after which it stops; 0: never
}

// order is the message type of workers.
type order struct {
	Fail, Quit bool
	ReplyTo    actor.ActorRef[answered]
}

// answered is the reply of a worker.
type answered struct {
	Label      string
	Generation singleton.Generation
	Node       string
	N          int
}

func init() {
	actor.RegisterType[order]("placement-agent-test.order")
	actor.RegisterType[answered]("placement-agent-test.answered")
}

var (
	workers = NewType[job, order]("agent-test-worker")

	// agentFactories are the factories of the agents in these tests.
	agentFactories = factories{
		workers.Name(): typed[job, order]{name: workers.Name(), factory: newWorker},
		writers.Name(): typed[uint64, actor.ActorRef[bool]]{name: writers.Name(), factory: newWriter},
		ledgers.Name(): typed[uint64, int]{name: ledgers.Name(), factory: newLedger},
		shops.Name():   typed[uint64, int]{name: shops.Name(), factory: newShop},
	}
)

func newWorker(j job) actor.Behavior[order] {
	time.Sleep(j.Takes)
	switch {
	case j.Panics:
		panic("no tools")
	case j.Nothing:
		return nil
	case j.Quits:
		return behaviors.Stopped
	case j.Flaky > 0:
		return flaky(j.Flaky)
	case j.Escalate:
		return behaviors.Supervise(working(j), actor.Strategy{Decide: func(error) actor.Directive { return actor.Escalate }})
	}
	if j.Idle > 0 {
		return idle(j.Idle)
	}
	return working(j)
}

// idle passivates after d.
func idle(d time.Duration) actor.Behavior[order] {
	return func(ctx *actor.Context[order], next *actor.Next[order]) {
		ctx.SetReceiveTimeout(d, order{Quit: true})
		working(job{})(ctx, next)
	}
}

func working(j job) actor.Behavior[order] {
	n := 0
	return behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
		return behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			ctx.Defer(func() { time.Sleep(j.Lasts) })
			return behaviors.Receive(func(ctx *actor.Context[order], o order) actor.Behavior[order] {
				switch {
				case o.Fail:
					return ctx.Fail(errors.New("broken tool"))
				case o.Quit:
					return behaviors.Stopped
				}
				n++
				o.ReplyTo.Tell(answered{LabelOf(ctx), singleton.GenerationOf(ctx), ctx.System().Address(), n})
				return nil
			})
		})
	})
}

func flaky(times int) actor.Behavior[order] {
	return behaviors.Supervise(behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] {
		if times--; times >= 0 {
			panic("not yet")
		}
		return working(job{})
	}), actor.Strategy{Limit: 10, Window: time.Hour, Backoff: actor.Backoff{Min: time.Second, Max: time.Second}})
}

// An agentWorld is an agent. The test plays the coordinator.
type agentWorld struct {
	t      *testing.T
	system *actor.System
	heard  *testkit.Probe[home.FromAgent]
	agent  actor.ActorRef[home.ToAgent]
	member func(incarnation uint64)
	began  time.Time
}

const agentIncarnation = 5

func inAgentWorld(t *testing.T, f func(t *testing.T, w *agentWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, startAgentWorld(t)) })
}

// startAgentWorld starts an agentWorld in the bubble of t.
func startAgentWorld(t *testing.T, opts ...actor.Option) *agentWorld {
	t.Helper()
	s := testkit.NewSystem(t, append([]actor.Option{testkit.WithoutEncoding()}, opts...)...)
	w := &agentWorld{t: t, system: s, heard: testkit.NewProbe[home.FromAgent](t, s), began: time.Now()}
	shell.SpawnAgent(s, "n1", agents(agentFactories), func(ctx *actor.Context[any], follow func(uint64)) {
		self := extension.Handle(ctx, func(incarnation uint64) actor.Behavior[any] {
			follow(incarnation)
			return nil
		})
		w.member = self.Tell
		follow(agentIncarnation)
	})
	synctest.Wait()
	w.agent = actor.Resolve[home.ToAgent](s, "understudy://test"+shell.Path(agentName))
	return w
}

func (w *agentWorld) tell(msg any) {
	w.agent.Tell(home.Send{Incarnation: agentIncarnation, Msg: msg}.Message(w.heard.Ref()))
}

func (w *agentWorld) start(label string, n uint64, j job) {
	r := startOfWorker(label, n)
	r.State = workers.Spec(label, j).State
	w.tell(r)
}

func (w *agentWorld) stop(label string, n uint64) {
	w.tell(home.StopRequest{ID: id(n), Label: label, Epoch: 1})
}

func (w *agentWorld) receive() home.FromAgent {
	w.t.Helper()
	m := w.heard.Receive()
	require.Equal(w.t, "n1", m.Node)
	require.Equal(w.t, uint64(agentIncarnation), m.Incarnation)
	return m
}

func (w *agentWorld) started(label string, n uint64) {
	w.t.Helper()
	require.Equal(w.t, &home.StartAck{ID: id(n), Label: label}, w.receive().StartAck)
}

// failed expects that a start has failed, and returns why.
func (w *agentWorld) failed(label string, n uint64) string {
	w.t.Helper()
	ack := w.receive().StartAck
	require.NotNil(w.t, ack)
	require.Equal(w.t, &home.StartAck{ID: id(n), Label: label, Error: ack.Error}, ack)
	require.NotEmpty(w.t, ack.Error)
	return ack.Error
}

func (w *agentWorld) stopped(label string, n uint64) {
	w.t.Helper()
	require.Equal(w.t, &home.StopAck{ID: id(n), Label: label}, w.receive().StopAck)
}

func (w *agentWorld) listed(label string) []receptionist.Instance[any] {
	return receptionist.Find(w.system, hubOf(w.system).lane(escape(label)).key()).Instances
}

func (w *agentWorld) ask(label string) answered {
	w.t.Helper()
	return testkit.Ask(w.t.Context(), w.t, workers.Ref(w.system, label), func(r actor.ActorRef[answered]) order { return order{ReplyTo: r} })
}

func id(n uint64) home.RequestID { return home.RequestID{Epoch: 1, N: n} }
