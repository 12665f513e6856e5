package leaseholder

import (
	"context"

	"github.com/understudy-go/understudy/internal/extension"
)

// traced acquires the lease, within a span if the system has a tracer. The span is below the one in
// ctx, if any.
func (h *Holder) traced(ctx context.Context, l *guarded, floor uint64) (a Answer) {
	within, end := extension.StartSpanWithin(ctx, h.cfg.System, extension.Span{
		Operation: "lease.acquire",
		Details: func() []extension.Detail {
			all := []extension.Detail{
				{Name: "lease.name", Value: Name(l.of)},
				{Name: "lease.holder", Value: h.cfg.User},
				{Name: "lease.outcome", Value: a.outcome()},
			}
			if h.cfg.Singleton != "" {
				all = append(all, extension.Detail{Name: "singleton.name", Value: h.cfg.Singleton})
			}
			return all
		},
	})
	a = l.acquire(within, floor)
	if end != nil {
		end(a.Err)
	}
	return a
}

func (a Answer) outcome() string {
	switch {
	case a.Err != nil:
		return "failed"
	case a.Held:
		return "acquired"
	}
	return "held by another"
}
