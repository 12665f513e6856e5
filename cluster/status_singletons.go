package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/singletonhook"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/singleton"
)

// shownSingletons returns the singletons that have a manager here, and those that only other
// members have managers of, sorted by name.
func shownSingletons(v View, here []singleton.Status, known []singletonhook.Known) []statuspage.Singleton {
	all := map[string]statuspage.Singleton{}
	for _, k := range known {
		all[k.Name] = statuspage.Singleton{Name: k.Name, Why: "this node has no manager for it, so it does not know"}
	}
	for _, s := range here {
		all[s.Name] = shownSingleton(v, s)
	}
	for _, k := range known {
		s := all[k.Name]
		s.Term, s.Fenced = k.Record.Term, k.Record.Fenced
		for _, id := range k.Managers {
			s.Managers = append(s.Managers, remote.NodeID{Address: id.Address, Incarnation: id.Incarnation}.String())
		}
		slices.Sort(s.Managers)
		all[k.Name] = s
	}
	shown := []statuspage.Singleton{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		s.Managers, s.WaitingFor = list(s.Managers), list(s.WaitingFor)
		shown = append(shown, s)
	}
	return shown
}

func shownSingleton(v View, s singleton.Status) statuspage.Singleton {
	shown := statuspage.Singleton{
		Name:  s.Name,
		Phase: string(s.Phase),
		Since: timeOrNil(s.Since),
		Here:  s.Here,
		Held:  s.Held,
		Why:   s.Why,

		Dropped: s.Dropped, Unacknowledged: s.Unacknowledged, Starts: s.Starts, Failures: s.Failures,
		Placement: s.Placement, Lease: s.Lease, LeaseHeld: s.LeaseHeld, Mismatch: s.Mismatch,
	}
	if s.Phase == singleton.Pending && v.Self.Status != Up {
		shown.Why = "this node is " + statusInWords(v.Self.Status)
	}
	if s.Obstacle != nil {
		shown.Obstacle = guard.Text(s.Obstacle)
	}
	if s.Host != "" {
		shown.Host = idAt(v, s.Host)
	}
	if s.Generation.Term != 0 {
		shown.Generation = s.Generation.String()
	}
	for _, address := range s.WaitingFor {
		shown.WaitingFor = append(shown.WaitingFor, idAt(v, address))
	}
	shown.NotBefore = timeOrNil(s.NotBefore)
	return shown
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
