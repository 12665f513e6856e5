package router

import (
	"fmt"
	"math/rand/v2"

	"github.com/understudy-go/understudy/internal/guard"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

type logic[M any] interface {
	// The order of the routees is stable.
	change(routees []actor.ActorRef[M])
	// There is at least one routee.
	route(d extension.Described[M])
}

// route calls functions of options. If one of them panics, msg becomes a dead letter with that
// reason, and the router continues.
func orDrop[M any](ctx *actor.Context[M], counted *share, msg M, route func()) {
	if err := guard.Do(route); err != nil {
		counted.dropped.Add(1)
		extension.DeadLetter(ctx.System(), ctx.Self().String(), msg, fmt.Errorf("router: a function of an option: %w", err))
	}
}

type roundRobin[M any] struct {
	routees []actor.ActorRef[M]
	next    int
}

func (r *roundRobin[M]) change(routees []actor.ActorRef[M]) { r.routees = routees }

func (r *roundRobin[M]) route(d extension.Described[M]) {
	if r.next >= len(r.routees) {
		r.next = 0
	}
	to := r.routees[r.next]
	r.next++
	d.To(to)
}

type random[M any] struct{ routees []actor.ActorRef[M] }

func (r *random[M]) change(routees []actor.ActorRef[M]) { r.routees = routees }

func (r *random[M]) route(d extension.Described[M]) {
	d.To(r.routees[rand.IntN(len(r.routees))]) //nolint:gosec // need not be secret
}

type hashing[M any] struct {
	key  func(M) string
	ring ring[M]
}

func (h *hashing[M]) change(routees []actor.ActorRef[M]) { h.ring = newRing(routees) }

func (h *hashing[M]) route(d extension.Described[M]) { d.To(h.ring.of(h.key(d.Message))) }
