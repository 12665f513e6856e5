package membership

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// finds are what discovery has found.
type finds struct {
	addresses []string             // the latest, sorted
	first     time.Time            // when anything was found for the first time, be it nothing
	since     time.Time            // how long the latest have been the same
	at        time.Time            // when they were found
	last      map[string]time.Time // when each address was found last
	due       time.Time            // when to ask again
	busy      bool                 // discovery has been asked and has not answered
}

// findWhenDue asks discovery: often while this node seeks a cluster, and seldom later, so
// that a cluster that was founded elsewhere is met.
func (m *Machine) findWhenDue() {
	if !m.set.Discovers || m.finds.busy || m.now.Before(m.finds.due) {
		return
	}
	pause := findSeldom
	if m.phase == seeking {
		pause = findAgain
	}
	m.finds.busy, m.finds.due = true, m.now.Add(pause)
	m.do(Discover{})
}

// found takes over what discovery has found. An error says nothing: what was found before
// counts for a while.
func (m *Machine) found(ev Found) {
	f := &m.finds
	f.busy = false
	if ev.Failed {
		return
	}
	addresses := slices.Compact(slices.Sorted(slices.Values(ev.Addresses)))
	before := f.addresses
	if f.first.IsZero() {
		f.first, f.since = m.now, m.now
	}
	if !slices.Equal(addresses, before) {
		f.addresses, f.since = addresses, m.now
	}
	f.at = m.now
	maps.DeleteFunc(f.last, func(_ string, last time.Time) bool { return m.now.Sub(last) > vanishAfter })
	for _, address := range addresses {
		f.last[address] = m.now
	}
	if m.phase == seeking {
		m.askNew(before)
		m.foundWhenAlone()
	}
}

// askNew asks at once those who were not found before.
func (m *Machine) askNew(before []string) {
	n := 0
	for _, address := range m.targets() {
		_, old := slices.BinarySearch(before, address)
		if !old && slices.Contains(m.finds.addresses, address) && n < askAtOnce {
			m.askOne(address)
			n++
		}
	}
}

// tooLittleFound says why what discovery finds is not enough to found a cluster on; it is
// empty if it is.
func (m *Machine) tooLittleFound() string {
	f := m.finds
	switch n := m.nodesFound(); {
	case f.first.IsZero():
		return "discovery has not answered yet"
	case m.now.Sub(f.at) > findHolds:
		return "discovery has not answered lately"
	case n < m.set.MinSeeds:
		return fmt.Sprintf("discovery has found %d of at least %d nodes (Config.MinSeeds)", n, m.set.MinSeeds)
	case m.now.Sub(f.since) < findStable:
		return "what discovery finds has changed just now"
	}
	return ""
}

// nodesFound counts who is known to be there, this node included. Who has been found under
// several addresses, and has answered, counts once.
func (m *Machine) nodesFound() int {
	nodes := map[string]bool{}
	for _, address := range m.wanted() {
		switch name, known := m.questions.names[address]; {
		case m.isSelf(address):
			nodes[m.self.Address] = true
		case known:
			nodes[name] = true
		default:
			nodes[address] = true
		}
	}
	return len(nodes)
}
