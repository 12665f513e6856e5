package projection

import (
	"time"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/storestatus"
)

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

func (c *coordinator[E]) figures() (f figures) {
	now := time.Now()
	for _, w := range c.workers {
		f.add(&w.report, now)
	}
	return f
}

func (c *coordinator[E]) shown() storestatus.Projection {
	f := c.figures()
	return storestatus.Projection{
		Name: c.name, Lag: f.lag.Seconds(), Events: f.handled, Skipped: f.skipped, Failures: f.failures,
		Stalled: f.stalled, Held: f.held, Failure: c.status(c.workers).Failing(),
	}
}

func (c *coordinator[E]) families() []telemetry.Family {
	f := c.figures()
	return []telemetry.Family{
		telemetry.NewGauge("understudy_projection_lag_seconds", "How far a projection is behind its journal, 0 when it has caught up.", "projection").With(f.lag.Seconds(), c.name),
		telemetry.NewCounter("understudy_projection_events_total", "Events that a projection has handled.", "projection").With(float64(f.handled), c.name),
		telemetry.NewCounter("understudy_projection_skipped_events_total", "Events that a projection has skipped, and lacks.", "projection").With(float64(f.skipped), c.name),
		telemetry.NewCounter("understudy_projection_failures_total", "Failures of the workers of a projection, which try again.", "projection").With(float64(f.failures), c.name),
		telemetry.NewGauge("understudy_projection_stalled", "Workers of a projection that have failed, and have not caught up since.", "projection").With(float64(f.stalled), c.name),
		telemetry.NewGauge("understudy_projection_held_ids", "Persistence ids whose events a projection holds back, because it cannot decode one.", "projection").With(float64(f.held), c.name),
	}
}
