package testkit

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
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

// WithoutEncoding passes messages within a system as they are. By default a system of [NewSystem]
// encodes them as between nodes. Use WithoutEncoding for actors
// whose messages never leave their node, such as messages with channels or functions.
func WithoutEncoding() actor.Option { return extension.WithEncoding(nil) }

// WithEncoding makes a system encode messages as between nodes, and fails the test for each type
// of messages that cannot be encoded. [NewSystem] does this already. Use WithEncoding for other
// systems, such as those of nodes, in cluster.Config.SystemOptions. The system must be shut down
// before the test ends.
func WithEncoding(t testing.TB) actor.Option {
	r := &encodingReport{t: t, reported: make(map[reflect.Type]bool)}
	t.Cleanup(r.close)
	return extension.WithEncoding(r.failed)
}

// Each type is reported once.
type encodingReport struct {
	t testing.TB

	mu       sync.Mutex // guards all below
	reported map[reflect.Type]bool
	closed   bool // the test is over
}

func (r *encodingReport) failed(recipient string, msg any, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.reported[reflect.TypeOf(msg)] {
		return
	}
	r.reported[reflect.TypeOf(msg)] = true
	r.t.Errorf("testkit: a message to %s does not get through to another node, and so not in this test: %v"+
		" (if %T never leaves its node, use testkit.WithoutEncoding, or give it a method LocalOnly() bool)", recipient, err, msg)
}

func (r *encodingReport) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}
