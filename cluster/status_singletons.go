package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/singleton"
)

// singletons are those that have a manager here, and those that only other members have
// one for, by name.
func (v View) singletons(here []singleton.Status) []statuspage.Singleton {
	managers := map[string][]string{}
	for _, m := range v.Members {
		for _, name := range v.rows[m.ID()].Offers {
			managers[name] = append(managers[name], m.ID().String())
		}
	}
	all := map[string]statuspage.Singleton{}
	for name := range managers {
		all[name] = statuspage.Singleton{Name: name, Why: "this node has no manager for it, so it does not know"}
	}
	for _, s := range here {
		all[s.Name] = v.singleton(s)
	}
	shown := []statuspage.Singleton{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		s.Term, s.Fenced = v.records[name].Term, v.records[name].Fenced
		s.Managers, s.WaitingFor = list(managers[name]), list(s.WaitingFor)
		shown = append(shown, s)
	}
	return shown
}

// singleton is one that has a manager here.
func (v View) singleton(s singleton.Status) statuspage.Singleton {
	shown := statuspage.Singleton{
		Name:  s.Name,
		Phase: string(s.Phase),
		Since: timeOrNil(s.Since),
		Here:  s.Here,
		Held:  s.Held,
		Why:   v.whyNotRunning(s),
	}
	if s.Host != "" {
		shown.Host = v.idAt(s.Host)
	}
	if s.Generation != (singleton.Generation{}) {
		shown.Generation = s.Generation.String()
	}
	for _, address := range s.WaitingFor {
		shown.WaitingFor = append(shown.WaitingFor, v.idAt(address))
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

// whyNotRunning says what a singleton waits for, as far as this node knows.
func (v View) whyNotRunning(s singleton.Status) string {
	switch s.Phase {
	case singleton.Pending:
		if v.Self.Status != Up {
			return "this node is " + statusInWords(v.Self.Status)
		}
		return "no member that is up has a manager for it and the role that it asks for"
	case singleton.Standby:
		i := slices.IndexFunc(v.Members, func(m Member) bool { return m.Address == s.Host })
		if i >= 0 && !v.Reachable(v.Members[i]) {
			return "its host is unreachable; it moves when that is down"
		}
	case singleton.Asking:
		if len(s.WaitingFor) > 0 {
			return "waits for the permission of " + strings.Join(v.namesAt(s.WaitingFor), ", ")
		}
		if !s.NotBefore.IsZero() {
			return fmt.Sprintf("starts not before %s: a former host may still be stopping, or the last instance has failed", s.NotBefore.UTC().Format(time.TimeOnly+" MST"))
		}
		return "about to start"
	case singleton.Host:
		if !s.Here {
			return "the instance has ended, and is about to be started again"
		}
	case singleton.HandingOver:
		return "stops, to run elsewhere"
	case singleton.Stopping:
		return "stops, as this node is down"
	}
	return ""
}

// namesAt returns the names of the members at addresses.
func (v View) namesAt(addresses []string) []string {
	var names []string
	for _, address := range addresses {
		name := address
		for _, m := range v.Members {
			if m.Address == address {
				name = m.Name
			}
		}
		names = append(names, name)
	}
	return names
}
