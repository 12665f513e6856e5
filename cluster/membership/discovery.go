package membership

import (
	"maps"
	"slices"
	"time"
)

// A discovery is what has been found by the user's discovery.
type discovery struct {
	*core
	addresses []string             // the latest, sorted
	first     time.Time            // when anything was found for the first time, be it nothing
	since     time.Time            // how long the latest have been the same
	at        time.Time            // when they were found
	last      map[string]time.Time // when each address was found last
	due       time.Time            // when to ask again
	busy      bool                 // discovery has been asked and has not answered
}

// wanted returns where nodes should be: the seeds, and what discovery finds.
func (d *discovery) wanted() []string { return slices.Concat(d.set.Seeds, d.addresses) }

// discoverWhenDue asks discovery: often while this node seeks a cluster, and seldom later, so
// that a cluster that was founded elsewhere is met.
func (d *discovery) discoverWhenDue() {
	if !d.set.Discovers || d.busy || d.now.Before(d.due) {
		return
	}
	pause := discoverSeldom
	if d.phase == phaseJoining {
		pause = discoverAgain
	}
	d.busy, d.due = true, d.now.Add(pause)
	d.do(Discover{})
}

// found takes over what discovery has found, and returns what was found before. An error says nothing: what was found before
// counts for a while.
func (d *discovery) found(ev Found) (before []string, ok bool) {
	d.busy = false
	if ev.Failed {
		return nil, false
	}
	addresses := slices.Compact(slices.Sorted(slices.Values(ev.Addresses)))
	before = d.addresses
	if d.first.IsZero() {
		d.first, d.since = d.now, d.now
	}
	if !slices.Equal(addresses, before) {
		d.addresses, d.since = addresses, d.now
	}
	d.at = d.now
	maps.DeleteFunc(d.last, func(_ string, last time.Time) bool { return d.now.Sub(last) > vanishAfter })
	for _, address := range addresses {
		d.last[address] = d.now
	}
	return before, true
}
