package leasespan_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/leasespan"
	"github.com/understudy-go/understudy/testkit"
)

// A note is a tracer that notes its one span.
type note struct {
	operation string
	details   []extension.Detail
	err       error
}

func (*note) Inject(context.Context) []byte { return nil }

func (n *note) Start(ctx context.Context, _ []byte, s extension.Span) (within context.Context, end func(error)) {
	n.operation = s.Operation
	return context.WithValue(ctx, n, "within"), func(err error) { n.details, n.err = s.Details(), err }
}

func TestTheSpanOfAnAttemptSaysHowItEnded(t *testing.T) {
	failure := errors.New("no store")
	for _, c := range []struct {
		held    bool
		err     error
		outcome string
	}{{true, nil, "acquired"}, {false, nil, "held by another"}, {false, failure, "failed"}} {
		n := &note{}
		s := testkit.NewSystem(t, extension.WithTracer(n))
		held, err := leasespan.Acquire(t.Context(), s, leasespan.Attempt{Lease: "x of a", Holder: "a", Singleton: "x"},
			func(ctx context.Context) (bool, error) {
				require.Equal(t, "within", ctx.Value(n))
				return c.held, c.err
			})
		require.Equal(t, c.held, held)
		require.Equal(t, c.err, err)
		require.Equal(t, c.err, n.err)
		require.Equal(t, "lease.acquire", n.operation)
		require.Equal(t, []extension.Detail{
			{Name: "lease.name", Value: "x of a"},
			{Name: "lease.holder", Value: "a"},
			{Name: "lease.outcome", Value: c.outcome},
			{Name: "singleton.name", Value: "x"},
		}, n.details)
	}
}

func TestWithoutATracerALeaseIsAcquiredAllTheSame(t *testing.T) {
	ctx := t.Context()
	held, err := leasespan.Acquire(ctx, testkit.NewSystem(t), leasespan.Attempt{}, func(within context.Context) (bool, error) {
		require.Equal(t, ctx, within)
		return true, nil
	})
	require.NoError(t, err)
	require.True(t, held)
}
