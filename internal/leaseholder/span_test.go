package leaseholder_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/singleton/lease"
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

func TestTheSpanOfAnAcquisitionSaysHowItEnded(t *testing.T) {
	failure := errors.New("no store")
	for _, c := range []struct {
		held    bool
		err     error
		outcome string
	}{{true, nil, "acquired"}, {false, nil, "held by another"}, {false, failure, "failed"}} {
		synctest.Test(t, func(t *testing.T) {
			n := &note{}
			m := &mock{diary: &diary{}}
			m.acquire = func(ctx context.Context) (bool, error) {
				require.Equal(t, "within", ctx.Value(n))
				m.set(c.held)
				return c.held, c.err
			}
			h := leaseholder.New(leaseholder.Config{
				System: testkit.NewSystem(t, extension.WithTracer(n)), User: "a", Singleton: "x",
				Create: func() (lease.Lease, error) { return m, nil },
			})
			h.Acquire(t.Context(), 0, m.answered)
			m.took()
			require.Equal(t, c.err, n.err)
			require.Equal(t, "lease.acquire", n.operation)
			require.Equal(t, []extension.Detail{
				{Name: "lease.name", Value: "mock"},
				{Name: "lease.holder", Value: "a"},
				{Name: "lease.outcome", Value: c.outcome},
				{Name: "singleton.name", Value: "x"},
			}, n.details)
		})
	}
}
