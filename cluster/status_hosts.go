package cluster

import (
	"cmp"
	"slices"

	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/singleton"
)

func completeByHosts(shown []statuspage.Singleton, told map[ID]figuresTold) []statuspage.Singleton {
	best := map[string]source{}
	for id, each := range told {
		for _, f := range each.Figures {
			s := source{id, f}
			if other, has := best[f.Name]; !has || s.compare(other) < 0 {
				best[f.Name] = s
			}
		}
	}
	for i := range shown {
		if s, has := best[shown[i].Name]; has {
			s.complete(&shown[i])
		}
	}
	return shown
}

type source struct {
	ID
	singletonFigures
}

// compare is negative if s knows more of the instance than o.
func (s source) compare(o source) int {
	return cmp.Or(cmp.Compare(hosting(s.Phase), hosting(o.Phase)), cmp.Compare(s.Address, o.Address), cmp.Compare(s.Incarnation, o.Incarnation))
}

func (s source) complete(shown *statuspage.Singleton) {
	noManager := shown.Phase == ""
	if noManager {
		shown.Why = s.Why
	}
	if hosting(s.Phase) == notHosting {
		shown.Nowhere = shown.Host == "" && (noManager || shown.Phase == string(singleton.Pending))
		return
	}
	if noManager {
		shown.Host = s.String()
	}
	if shown.Why == "" {
		shown.Why = s.Why
	}
	shown.CrashLoop = s.CrashLoop
	shown.AtHost = &statuspage.AtHost{
		Member: s.String(), Phase: string(s.Phase), Since: timeOrNil(s.Since),
		Starts: s.Starts, Failures: s.Failures, RestartsInARow: s.RestartsInARow,
		LastError: s.LastError, FailedAt: timeOrNil(s.FailedAt), Why: s.Why,
	}
}

func silentMembers(v View, told map[ID]figuresTold) []string {
	silent := []string{}
	for _, m := range v.Members {
		if _, has := told[m.ID()]; !has && m.Status < Down {
			silent = append(silent, m.ID().String())
		}
	}
	slices.Sort(silent)
	return silent
}
