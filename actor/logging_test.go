package actor_test

import (
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// onStderr returns what f writes to standard error.
func onStderr(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	before := os.Stderr
	os.Stderr = w
	defer func() { os.Stderr = before }()
	f()
	require.NoError(t, w.Close())
	written, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(written)
}

func TestASystemWithoutALoggerWritesWarningsToStandardError(t *testing.T) {
	lose := func(opts ...actor.Option) func() {
		return func() {
			s := actor.NewSystem("test", opts...)
			s.Log().Info("not worth a line")
			extension.DeadLetter(s, "somebody", 1, errBoom)
			require.NoError(t, s.Shutdown(t.Context()))
		}
	}
	for _, opts := range [][]actor.Option{nil, {actor.WithLogger(nil)}} {
		got := onStderr(t, lose(opts...))
		require.Contains(t, got, "dead letter")
		require.Contains(t, got, "somebody")
		require.Contains(t, got, "WARN")
		require.Contains(t, got, "logging_test.go", "the caller is the code that made the dead letter")
		require.NotContains(t, got, "not worth a line")
	}
	require.Empty(t, onStderr(t, lose(actor.WithLogger(zap.NewNop()))))
}

func explode(*actor.Context[order]) actor.Behavior[order] { panic("boom") }

func TestASupervisedPanicIsLoggedWithItsStack(t *testing.T) {
	for name, b := range map[string]actor.Behavior[order]{
		"restarts":       behaviors.Supervise(obedient(), actor.Strategy{}),
		"stops":          behaviors.Supervise(obedient(), actor.Strategy{Limit: actor.NoRestarts}),
		"not supervised": obedient(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zapcore.WarnLevel)
				s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.New(core)))
				ref := actor.Spawn(s, b, "bomb")
				ref.Tell(explode)
				settle()
				require.Len(t, logs.All(), 1)
				require.Contains(t, logs.All()[0].Stack, "actor_test.explode")
				require.Equal(t, "/user/bomb", logs.All()[0].ContextMap()["actor"])
			})
		})
	}
}

func TestALimitOfNoRestartsStopsAtTheFirstFailure(t *testing.T) {
	strategy := actor.Strategy{Limit: actor.NoRestarts, Window: time.Hour, Backoff: actor.Backoff{Min: time.Second}}
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), strategy), "once")
		ref.Tell(say(p, "alive"))
		p.Expect("alive")
		ref.Tell(fail(errBoom))
		p.ExpectTerminated(ref)
		starts := 0
		ref = actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] {
			starts++
			panic("boom")
		}), strategy), "never")
		p.ExpectTerminated(ref)
		require.Equal(t, 1, starts)
	})
}
