package report

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// A Summary is a cluster in a few numbers.
type Summary struct {
	Cluster     string           `json:"cluster"`
	Node        string           `json:"node" jsonschema:"the node that was asked"`
	Status      string           `json:"status" jsonschema:"the status of that node"`
	Leader      string           `json:"leader" jsonschema:"the member that leads, empty if none does"`
	Converged   bool             `json:"converged" jsonschema:"all members are reachable and agree on the membership"`
	Members     map[string]int   `json:"members" jsonschema:"how many members there are, by status"`
	Unreachable []string         `json:"unreachable" jsonschema:"the members that others do not hear from"`
	AppVersions []string         `json:"appVersions" jsonschema:"the versions of the application on members that are up"`
	Singletons  int              `json:"singletons"`
	DeadLetters uint64           `json:"deadLetters" jsonschema:"how many messages this node could not deliver"`
	Links       map[string]int   `json:"links" jsonschema:"how many other nodes this node exchanges messages with, by state of the connection"`
	Journals    []JournalUse     `json:"journals" jsonschema:"the journals that persistent actors of this node use"`
	Placed      map[string]int   `json:"placed" jsonschema:"how many actors placement keeps, by state; empty if the node does not know"`
	Backlogs    []status.Backlog `json:"backlogs" jsonschema:"the actors of the cluster that are most behind, first; at most ten"`
	Problems    []Problem        `json:"problems" jsonschema:"what is wrong, or does not move"`
}

// A JournalUse is what persistent actors of a node have done with the journals of one store since
// the node started.
type JournalUse struct {
	Journal string `json:"journal" jsonschema:"the package of the store"`
	Appends uint64 `json:"appends"`
	Errors  uint64 `json:"errors" jsonschema:"calls that have failed, without fenced writes"`
	Fenced  uint64 `json:"fenced" jsonschema:"writes that were refused because a newer writer has claimed the id"`
}

// SummaryOf returns the summary of what a node has answered.
func SummaryOf(s status.Snapshot, a status.Actors, d status.Details) Summary {
	sum := Summary{
		Cluster: s.Cluster, Node: s.Self.Name, Status: s.Self.Status, Converged: s.Converged,
		Members: map[string]int{}, Unreachable: []string{}, AppVersions: slices.Clone(s.AppVersions),
		Singletons: len(s.Singletons) + s.SingletonsLeftOut, Links: map[string]int{}, Journals: []JournalUse{}, Placed: map[string]int{},
		Backlogs: append([]status.Backlog{}, a.Backlogs...),
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
	sum.addDetails(d)
	why, _ := WhyOf(s, a, "") // no name, no error
	sum.Problems = why.Problems
	return sum
}

func (sum *Summary) addDetails(d status.Details) {
	for _, link := range d.Links {
		sum.Links[link.State]++
	}
	if d.LinksLeft > 0 {
		sum.Links["not listed"] = d.LinksLeft
	}
	for _, j := range d.Journals {
		use := JournalUse{Journal: j.Name, Appends: j.Appends.Count, Fenced: j.Errors["fenced"]}
		for kind, n := range j.Errors {
			if kind != "fenced" {
				use.Errors += n
			}
		}
		sum.Journals = append(sum.Journals, use)
	}
	if d.Placement != nil {
		maps.Copy(sum.Placed, d.Placement.States)
	}
}
