package singleton

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/histogram"
)

type measured struct {
	handovers, outages, acquisitions, renewals histogram.Histogram
}

func (m *measured) began(asked, absent time.Duration) {
	if asked >= 0 {
		m.handovers.Observe(asked)
	}
	if absent >= 0 {
		m.outages.Observe(absent)
	}
}

func (m *measured) read() measurements {
	return measurements{
		handovers: m.handovers.Read(), outages: m.outages.Read(), acquisitions: m.acquisitions.Read(), renewals: m.renewals.Read(),
	}
}

type measurements struct {
	handovers, outages, acquisitions, renewals histogram.Snapshot
}

func families(all []Status, m measurements) []telemetry.Family {
	return slices.Concat(
		ofManagers(all),
		ofInstances(all),
		ofLeases(all),
		[]telemetry.Family{
			durations("understudy_singleton_handover_seconds", "Time from when this node began to ask the other members for permission to host until the instance took messages.", m.handovers),
			durations("understudy_singleton_outage_seconds", "Time from when the last host was lost, or the last instance ended, until the instance on this node took messages.", m.outages),
			durations("understudy_lease_acquire_seconds", "Time that attempts to acquire leases of singletons took, whatever their outcome.", m.acquisitions),
			durations("understudy_lease_renew_seconds", "Time that requests to renew leases of singletons took, whatever their outcome.", m.renewals),
		},
	)
}

// phases have a series even with value 0, so that a series does not end.
var phases = []Phase{Pending, Standby, Asking, Acquiring, Host, HandingOver, Stopping, Ended}

func ofManagers(all []Status) []telemetry.Family {
	phase := telemetry.NewGauge("understudy_singleton_phase", "1 for the phase of the manager on this node, 0 for the other phases.", "singleton", "phase")
	for _, s := range all {
		for _, p := range phases {
			phase.Add(telemetry.Bool(s.Phase == p), s.Name, string(p))
		}
	}
	return []telemetry.Family{
		phase,
		gauge("understudy_singleton_mismatch", "1 while the singleton of this node differs from the one on the other nodes, so that it takes no part.", all, func(s Status) float64 { return telemetry.Bool(s.Mismatch != "") }),
		gauge("understudy_singleton_nowhere", "1 while this node knows no member that can host the singleton.", all, func(s Status) float64 { return telemetry.Bool(s.Phase == Pending && s.Host == "" && s.Mismatch == "") }),
		gauge("understudy_singleton_held_messages", "Messages to the singleton that wait on this node.", all, func(s Status) float64 { return float64(s.Held) }),
		gauge("understudy_singleton_unacknowledged_messages", "Messages sent on this node with AtLeastOnce that no instance has acknowledged.", all, func(s Status) float64 { return float64(s.Unacknowledged) }),
		counter("understudy_singleton_given_up_messages_total", "Messages sent on this node with AtLeastOnce that were given up, as instances have failed at them.", all, func(s Status) uint64 { return s.GivenUp }),
		gauge("understudy_singleton_put_aside_messages", "Messages that were given up and that this node keeps, until they are sent again or discarded.", all, func(s Status) float64 { return float64(s.PutAside) }),
		counter("understudy_singleton_dropped_messages_total", "Messages to the singleton that had no room in the buffer of this node.", all, func(s Status) uint64 { return s.Dropped }),
	}
}

func ofInstances(all []Status) []telemetry.Family {
	return []telemetry.Family{
		gauge("understudy_singleton_hosted", "1 while the instance runs on this node.", all, func(s Status) float64 { return telemetry.Bool(s.Here) }),
		gauge("understudy_singleton_generation_term", "Term of the instance on this node, or of the last one here; 0 before the first.", all, func(s Status) float64 { return float64(s.Generation.Term) }),
		gauge("understudy_singleton_generation_seq", "Number of that instance within its term.", all, func(s Status) float64 { return float64(s.Generation.Seq) }),
		counter("understudy_singleton_starts_total", "Instances that have started on this node.", all, func(s Status) uint64 { return s.Starts }),
		counter("understudy_singleton_failures_total", "Instances that have failed on this node, while starting or later.", all, func(s Status) uint64 { return s.Failures }),
		gauge("understudy_singleton_restarts_in_a_row", "How often in a row the instance on this node has ended before it had run well.", all, func(s Status) float64 { return float64(s.RestartsInARow) }),
		gauge("understudy_singleton_crash_loop", "1 while the instance on this node ends again and again before it has run well.", all, func(s Status) float64 { return telemetry.Bool(s.CrashLoop()) }),
		gauge("understudy_singleton_stuck", "1 while the instance on this node was told to stop and does not end.", all, func(s Status) float64 { return telemetry.Bool(!s.Stuck.IsZero()) }),
	}
}

func ofLeases(all []Status) []telemetry.Family {
	leased := slices.DeleteFunc(slices.Clone(all), func(s Status) bool { return s.Lease == "" })
	return []telemetry.Family{
		gauge("understudy_singleton_lease_held", "1 while this node holds the lease of the singleton.", leased, func(s Status) float64 { return telemetry.Bool(s.LeaseHeld) }),
		counter("understudy_lease_lost_total", "How often this node has lost the lease of the singleton before it released it.", leased, func(s Status) uint64 { return s.LeaseLosses }),
	}
}

func gauge(name, help string, all []Status, value func(Status) float64) telemetry.Family {
	f := telemetry.NewGauge(name, help, "singleton")
	for _, s := range all {
		f.Add(value(s), s.Name)
	}
	return f
}

func counter(name, help string, all []Status, value func(Status) uint64) telemetry.Family {
	f := telemetry.NewCounter(name, help, "singleton")
	for _, s := range all {
		f.Add(float64(value(s)), s.Name)
	}
	return f
}

func durations(name, help string, s histogram.Snapshot) telemetry.Family {
	f := telemetry.NewHistogram(name, help)
	f.AddDurations(s.Parts())
	return f
}
