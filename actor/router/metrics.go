package router

import (
	"reflect"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/bylabel"
	"github.com/understudy-go/understudy/internal/extension"
)

type metrics struct{ types bylabel.Map[counts] }

type counts struct {
	routees atomic.Int64
	dropped atomic.Uint64
}

func (m *metrics) families() []telemetry.Family {
	routees := telemetry.NewGauge("understudy_router_routees", "Actors to which routers send.", "message_type")
	dropped := telemetry.NewCounter("understudy_router_dropped_total", "Messages for which a router had no routee, or that it could not route.", "message_type")
	for of, c := range m.types.All() {
		routees.Add(float64(c.routees.Load()), of)
		dropped.Add(float64(c.dropped.Load()), of)
	}
	return []telemetry.Family{routees, dropped}
}

type share struct {
	*counts
	shown int
}

// The share is given back when the router ends.
func newShare[M any](ctx *actor.Context[M]) *share {
	m := extension.Ensure(ctx.System(), func() *metrics {
		m := &metrics{}
		telemetry.AddSource(ctx.System(), m.families)
		return m
	})
	s := &share{counts: m.types.Of(actorhook.ShortName(reflect.TypeFor[M]()))}
	ctx.Defer(func() { s.show(0) })
	return s
}

func (s *share) show(routees int) {
	s.routees.Add(int64(routees - s.shown))
	s.shown = routees
}
