//go:build !quick

package placement

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestAPlacedActorIsAcknowledgedOnceAndAnswers(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("storage/photos", 1, job{})
		w.started("storage/photos", 1)
		require.Len(t, w.listed("storage/photos"), 1)
		require.True(t, extension.Owns(w.system, actor.Resolve[order](w.system, "understudy://test/system/placement/storage:photos")))
		require.Equal(t, answered{Label: "storage/photos", N: 1}, w.ask("storage/photos"))
		w.heard.ExpectNone(time.Hour)
	})
}

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

func TestSlowFactoriesRunAllAtOnceInRealTime(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	heard := testkit.NewProbe[home.FromAgent](t, s)
	shell.SpawnAgent(s, "n1", agents(agentFactories), func(_ *actor.Context[any], follow func(uint64)) { follow(agentIncarnation) })
	heard.Within(800*time.Millisecond*slowdown, func() {
		for n := range uint64(20) {
			r := startOfWorker(fmt.Sprint("spec-", n), n+1)
			r.State = workers.Spec(r.Label, job{Takes: 200 * time.Millisecond * slowdown}).State
			actor.Resolve[home.ToAgent](s, "understudy://test"+shell.Path(agentName)).Tell(home.Send{Incarnation: agentIncarnation, Msg: r}.Message(heard.Ref()))
		}
		for range 20 {
			require.Empty(t, heard.Receive().StartAck.Error)
		}
	})
}

// slowdown allows for other load on the machine. One after the other, the starts would take five
// times the limit.
const slowdown = 3

func TestASlowFactoryKeepsNobodyWaiting(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("slow", 1, job{Takes: time.Minute})
		synctest.Wait()
		began := time.Now()
		w.start("quick", 2, job{})
		w.started("quick", 2)
		w.tell(home.ReportRequest{Epoch: 1})
		require.Equal(t, []home.Reported{{ID: id(2), Label: "quick", Started: true}, {ID: id(1), Label: "slow"}}, w.receive().Report.Running)
		require.Zero(t, time.Since(began))
		time.Sleep(time.Minute)
		w.started("slow", 1)
	})
}

// The factory's actor is told to stop while it runs.
func TestAStopCancelsWhatIsStarting(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("slow", 1, job{Takes: 2 * time.Second})
		synctest.Wait()
		w.stop("slow", 1)
		require.Equal(t, home.WhyStopped, w.failed("slow", 1))
		w.stopped("slow", 1)
		require.Empty(t, w.listed("slow"))
		w.heard.ExpectNone(time.Hour)
	})
}

func TestAStartThatCannotBeIsAcknowledgedAsAFailure(t *testing.T) {
	for name, test := range map[string]struct {
		typ   string
		state []byte
		job   job
		want  string
	}{
		"unknown type":     {typ: "nobody's", want: `no factory for type "nobody's"`},
		"undecodable":      {state: []byte{0xff, 0x00}, want: `the state of "x" cannot be decoded as one of type "agent-test-worker"`},
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
				start := home.StartRequest{ID: id(1), Label: "x", Type: "agent-test-worker", State: data, Epoch: 1}
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

// The acknowledgement comes after the end.
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
			require.Equal(t, &home.Ended{ID: id(1), Label: "x", Error: "broken tool"}, w.receive().Ended)
		}
		w.stop("x", 1)
		w.stopped("x", 1)
		w.heard.ExpectNone(time.Hour)

		w.start("x", 2, job{})
		w.started("x", 2)
		workers.Ref(w.system, "x").Tell(order{Quit: true})
		require.Equal(t, &home.Ended{ID: id(2), Label: "x"}, w.receive().Ended)
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
		require.Equal(t, &home.Ended{ID: id(1), Label: "x", Error: "broken tool"}, w.receive().Ended)
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
		require.Equal(t, home.WhyClosing, w.failed("new", 3))
		require.Equal(t, home.WhyStopped, w.failed("starts", 2))
	})
}

func TestWhatStopsByItselfAlthoughItIsKeptAliveIsWarnedOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, entries := observer.New(zap.WarnLevel)
		w := startAgentWorld(t, actor.WithLogger(zap.New(logs)))
		w.start("idle", 1, job{Idle: time.Minute})
		w.started("idle", 1)
		w.heard.Within(2*time.Minute, func() { require.Equal(t, &home.Ended{ID: id(1), Label: "idle"}, w.receive().Ended) })
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
