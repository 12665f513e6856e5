package report

import (
	"slices"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// A Summary is a cluster in a few numbers.
type Summary struct {
	Cluster     string         `json:"cluster"`
	Node        string         `json:"node" jsonschema:"the node that was asked"`
	Status      string         `json:"status" jsonschema:"the status of that node"`
	Leader      string         `json:"leader" jsonschema:"the member that leads, empty if none does"`
	Converged   bool           `json:"converged" jsonschema:"all members are reachable and agree on the membership"`
	Members     map[string]int `json:"members" jsonschema:"how many members there are, by status"`
	Unreachable []string       `json:"unreachable" jsonschema:"the members that others do not hear from"`
	AppVersions []string       `json:"appVersions" jsonschema:"the versions of the application on members that are up"`
	Singletons  int            `json:"singletons"`
	DeadLetters uint64         `json:"deadLetters" jsonschema:"how many messages this node could not deliver"`
	Problems    []Problem      `json:"problems" jsonschema:"what is wrong, or does not move"`
}

// SummaryOf returns the summary of a snapshot.
func SummaryOf(s status.Snapshot) Summary {
	sum := Summary{
		Cluster: s.Cluster, Node: s.Self.Name, Status: s.Self.Status, Converged: s.Converged,
		Members: map[string]int{}, Unreachable: []string{}, AppVersions: slices.Clone(s.AppVersions),
		Singletons: len(s.Singletons) + s.SingletonsLeftOut,
	}
	if s.Leader != "" {
		sum.Leader = s.NameOf(s.Leader)
	}
	for _, m := range s.Members {
		sum.Members[m.Status]++
		if !m.Reachable {
			sum.Unreachable = append(sum.Unreachable, m.Name)
		}
	}
	if sum.AppVersions == nil {
		sum.AppVersions = []string{}
	}
	for _, n := range s.DeadLetters {
		sum.DeadLetters += n
	}
	why, _ := WhyOf(s, "") // no name, no error
	sum.Problems = why.Problems
	return sum
}
