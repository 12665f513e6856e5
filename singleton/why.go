package singleton

import (
	"fmt"
	"strings"
	"time"
)

// why says, as far as this node knows, why no instance runs; "" when nothing is known
// against it. begun reports that the instance here has started.
func (m *machine) why(begun bool) string {
	switch m.phase {
	case Pending:
		return m.whyPending()
	case Standby:
		if h, ok := m.host(); ok && !h.Reachable {
			return "its host is unreachable; it moves when that is down"
		}
	case Asking:
		return m.whyAsking()
	case Acquiring:
		return m.whyAcquiring()
	case Host:
		switch {
		case !m.alive:
			return "the instance has ended, and is about to be started again"
		case !begun:
			return "the instance is starting"
		}
	case HandingOver, Stopping:
		return m.whyStopping()
	case Ended:
		return "it has finished, and does not start again"
	}
	return ""
}

func (m *machine) whyStopping() string {
	switch {
	case m.stopping.step == stuck:
		return fmt.Sprintf("the instance here was told to stop at %s and does not end, as its handler does not return; it is given up at %s", clockTime(m.stopping.since), clockTime(m.stopping.at))
	case m.phase == HandingOver:
		return "stops, to run elsewhere"
	}
	return "stops, as this node is down or has lost the lease"
}

func (m *machine) whyPending() string {
	if m.stopping.step == givenUp {
		return fmt.Sprintf("the last instance here was told to stop at %s and does not end, as its handler does not return; nothing starts on this node until it has", clockTime(m.stopping.since))
	}
	if m.topo.Down {
		return "this node is down"
	}
	if what, whose, misfit := m.topo.misfit(m.set.signature); misfit {
		return fmt.Sprintf("it is another singleton than that of the same name on %s, and takes no part: %s", whose.ID.Address, what)
	}
	if m.highestTerm() >= maxTerm {
		return fmt.Sprintf("term %d has been used, above which there is none", m.highestTerm())
	}
	if self, member := m.topo.member(m.topo.Self); !member || !self.Up {
		return "this node is not up"
	}
	switch m.set.anchor.kind {
	case byName:
		return m.set.placement() + " is not up, or has no manager for it"
	case byFunction:
		return fmt.Sprintf("%q elects none of the members that are up and have a manager for it", m.set.anchor.node)
	case unset, byElection, byAge:
	}
	return "no member that is up has a manager for it and may host it"
}

func (m *machine) whyAsking() string {
	var names []string
	for _, id := range m.missing() {
		name := id.Address
		if p, member := m.topo.member(id); member && p.Name != "" {
			name = p.Name
		}
		if h := m.heldUpBy(id); h != nil {
			name += fmt.Sprintf(", where the instance was told to stop at %s and does not end; it is given up at %s", clockTime(h.since), clockTime(h.until))
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		return "waits for the permission of " + strings.Join(names, ", ")
	}
	if at := m.notBefore(); !at.IsZero() {
		return fmt.Sprintf("starts not before %s: a former host may still be stopping, or the last instance has failed", clockTime(at))
	}
	return "about to start"
}

func (m *machine) whyAcquiring() string {
	why := "waits for the lease, or for a term from the source of generations"
	if m.outside.obstacle != nil {
		why += fmt.Sprintf("; the last time: %v", m.outside.obstacle)
	}
	if !m.outside.retryAt.IsZero() {
		why += "; asks again at " + clockTime(m.outside.retryAt)
	}
	return why
}

func clockTime(t time.Time) string { return t.UTC().Format(time.TimeOnly + " MST") }
