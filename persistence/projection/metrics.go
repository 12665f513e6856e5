package projection

import (
	"time"

	"github.com/understudy-go/understudy/actor/telemetry"
)

// figures are the numbers of a projection, over all workers.
type figures struct {
	lag                        time.Duration
	handled, skipped, failures uint64
	stalled, held              int // workers, and persistence ids
}

// add adds the numbers of a worker. The lag is the longest.
func (f *figures) add(r *report, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.behind.IsZero() {
		f.lag = max(f.lag, now.Sub(r.behind))
	}
	f.handled += r.status.Handled
	f.skipped += r.status.Skipped
	f.failures += r.failures
	f.held += len(r.status.Held)
	if r.status.Failures > 0 {
		f.stalled++
	}
}

// families implements [telemetry.Source].
func (c *coordinator[E]) families() []telemetry.Family {
	var f figures
	now := time.Now()
	for _, w := range c.workers {
		f.add(&w.report, now)
	}
	single := func(name, help string, t telemetry.Type, value float64) telemetry.Family {
		all := telemetry.Family{Name: name, Help: help, Type: t, Labels: []string{"projection"}}
		all.Add(value, c.name)
		return all
	}
	return []telemetry.Family{
		single("understudy_projection_lag_seconds", "How far a projection is behind its journal, 0 when it has caught up.", telemetry.Gauge, f.lag.Seconds()),
		single("understudy_projection_events_total", "Events that a projection has handled.", telemetry.Counter, float64(f.handled)),
		single("understudy_projection_skipped_events_total", "Events that a projection has skipped, and lacks.", telemetry.Counter, float64(f.skipped)),
		single("understudy_projection_failures_total", "Failures of the workers of a projection, which try again.", telemetry.Counter, float64(f.failures)),
		single("understudy_projection_stalled", "Workers of a projection that have failed, and have not caught up since.", telemetry.Gauge, float64(f.stalled)),
		single("understudy_projection_held_ids", "Persistence ids whose events a projection holds back, because it cannot decode one.", telemetry.Gauge, float64(f.held)),
	}
}
