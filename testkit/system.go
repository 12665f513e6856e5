package testkit

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/understudy-go/understudy/actor"
)

const shutdownLimit = 10 * time.Second

// askLimit is longer than a failover.
const askLimit = time.Minute

// NewSystem starts a system that logs to the test and encodes messages as between nodes: the test
// fails if a message cannot be encoded, with its type and the line that registers it.
// [WithoutEncoding] turns that off. The system is shut down when the test ends. If it does not
// stop within ten seconds, the test fails with the names of the actors that still run.
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

// Ask is [actor.Ask], and fails the test if there is no reply. It waits until ctx ends, or for a
// minute if ctx has no deadline: the recipient may move to another node meanwhile.
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
