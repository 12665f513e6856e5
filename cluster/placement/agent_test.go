package placement

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/placement/internal/plan"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/memory"
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
	Generation Generation
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
		workers.Name(): typed[job, order]{workers.Name(), newWorker},
		writers.Name(): typed[uint64, actor.ActorRef[bool]]{writers.Name(), newWriter},
		ledgers.Name(): typed[uint64, int]{ledgers.Name(), newLedger},
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
	heard  *testkit.Probe[plan.FromAgent]
	agent  actor.ActorRef[plan.ToAgent]
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
	w := &agentWorld{t: t, system: s, heard: testkit.NewProbe[plan.FromAgent](t, s), began: time.Now()}
	spawnAgent(s, "n1", agentFactories, func(ctx *actor.Context[any], follow func(uint64)) {
		self := extension.Handle(ctx, func(incarnation uint64) actor.Behavior[any] {
			follow(incarnation)
			return nil
		})
		w.member = self.Tell
		follow(agentIncarnation)
	})
	synctest.Wait()
	w.agent = actor.Resolve[plan.ToAgent](s, "understudy://test"+agentPath)
	return w
}

func (w *agentWorld) tell(msg any) {
	w.agent.Tell(plan.Send{Incarnation: agentIncarnation, Msg: msg}.Message(w.heard.Ref()))
}

func (w *agentWorld) start(label string, n uint64, j job) {
	r := startOfWorker(label, n)
	r.State = workers.Spec(label, j).State
	w.tell(r)
}

func (w *agentWorld) stop(label string, n uint64) {
	w.tell(plan.StopRequest{ID: id(n), Label: label, Epoch: 1})
}

func (w *agentWorld) receive() plan.FromAgent {
	w.t.Helper()
	m := w.heard.Receive()
	require.Equal(w.t, "n1", m.Node)
	require.Equal(w.t, uint64(agentIncarnation), m.Incarnation)
	return m
}

func (w *agentWorld) started(label string, n uint64) {
	w.t.Helper()
	require.Equal(w.t, &plan.StartAck{ID: id(n), Label: label}, w.receive().StartAck)
}

// failed expects that a start has failed, and returns why.
func (w *agentWorld) failed(label string, n uint64) string {
	w.t.Helper()
	ack := w.receive().StartAck
	require.NotNil(w.t, ack)
	require.Equal(w.t, &plan.StartAck{ID: id(n), Label: label, Error: ack.Error}, ack)
	require.NotEmpty(w.t, ack.Error)
	return ack.Error
}

func (w *agentWorld) stopped(label string, n uint64) {
	w.t.Helper()
	require.Equal(w.t, &plan.StopAck{ID: id(n), Label: label}, w.receive().StopAck)
}

func (w *agentWorld) listed(label string) []receptionist.Instance[order] {
	return receptionist.Find(w.system, keyOf[order](label)).Instances
}

func (w *agentWorld) ask(label string) answered {
	w.t.Helper()
	return testkit.Ask(w.t.Context(), w.t, workers.Ref(w.system, label), func(r actor.ActorRef[answered]) order { return order{ReplyTo: r} })
}

// Case 89.
func TestAPlacedActorIsAcknowledgedOnceAndAnswers(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("storage/photos", 1, job{})
		w.started("storage/photos", 1)
		require.Len(t, w.listed("storage/photos"), 1)
		require.Equal(t, "understudy://test/system/placement/storage:photos", w.listed("storage/photos")[0].Ref.Path())
		require.Equal(t, answered{Label: "storage/photos", N: 1}, w.ask("storage/photos"))
		w.heard.ExpectNone(time.Hour)
	})
}

// Case 91.
func TestSlowFactoriesRunAllAtOnce(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		began := time.Now()
		for n := range uint64(20) {
			w.start(fmt.Sprint("spec-", n), n+1, job{Takes: 200 * time.Millisecond})
		}
		for range 20 {
			require.Empty(t, w.receive().StartAck.Error)
		}
		require.Equal(t, 200*time.Millisecond, time.Since(began))
	})
}

// Case 91, on real processors.
func TestSlowFactoriesRunAllAtOnceInRealTime(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	heard := testkit.NewProbe[plan.FromAgent](t, s)
	spawnAgent(s, "n1", agentFactories, func(_ *actor.Context[any], follow func(uint64)) { follow(agentIncarnation) })
	heard.Within(800*time.Millisecond*slowdown, func() {
		for n := range uint64(20) {
			r := startOfWorker(fmt.Sprint("spec-", n), n+1)
			r.State = workers.Spec(r.Label, job{Takes: 200 * time.Millisecond * slowdown}).State
			actor.Resolve[plan.ToAgent](s, "understudy://test"+agentPath).Tell(plan.Send{Incarnation: agentIncarnation, Msg: r}.Message(heard.Ref()))
		}
		for range 20 {
			require.Empty(t, heard.Receive().StartAck.Error)
		}
	})
}

// slowdown allows for other load on the machine. One after the other, the starts would take five
// times the limit.
const slowdown = 3

// Case 98.
func TestASlowFactoryKeepsNobodyWaiting(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("slow", 1, job{Takes: time.Minute})
		synctest.Wait()
		began := time.Now()
		w.start("quick", 2, job{})
		w.started("quick", 2)
		w.tell(plan.ReportRequest{Epoch: 1})
		require.Equal(t, []plan.Reported{{ID: id(2), Label: "quick", Started: true}, {ID: id(1), Label: "slow"}}, w.receive().Report.Running)
		require.Zero(t, time.Since(began))
		time.Sleep(time.Minute)
		w.started("slow", 1)
	})
}

// Cases 92 and 103: the factory's actor is told to stop while it runs.
func TestAStopCancelsWhatIsStarting(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("slow", 1, job{Takes: 2 * time.Second})
		synctest.Wait()
		w.stop("slow", 1)
		require.Equal(t, plan.WhyStopped, w.failed("slow", 1))
		w.stopped("slow", 1)
		require.Empty(t, w.listed("slow"))
		w.heard.ExpectNone(time.Hour)
	})
}

// Cases 94, 95 and 97.
func TestAStartThatCannotBeIsAcknowledgedAsAFailure(t *testing.T) {
	for name, test := range map[string]struct {
		typ   string
		state []byte
		job   job
		want  string
	}{
		"unknown type":     {typ: "nobody's", want: `no factory for type "nobody's"`},
		"undecodable":      {state: []byte{0xff, 0x00}, want: `the state of "x" cannot be decoded as that of type "agent-test-worker"`},
		"another state":    {state: []byte{0x61, 'a'}, want: "cannot be decoded"},
		"panic":            {job: job{Panics: true}, want: "panic: no tools"},
		"no behavior":      {job: job{Nothing: true}, want: `the factory of type "agent-test-worker" has returned no behavior for "x"`},
		"stops at once":    {job: job{Quits: true}, want: "it has stopped by itself before it had started"},
		"fails repeatedly": {job: job{Flaky: 99}, want: "panic: not yet"},
	} {
		t.Run(name, func(t *testing.T) {
			inAgentWorld(t, func(t *testing.T, w *agentWorld) {
				data, err := codec.Marshal(test.job)
				require.NoError(t, err)
				start := plan.StartRequest{ID: id(1), Label: "x", Type: "agent-test-worker", State: data, Epoch: 1}
				if test.typ != "" {
					start.Type = test.typ
				}
				if test.state != nil {
					start.State = test.state
				}
				w.tell(start)
				w.heard.Within(time.Minute, func() { require.Contains(t, w.failed("x", 1), test.want) })
				require.Empty(t, w.listed("x"))

				w.start("x", 2, job{})
				w.started("x", 2)
				w.heard.ExpectNone(time.Hour)
			})
		})
	}
}

func TestAStartThatItsSupervisionRepeatsSucceeds(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		began := time.Now()
		w.start("x", 1, job{Flaky: 2})
		w.started("x", 1)
		require.Equal(t, 2*time.Second, time.Since(began))
		require.Equal(t, 1, w.ask("x").N)
	})
}

// Case 65, and I8: the acknowledgement comes after the end.
func TestAStopIsAcknowledgedWhenTheActorHasEnded(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("x", 1, job{Lasts: 2 * time.Second})
		w.started("x", 1)
		began := time.Now()
		w.stop("x", 1)
		w.stopped("x", 1)
		require.Equal(t, 2*time.Second, time.Since(began))
		require.Empty(t, w.listed("x"))
	})
}

func TestAnEndIsToldUntilTheCoordinatorKnows(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("x", 1, job{})
		w.started("x", 1)
		workers.Ref(w.system, "x").Tell(order{Fail: true})
		for range 3 {
			require.Equal(t, &plan.Ended{ID: id(1), Label: "x", Error: "broken tool"}, w.receive().Ended)
		}
		w.stop("x", 1)
		w.stopped("x", 1)
		w.heard.ExpectNone(time.Hour)

		w.start("x", 2, job{})
		w.started("x", 2)
		workers.Ref(w.system, "x").Tell(order{Quit: true})
		require.Equal(t, &plan.Ended{ID: id(2), Label: "x"}, w.receive().Ended)
		w.stop("x", 2)
		w.stopped("x", 2)
	})
}

func TestAnEscalatedFailureEndsOneActorOnly(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("x", 1, job{Escalate: true})
		w.started("x", 1)
		w.start("y", 2, job{})
		w.started("y", 2)
		workers.Ref(w.system, "x").Tell(order{Fail: true})
		require.Equal(t, &plan.Ended{ID: id(1), Label: "x", Error: "broken tool"}, w.receive().Ended)
		require.Equal(t, 1, w.ask("y").N)
	})
}

func TestAnAgentWithoutMembershipStopsEverything(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("x", 1, job{})
		w.started("x", 1)
		w.member(0)
		synctest.Wait()
		require.Empty(t, w.listed("x"))
		w.start("x", 2, job{})
		w.heard.ExpectNone(time.Hour)
		w.member(agentIncarnation)
		w.start("x", 3, job{})
		w.started("x", 3)
	})
}

// Case 103.
func TestAShutdownStopsWhatIsPlacedAndAnswersWhatIsStarting(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("runs", 1, job{Lasts: time.Second})
		w.started("runs", 1)
		w.start("starts", 2, job{Takes: 3 * time.Second})
		synctest.Wait()
		found := false
		w.system.OnShutdown(actor.ActorsStop, "look", func(context.Context) error {
			time.Sleep(2 * time.Second)
			found = len(w.listed("runs")) > 0
			w.start("new", 3, job{})
			time.Sleep(time.Second)
			synctest.Wait() // the probe has received all answers before it is stopped
			return nil
		})
		began := time.Now()
		require.NoError(t, w.system.Shutdown(t.Context()))
		require.Equal(t, 3*time.Second, time.Since(began))
		require.False(t, found)
		require.Equal(t, plan.WhyClosing, w.failed("new", 3))
		require.Equal(t, plan.WhyStopped, w.failed("starts", 2))
	})
}

// Case 136, with actors.
func TestASingletonIsNotStoppedByAnEarlierGeneration(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		data, err := codec.Marshal(job{})
		require.NoError(t, err)
		gen := Generation{Term: 2}
		w.tell(plan.StartRequest{ID: id(1), Label: "s", Type: workers.Name(), State: data, Generation: gen, Epoch: 1})
		w.started("s", 1)
		require.Equal(t, gen, w.ask("s").Generation)
		w.tell(plan.StopRequest{ID: id(1), Label: "s", Generation: Generation{Term: 1, Seq: 9}, Epoch: 1})
		require.Contains(t, w.receive().StopAck.Error, "2.0")
		require.Equal(t, gen, w.ask("s").Generation)
		w.tell(plan.StopRequest{ID: id(1), Label: "s", Generation: gen, Epoch: 1})
		w.stopped("s", 1)
	})
}

// A fencedStore refuses writes of a generation lower than the highest it has seen.
type fencedStore struct {
	mu      sync.Mutex // guards all below
	highest Generation
	writes  []Generation
}

func (s *fencedStore) write(gen Generation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gen.Less(s.highest) {
		return singleton.ErrFenced
	}
	s.highest = gen
	s.writes = append(s.writes, gen)
	return nil
}

// shelf has the objects that the actors share with their test, by a number in their state.
var (
	shelf   sync.Map
	shelved atomic.Uint64
)

func share(what any) (state []byte) {
	n := shelved.Add(1)
	shelf.Store(n, what)
	state, _ = codec.Marshal(n) // numbers can be encoded
	return state
}

func shared[T any](n uint64) T {
	what, _ := shelf.Load(n)
	return what.(T)
}

var writers = NewType[uint64, actor.ActorRef[bool]]("agent-test-writer")

func newWriter(n uint64) actor.Behavior[actor.ActorRef[bool]] {
	store := shared[*fencedStore](n)
	return behaviors.Receive(func(ctx *actor.Context[actor.ActorRef[bool]], replyTo actor.ActorRef[bool]) actor.Behavior[actor.ActorRef[bool]] {
		err := store.write(singleton.GenerationOf(ctx))
		replyTo.Tell(err == nil)
		if err != nil {
			return ctx.Fail(err)
		}
		return nil
	})
}

// Case 148.
func TestAFencedStoreRefusesAZombie(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		write := func(label string) bool {
			return testkit.Ask(t.Context(), t, writers.Ref(w.system, label), func(r actor.ActorRef[bool]) actor.ActorRef[bool] { return r })
		}
		owner, store := Generation{Term: 2}, &fencedStore{}
		state := share(store)
		for n, gen := range []Generation{owner, {Term: 1, Seq: 9}} {
			w.tell(plan.StartRequest{ID: id(uint64(n + 1)), Label: fmt.Sprint(n), Type: writers.Name(), State: state, Generation: gen, Epoch: 1})
			w.started(fmt.Sprint(n), uint64(n+1))
		}
		require.True(t, write("0"))
		require.False(t, write("1"), "the zombie")
		require.Equal(t, &plan.Ended{ID: id(2), Label: "1", Error: singleton.ErrFenced.Error()}, w.receive().Ended)
		require.True(t, write("0"))
		require.NoError(t, store.write(Generation{Term: 2, Seq: 1}))
		require.Equal(t, []Generation{owner, owner, {Term: 2, Seq: 1}}, store.writes)
	})
}

var ledgers = NewType[uint64, int]("agent-test-ledger")

func newLedger(n uint64) actor.Behavior[int] {
	return persistence.New("ledger", shared[persistence.Journal](n), 0, func(sum, n int) int { return sum + n },
		func(_ *actor.Context[int], _, n int) persistence.Effect[int] { return persistence.Persist(n) })
}

func TestAnEventSourcedSingletonClaimsItsJournalByItsGeneration(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		gen, store := Generation{Term: 7, Seq: 3}, memory.New()
		w.tell(plan.StartRequest{ID: id(1), Label: "ledger", Type: ledgers.Name(), State: share(persistence.Journal(store)), Generation: gen, Epoch: 1})
		w.started("ledger", 1)
		synctest.Wait()
		packed, err := gen.Packed()
		require.NoError(t, err)
		next, err := store.Claim(t.Context(), "ledger", journal.WriterID{}, 0)
		require.NoError(t, err)
		require.Greater(t, next.Epoch, packed)
	})
}

func TestWhatStopsByItselfAlthoughItIsKeptAliveIsWarnedOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, entries := observer.New(zap.WarnLevel)
		w := startAgentWorld(t, actor.WithLogger(zap.New(logs)))
		w.start("idle", 1, job{Idle: time.Minute})
		w.started("idle", 1)
		w.heard.Within(2*time.Minute, func() { require.Equal(t, &plan.Ended{ID: id(1), Label: "idle"}, w.receive().Ended) })
		require.Equal(t, time.Minute, time.Since(w.began))
		warned := entries.FilterMessageSnippet("stopped by itself").All()
		require.Len(t, warned, 1)
		require.Equal(t, "idle", warned[0].ContextMap()["label"])
		w.stop("idle", 1)
		w.stopped("idle", 1)

		w.start("busy", 2, job{})
		w.started("busy", 2)
		w.stop("busy", 2)
		w.stopped("busy", 2)
		require.Len(t, entries.FilterMessageSnippet("stopped by itself").All(), 1, "that one was to stop")
	})
}

func id(n uint64) plan.RequestID { return plan.RequestID{Epoch: 1, N: n} }
