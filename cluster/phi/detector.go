package phi

import "time"

// A Detector judges one subject by its heartbeats. Times that are passed to it must not
// go back; one that does is taken as no time passed.
type Detector struct {
	settings  Settings
	limit     float64 // deviations at the threshold
	intervals window
	last      time.Time // of the last heartbeat, or when it was forgiven; zero before the first
}

// New returns a detector that has heard nothing yet. The settings must be valid.
func New(s Settings) *Detector {
	return &Detector{settings: s, limit: deviations(s.Threshold), intervals: newWindow(s.Samples)}
}

// Heartbeat says that one arrived. The interval since the one before is learnt, unless
// the subject had been given up in between: an outage is not a rhythm.
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

// assume begins with two samples around an estimate, with a generous deviation.
func (d *Detector) assume(interval time.Duration) {
	d.intervals.add(interval - interval/4)
	d.intervals.add(interval + interval/4)
}

// Expect says that a first heartbeat should have come by now. Without it a subject that
// never speaks would never be suspected. It does nothing once one has come.
func (d *Detector) Expect(now time.Time) {
	if d.last.IsZero() {
		d.Heartbeat(now)
	}
}

// Forgive starts the silence anew without learning from it: the observer itself has been
// asleep and cannot tell who spoke in the meantime.
func (d *Detector) Forgive(now time.Time) {
	if !d.last.IsZero() && now.After(d.last) {
		d.last = now
	}
}

// Phi returns the suspicion at a time: 0 before the first heartbeat, then growing with
// the silence, always finite.
func (d *Detector) Phi(now time.Time) float64 {
	if d.last.IsZero() {
		return 0
	}
	return suspicion(d.late(now) / d.deviation())
}

// late is by how much the silence exceeds what is expected, in units; it may be negative.
func (d *Detector) late(now time.Time) float64 {
	silence := float64(max(now.Sub(d.last), 0)) / float64(unit)
	return silence - d.intervals.mean() - float64(d.settings.Pause)/float64(unit)
}

func (d *Detector) deviation() float64 {
	return max(d.intervals.stdDev(), float64(d.settings.MinStdDev)/float64(unit))
}

// Available reports whether phi is below the threshold. Who has never been heard is
// available. As it is asked with every heartbeat, it does not compute phi, but compares
// before the logarithm.
func (d *Detector) Available(now time.Time) bool {
	if d.last.IsZero() {
		return true
	}
	late := d.late(now)
	return late <= 0 && d.limit > 0 || late < d.limit*d.deviation()
}
