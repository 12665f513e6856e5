package persistence

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/bylabel"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/histogram"
	"github.com/understudy-go/understudy/internal/permits"
	"github.com/understudy-go/understudy/internal/status"
)

type metrics struct {
	journals bylabel.Map[journalMetrics] // by the name of the store

	recoveries      histogram.Histogram
	failed, waiting atomic.Int64  // recoveries
	recovered       atomic.Uint64 // events

	snapshotsSaved, snapshotsFailed atomic.Uint64

	lateness histogram.Histogram // of timers, at their first attempts
	repeated atomic.Uint64       // attempts of timers after the first
}

// metricsOf returns the metrics of s, which its telemetry and its status page show from now on.
func metricsOf(s *actor.System) *metrics {
	return extension.Ensure(s, func() *metrics {
		m := &metrics{}
		telemetry.AddSource(s, m.families)
		status.AddSection(s, status.Section{Level: status.Stores, Read: m.section})
		return m
	})
}

func (m *metrics) wait(ctx context.Context, p *permits.Permits) error {
	if p.Try() {
		return nil
	}
	m.waiting.Add(1)
	defer m.waiting.Add(-1)
	return p.Acquire(ctx, permits.ClassOf(ctx))
}

func (m *metrics) restored(begun time.Time, events uint64) {
	m.recoveries.Observe(time.Since(begun))
	m.recovered.Add(events)
}

func (m *metrics) snapshot(err error) {
	if err != nil {
		m.snapshotsFailed.Add(1)
		return
	}
	m.snapshotsSaved.Add(1)
}

func (m *metrics) fired(late time.Duration, attempt uint64) {
	if attempt > 1 {
		m.repeated.Add(1)
		return
	}
	m.lateness.Observe(max(late, 0))
}

func (m *metrics) families() []telemetry.Family {
	recoveries := telemetry.NewHistogram("understudy_recovery_seconds", "Recoveries of persistent actors, with the wait for other recoveries.")
	recoveries.AddDurations(m.recoveries.Read().Parts())
	lateness := telemetry.NewHistogram("understudy_stored_timer_lateness_seconds", "How long after their time the stored timers of persistent actors have fired, at their first attempts.")
	lateness.AddDurations(m.lateness.Read().Parts())
	return append([]telemetry.Family{
		recoveries, lateness,
		telemetry.NewCounter("understudy_stored_timer_repetitions_total", "Attempts to deliver the message of a stored timer after the first one.").With(float64(m.repeated.Load())),
		telemetry.NewCounter("understudy_recovery_failures_total", "Recoveries of persistent actors that have failed or were stopped.").With(float64(m.failed.Load())),
		telemetry.NewGauge("understudy_recoveries_waiting", "Recoveries that wait because too many others are under way.").With(float64(m.waiting.Load())),
		telemetry.NewCounter("understudy_recovered_events_total", "Events that recoveries have replayed.").With(float64(m.recovered.Load())),
		telemetry.NewCounter("understudy_snapshots_saved_total", "Snapshots that have been saved.").With(float64(m.snapshotsSaved.Load())),
		telemetry.NewCounter("understudy_snapshot_failures_total", "Snapshots that could not be saved.").With(float64(m.snapshotsFailed.Load())),
	}, m.journalFamilies()...)
}
