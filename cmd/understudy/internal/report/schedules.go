package report

import (
	"fmt"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Schedules are the schedules that a node has started, by name.
type Schedules struct {
	Schedules []status.Schedule `json:"schedules"`
}

// SchedulesOf returns the schedules of a node: only the one of that name, unless it is "".
func SchedulesOf(d status.Details, name string) (Schedules, error) {
	all := Schedules{Schedules: []status.Schedule{}}
	for _, s := range d.Schedules {
		if name == "" || name == s.Name {
			s.Entries = append([]status.Entry{}, s.Entries...) // not null in JSON
			all.Schedules = append(all.Schedules, s)
		}
	}
	if name != "" && len(all.Schedules) == 0 {
		return all, fmt.Errorf("the node has started no schedule %q", name)
	}
	return all, nil
}
