package router

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/bylabel"
)

// metrics has what a system counts of its routers, by the type of messages.
type metrics struct {
	source sync.Once
	types  bylabel.Map[counts]
}

// counts are the numbers of all routers of one type of messages.
type counts struct {
	routees atomic.Int64
	dropped atomic.Uint64
}

// families implements [telemetry.Source].
func (m *metrics) families() []telemetry.Family {
	label := []string{"message_type"}
	routees := telemetry.Family{Name: "understudy_router_routees", Help: "Actors to which routers send.", Type: telemetry.Gauge, Labels: label}
	dropped := telemetry.Family{Name: "understudy_router_dropped_total", Help: "Messages for which a router had no routee, or that it could not route.", Type: telemetry.Counter, Labels: label}
	for of, c := range m.types.All() {
		routees.Add(float64(c.routees.Load()), of)
		dropped.Add(float64(c.dropped.Load()), of)
	}
	return []telemetry.Family{routees, dropped}
}

// A share is what one router adds to the counts of its type.
type share struct {
	*counts
	shown int
}

// newShare returns the share of a router, which it gives back when it ends.
func newShare[M any](ctx *actor.Context[M]) *share {
	m := extension.Ensure(ctx.System(), func() *metrics { return &metrics{} })
	m.source.Do(func() { telemetry.AddSource(ctx.System(), m.families) })
	s := &share{counts: m.types.Of(reflect.TypeFor[M]().String())}
	ctx.Defer(func() { s.show(0) })
	return s
}

// show sets the routees of the router.
func (s *share) show(routees int) {
	s.routees.Add(int64(routees - s.shown))
	s.shown = routees
}
