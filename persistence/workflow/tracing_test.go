package workflow_test

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit"
)

// A recorder is a tracer that remembers the operation of each span, its subject and its parent.
type recorder struct {
	mu    sync.Mutex
	spans []recorded // span n has the number n+1
}

type recorded struct {
	operation, subject string
	parent             uint32
	err                error
}

type spanKey struct{}

func (r *recorder) Inject(ctx context.Context) []byte {
	n, ok := ctx.Value(spanKey{}).(uint32)
	if !ok {
		return nil
	}
	return binary.BigEndian.AppendUint32(nil, n)
}

func (r *recorder) Start(ctx context.Context, carried []byte, s telemetry.Span) (context.Context, func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	parent, _ := ctx.Value(spanKey{}).(uint32)
	if len(carried) == 4 && !s.Linked {
		parent = binary.BigEndian.Uint32(carried)
	}
	r.spans = append(r.spans, recorded{operation: s.Operation, subject: s.Subject, parent: parent})
	n := len(r.spans)
	return context.WithValue(ctx, spanKey{}, uint32(n)), func(err error) { //nolint:gosec // a small number
		r.mu.Lock()
		defer r.mu.Unlock()
		r.spans[n-1].err = err
	}
}

func TestARunHasOneTraceWithASpanForEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		traces := &recorder{}
		s := testkit.NewSystem(t, persistence.WithJournal(journal.NewMemory()), telemetry.WithTracer(traces))
		attempts := 0
		_, h := started(t, s, func(w *workflow.Run) (string, error) {
			if err := workflow.Do(w, "a", nothing); err != nil {
				return "", err
			}
			if err := workflow.Sleep(w, time.Hour); err != nil { // another incarnation goes on
				return "", err
			}
			return "", workflow.Do(w, "b", func(context.Context) error {
				if attempts++; attempts == 1 {
					return errDeclined
				}
				return nil
			}, workflow.Retry(2, retrySoon))
		})
		pass(2 * time.Hour)
		_, err := h.Result(t.Context())
		require.NoError(t, err)
		traces.mu.Lock()
		defer traces.mu.Unlock()
		run := slices.IndexFunc(traces.spans, func(r recorded) bool { return r.operation == "run" })
		require.Equal(t, "job", traces.spans[run].subject)
		var steps []recorded
		for _, span := range traces.spans {
			if span.operation == "step" {
				steps = append(steps, span)
			}
		}
		parent := uint32(run + 1) //nolint:gosec // a small number
		require.Equal(t, []recorded{{"step", "a", parent, nil}, {"step", "b", parent, errDeclined}, {"step", "b", parent, nil}}, steps)
	})
}
