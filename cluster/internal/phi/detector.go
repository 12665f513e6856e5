package phi

import "time"

// A Detector judges one subject by its heartbeats. The times that the caller passes must not go
// back. The detector treats an earlier time as if no time had passed.
type Detector struct {
	settings  Settings
	limit     float64 // deviations at the threshold
	intervals window
	last      time.Time // the last heartbeat or Forgive; zero before the first
}

// New returns a detector that has not received a heartbeat. The settings must be valid.
func New(s Settings) *Detector {
	return &Detector{settings: s, limit: deviations(s.Threshold), intervals: newWindow(s.Samples)}
}

// Heartbeat records that a heartbeat arrived. The detector learns the interval since the
// previous one, unless the subject had become unavailable in between: the length of an outage
// says nothing about the normal interval.
func (d *Detector) Heartbeat(now time.Time) {
	switch {
	case d.last.IsZero():
		d.assume(d.settings.FirstInterval)
	case now.Before(d.last):
		return
	case d.Available(now):
		d.intervals.add(now.Sub(d.last))
	}
	d.last = now
}

// assume adds two samples around an estimate. Their standard deviation is a quarter of the
// estimate.
func (d *Detector) assume(interval time.Duration) {
	d.intervals.add(interval - interval/4)
	d.intervals.add(interval + interval/4)
}

// Expect records that a first heartbeat should have arrived by now. Without this call a subject
// that never sends a heartbeat would never be suspected. Expect does nothing after the first
// heartbeat.
func (d *Detector) Expect(now time.Time) {
	if d.last.IsZero() {
		d.Heartbeat(now)
	}
}

// Forgive restarts the silence at now, without learning an interval. Call it when the observer
// itself was paused and cannot tell which heartbeats arrived in the meantime.
func (d *Detector) Forgive(now time.Time) {
	if !d.last.IsZero() && now.After(d.last) {
		d.last = now
	}
}

// Phi returns the suspicion at now: 0 before the first heartbeat, then a finite value that
// grows with the silence.
func (d *Detector) Phi(now time.Time) float64 {
	if d.last.IsZero() {
		return 0
	}
	return suspicion(d.late(now) / d.deviation())
}

// late returns by how much the silence exceeds the expected interval and the pause, in units.
// The result may be negative.
func (d *Detector) late(now time.Time) float64 {
	silence := float64(max(now.Sub(d.last), 0)) / float64(unit)
	return silence - d.intervals.mean() - float64(d.settings.Pause)/float64(unit)
}

func (d *Detector) deviation() float64 {
	return max(d.intervals.stdDev(), float64(d.settings.MinStdDev)/float64(unit))
}

// Available reports whether phi is below the threshold. A subject that has never sent a
// heartbeat is available. Available is called with every heartbeat, so it compares deviations
// instead of computing the logarithm of phi.
func (d *Detector) Available(now time.Time) bool {
	if d.last.IsZero() {
		return true
	}
	late := d.late(now)
	return late <= 0 && d.limit > 0 || late < d.limit*d.deviation()
}
