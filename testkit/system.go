package testkit

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/understudy-go/understudy/actor"
)

// shutdownLimit is how long a system may take to stop at the end of a test.
const shutdownLimit = 10 * time.Second

// askLimit is how long Ask and the probes wait when nothing else is said.
const askLimit = 3 * time.Second

// NewSystem starts a system that logs to the test, and carries messages as between nodes:
// the test fails when one cannot be encoded, with the type and the line that registers it.
// [WithoutEncoding] turns that off. When the test ends it is shut down; a
// system that does not stop within ten seconds fails the test, with the names of the
// actors that still run.
func NewSystem(t testing.TB, opts ...actor.Option) *actor.System {
	t.Helper()
	log := zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel))
	s := actor.NewSystem("test", append([]actor.Option{actor.WithLogger(log), WithEncoding(t)}, opts...)...)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), shutdownLimit)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("testkit: %v", err)
		}
	})
	return s
}

// Ask is [actor.Ask] that fails the test without a reply. It waits for the reply until ctx
// ends; where ctx has no deadline, for three seconds at most.
func Ask[M, R any](ctx context.Context, t testing.TB, to actor.ActorRef[M], request func(actor.ActorRef[R]) M) R {
	t.Helper()
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, askLimit)
		defer cancel()
	}
	r, err := actor.Ask(ctx, to, request)
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	return r
}
