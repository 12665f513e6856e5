// Package leasespan traces attempts to acquire leases.
package leasespan

import (
	"context"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
)

// An Attempt is what the span of an attempt says.
type Attempt struct {
	Lease     string // its text for people
	Holder    string // the address that asks for it
	Singleton string // that needs it; "" for none
}

// Acquire calls acquire, within a span if s has a tracer. The span is below the one in ctx, if any.
// A panic in acquire is returned as an error.
func Acquire(ctx context.Context, s *actor.System, a Attempt, acquire func(context.Context) (held bool, err error)) (held bool, err error) {
	within, end := extension.StartSpanWithin(ctx, s, extension.Span{
		Operation: "lease.acquire",
		Details:   func() []extension.Detail { return a.details(held, err) },
	})
	err = guard.Run(func() (err error) {
		held, err = acquire(within)
		return err
	})
	if end != nil {
		end(err)
	}
	return held, err
}

func (a Attempt) details(held bool, err error) []extension.Detail {
	all := []extension.Detail{
		{Name: "lease.name", Value: a.Lease},
		{Name: "lease.holder", Value: a.Holder},
		{Name: "lease.outcome", Value: outcome(held, err)},
	}
	if a.Singleton != "" {
		all = append(all, extension.Detail{Name: "singleton.name", Value: a.Singleton})
	}
	return all
}

func outcome(held bool, err error) string {
	switch {
	case err != nil:
		return "failed"
	case held:
		return "acquired"
	}
	return "held by another"
}
