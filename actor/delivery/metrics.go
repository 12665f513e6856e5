package delivery

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
	unconfirmed, receivers   atomic.Int64
	resent, refused, givenUp atomic.Uint64
}

func countsOf[M any](s *actor.System) *counts {
	m := extension.Ensure(s, func() *metrics {
		m := &metrics{}
		telemetry.AddSource(s, m.families)
		return m
	})
	return m.types.Of(actorhook.ShortName(reflect.TypeFor[M]()))
}

func (m *metrics) families() []telemetry.Family {
	unconfirmed := telemetry.NewGauge("understudy_delivery_unconfirmed", "Messages and parts of messages that producers keep because they are not confirmed.", "message_type")
	receivers := telemetry.NewGauge("understudy_delivery_receivers", "Receivers that producers by id remember.", "message_type")
	resent := telemetry.NewCounter("understudy_delivery_resent_total", "Messages and parts of messages that producers have sent again.", "message_type")
	refused := telemetry.NewCounter("understudy_delivery_refused_total", "Messages of producers that no worker will handle.", "message_type")
	givenUp := telemetry.NewCounter("understudy_delivery_given_up_total", "Messages that consumers have given up because the worker has failed too often.", "message_type")
	for of, c := range m.types.All() {
		unconfirmed.Add(float64(c.unconfirmed.Load()), of)
		receivers.Add(float64(c.receivers.Load()), of)
		resent.Add(float64(c.resent.Load()), of)
		refused.Add(float64(c.refused.Load()), of)
		givenUp.Add(float64(c.givenUp.Load()), of)
	}
	return []telemetry.Family{unconfirmed, receivers, resent, refused, givenUp}
}

// A share is what one producer adds to the unconfirmed messages of its type.
type share struct {
	*counts
	shown int64
	known int64 // receivers
}

func (s *share) show(n, receivers int) {
	if more := int64(receivers) - s.known; more != 0 {
		s.receivers.Add(more)
		s.known = int64(receivers)
	}
	if more := int64(n) - s.shown; more != 0 {
		s.unconfirmed.Add(more)
		s.shown = int64(n)
	}
}

func (s *storage[M]) kept() int { return s.fresh.Len() + s.revived.Len() + len(s.storing) }

func (all connections[M]) kept() (n int) {
	for _, l := range all {
		n += l.Len()
	}
	return n
}
