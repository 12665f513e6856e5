package receptionist

import "github.com/understudy-go/understudy/actor/telemetry"

func (o *receptionist) families() []telemetry.Family {
	services, here, elsewhere := o.sizes()
	known := telemetry.NewGauge("understudy_services", "Services and topics that have an instance on any node.").With(float64(services))
	instances := telemetry.NewGauge("understudy_service_instances", "Registrations of actors as instances of services, on this node and on others.", "place").
		With(float64(here), "here").With(float64(elsewhere), "elsewhere")
	return []telemetry.Family{known, instances}
}

func (o *receptionist) sizes() (services, here, elsewhere int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.registry.peers {
		elsewhere += len(p.entries)
	}
	return len(o.registry.services), len(o.registry.own.entries), elsewhere
}
