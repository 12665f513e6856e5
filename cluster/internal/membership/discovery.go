package membership

import (
	"maps"
	"slices"
	"time"
)

type discovery struct {
	*core
	addresses []string             // the latest answer, sorted
	first     time.Time            // when discovery first answered, even with no address
	since     time.Time            // since when the answer has been the same
	at        time.Time            // when discovery last answered
	last      map[string]time.Time // when each address was found last
	due       time.Time            // when to ask again
	busy      bool                 // discovery has been called and has not answered
}

func (d *discovery) wanted() []string { return slices.Concat(d.set.Seeds, d.addresses) }

// discoverWhenDue calls discovery: every second while this node looks for a cluster, and every
// 30 s later, so that it meets a cluster that was founded elsewhere.
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

// found stores the addresses that discovery has found, and returns the previous ones. It
// ignores an error: the previous addresses stay valid for discoveryHolds.
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
