package statuspage

import "fmt"

func (d Details) ofSchedules() []Problem {
	var found []Problem
	for _, s := range d.Schedules {
		for _, e := range s.Entries {
			switch about := s.Name + "/" + e.Name; {
			case e.Problem != "":
				found = append(found, Problem{Kind: "schedule", About: about, Text: fmt.Sprintf("The entry %s has no runs: %s.", about, e.Problem)})
			case e.Last != nil && e.Last.Error != "":
				found = append(found, Problem{Kind: "schedule", About: about, Text: fmt.Sprintf("The last run of the entry %s has failed: %s.", about, e.Last.Error)})
			}
		}
	}
	return found
}
