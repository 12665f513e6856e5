package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Safe says whether a node may be restarted now.
type Safe struct {
	Safe    bool     `json:"safe"`
	Node    string   `json:"node"`
	Reasons []string `json:"reasons" jsonschema:"why it is not safe, in sentences"`
	Notes   []string `json:"notes" jsonschema:"what else to know, which does not make it unsafe"`
}

// SafeOf says whether the node that gave a snapshot may be restarted now: nothing is wrong, no
// other member is on its way in or out, and what runs on it can run elsewhere.
func SafeOf(s status.Snapshot, d status.Details) Safe { return safeOf(s, d, nil) }

func safeOf(s status.Snapshot, d status.Details, others []answer) Safe {
	safe := Safe{Node: s.Self.Name, Reasons: []string{}, Notes: notes(s)}
	why, _ := WhyOf(s, status.Actors{}, "") // no name, no error
	for _, p := range why.Problems {
		if p.Kind != Workflow {
			safe.Reasons = append(safe.Reasons, p.Text)
		}
	}
	safe.Reasons = append(safe.Reasons, ofOthers(s)...)
	for _, one := range s.Singletons {
		safe.Reasons = append(safe.Reasons, unsafe(s, one)...)
	}
	reasons, notes := unsafeEntities(s, d, others)
	safe.Reasons, safe.Notes = append(safe.Reasons, reasons...), append(safe.Notes, notes...)
	safe.Safe = len(safe.Reasons) == 0
	return safe
}

func ofOthers(s status.Snapshot) []string {
	var reasons []string
	up := 0
	for _, m := range s.Members {
		if m.ID == s.Self.ID {
			continue
		}
		switch m.Status {
		case "up":
			up++
		case "joining", "leaving", "exiting":
			reasons = append(reasons, fmt.Sprintf("%s is %s.", m.Name, m.Status))
		}
	}
	if up == 0 && s.Self.Status == "up" {
		reasons = append(reasons, "No other member is up: what runs here is away until this node is back.")
	}
	if !s.Converged && !slices.ContainsFunc(s.Ready, func(c status.Check) bool { return !c.OK }) && s.Self.Status == "up" {
		reasons = append(reasons, "The members do not agree on the membership.")
	}
	return reasons
}

func unsafe(s status.Snapshot, one status.Singleton) []string {
	var reasons []string
	if one.Here && !movable(s, one) {
		cause := "no other member that is up and reachable has a manager for it"
		if slices.ContainsFunc(s.Members, func(m status.Member) bool { return isReady(s, m) && slices.Contains(one.Managers, m.ID) }) {
			cause = "its place is " + one.Placement
		}
		reasons = append(reasons, fmt.Sprintf("%s runs here, and no other member can run it: %s.", one.Name, cause))
	}
	if moving := []string{"asking", "acquiring", "handing over", "stopping"}; slices.Contains(moving, one.Phase) && kindOf(one) == "" {
		reasons = append(reasons, fmt.Sprintf("%s moves: its manager here is %s.", one.Name, one.Phase))
	}
	if n := one.Held + one.Unacknowledged; n > 0 {
		reasons = append(reasons, fmt.Sprintf("%d messages to %s wait on this node, and may be lost.", n, one.Name))
	}
	return reasons
}

func movable(s status.Snapshot, one status.Singleton) bool {
	return slices.ContainsFunc(s.Members, func(m status.Member) bool {
		return isReady(s, m) && slices.Contains(one.Managers, m.ID) && admits(one.Placement, m)
	})
}

func isReady(s status.Snapshot, m status.Member) bool {
	return m.ID != s.Self.ID && m.Status == "up" && m.Reachable
}

// admits knows the words in which nodes describe a placement. Words that it does not know admit
// every member.
func admits(placement string, m status.Member) bool {
	if node, ok := strings.CutPrefix(placement, "the node "); ok {
		return node == strconv.Quote(m.Name)
	}
	if _, quoted, ok := strings.Cut(placement, " of role "); ok {
		role, err := strconv.Unquote(quoted)
		return err != nil || slices.Contains(m.Roles, role)
	}
	return true
}

func notes(s status.Snapshot) []string {
	notes := []string{}
	var here []string
	for _, one := range s.Singletons {
		if one.Here && movable(s, one) {
			here = append(here, one.Name)
		}
	}
	if len(here) > 0 {
		notes = append(notes, "What runs here will move: "+few(here)+".")
	}
	if len(s.AppVersions) > 1 {
		notes = append(notes, "Members have several versions of the application: "+strings.Join(s.AppVersions, ", ")+".")
	}
	if len(s.Unanswered) > 0 {
		notes = append(notes, "No report on singletons from "+few(s.NamesOf(s.Unanswered))+".")
	}
	if s.SingletonsLeftOut > 0 {
		notes = append(notes, fmt.Sprintf("%d singletons were not looked at; the node lists those with problems first.", s.SingletonsLeftOut))
	}
	return notes
}
