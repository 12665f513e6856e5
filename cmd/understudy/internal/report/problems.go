package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Kinds of problems. Nodes may find others.
const (
	Waiting     = "waiting"     // something blocks the cluster or the node
	NotReady    = "not ready"   // the node takes no work
	Unreachable = "unreachable" // a member is not heard by others
	Down        = "down"        // a member has been given up, and is not removed yet
	NoLeader    = "no leader"
	CrashLoop   = "crash loop"  // a singleton fails again and again
	Nowhere     = "nowhere"     // no member can host a singleton
	Mismatch    = "mismatch"    // a singleton differs between nodes
	NotRunning  = "not running" // a singleton does not run now
	Unknown     = "unknown"     // no host has said whether a singleton runs

	Link       = "link"         // a member cannot be sent to
	Journal    = "journal"      // a journal fails
	Projection = "projection"   // a projection fails, or holds events back
	Placement  = "placement"    // a placed actor does not run where it should
	Workflow   = "workflow"     // a run is held until another program comes, so a restart may be what it needs
	Circle     = "circle"       // actors wait for each other
	Slow       = "slow handler" // a handler has been under way for a second or longer
	Backlog    = "backlog"      // an actor is behind: too much waits for it, or for too long, or it drops messages
)

// A Problem is one thing that is wrong, or does not move.
type Problem struct {
	Kind      string     `json:"kind" jsonschema:"waiting, not ready, unreachable, down, no leader, crash loop, nowhere, mismatch, not running, unknown, link, journal, projection, placement, workflow, circle, slow handler or backlog"`
	About     string     `json:"about" jsonschema:"the name of the singleton, member, journal, projection or placed actor, or the path of an actor; empty for the cluster"`
	Text      string     `json:"text" jsonschema:"what is wrong, and why, in sentences"`
	NotBefore *time.Time `json:"notBefore" jsonschema:"when a singleton may start at the earliest, or null"`
	Node      string     `json:"node" jsonschema:"the node that says so"`
}

// Why says what is wrong in a cluster.
type Why struct {
	OK       bool      `json:"ok" jsonschema:"true if nothing is wrong"`
	Nodes    []string  `json:"nodes" jsonschema:"the nodes that were asked"`
	Problems []Problem `json:"problems"`
	Silent   []string  `json:"silent" jsonschema:"why other nodes have not answered"`
}

// WhyOf returns what is wrong with everything, or with what has a name. A name that is of no
// singleton, no member and no problem is an error.
func WhyOf(s status.Snapshot, a status.Actors, name string) (Why, error) {
	why := Why{Nodes: []string{s.Self.Name}, Problems: []Problem{}, Silent: []string{}}
	for _, p := range slices.Concat(ofCluster(s), ofMembers(s), ofSingletons(s), ofInstances(s, a), ofNode(s.Problems), ofNode(a.Problems)) {
		if p.Node = s.Self.Name; name == "" || p.About == name {
			why.Problems = append(why.Problems, p)
		}
	}
	if name != "" && len(why.Problems) == 0 && !knows(s, name) {
		return Why{}, fmt.Errorf("%s knows no singleton and no member %q", s.Self.Name, name)
	}
	why.OK = len(why.Problems) == 0
	return why, nil
}

func knows(s status.Snapshot, name string) bool {
	return s.Self.Name == name ||
		slices.ContainsFunc(s.Members, func(m status.Member) bool { return m.Name == name }) ||
		slices.ContainsFunc(s.Singletons, func(one status.Singleton) bool { return one.Name == name })
}

// The instances run, but do not answer: a handler has been under way for a second or longer.
func ofInstances(s status.Snapshot, a status.Actors) []Problem {
	var all []Problem
	for _, one := range s.Singletons {
		i := slices.IndexFunc(a.Handlers, func(h status.Handler) bool { return h.Path == "/user/"+one.Name+"/instance" })
		if i < 0 || a.Handlers[i].Seconds < 1 {
			continue
		}
		h := a.Handlers[i]
		all = append(all, Problem{Kind: Slow, About: one.Name, Text: fmt.Sprintf("%s runs on %s, but does not answer: its handler of %s has been under way for %v.",
			one.Name, s.Self.Name, h.Message, time.Duration(h.Seconds*float64(time.Second)).Round(time.Second))})
	}
	return all
}

func ofNode(by []status.Problem) []Problem {
	var all []Problem
	for _, p := range by {
		all = append(all, Problem{Kind: p.Kind, About: p.About, Text: p.Text})
	}
	return all
}

func ofCluster(s status.Snapshot) []Problem {
	var found []Problem
	for _, text := range s.Waiting {
		found = append(found, Problem{Kind: Waiting, Text: text})
	}
	for _, check := range s.Ready {
		if !check.OK {
			found = append(found, Problem{Kind: NotReady, About: s.Self.Name, Text: s.Self.Name + " is not ready: " + check.Reason + "."})
		}
	}
	if s.Leader == "" && s.Self.Status == "up" {
		found = append(found, Problem{Kind: NoLeader, Text: "No member leads the cluster."})
	}
	return found
}

func ofMembers(s status.Snapshot) []Problem {
	var found []Problem
	for _, m := range s.Members {
		switch {
		case m.Status == "down":
			found = append(found, Problem{Kind: Down, About: m.Name, Text: m.Name + " is down: the cluster has given it up, and it is not removed yet."})
		case !m.Reachable:
			found = append(found, Problem{Kind: Unreachable, About: m.Name, Text: m.Name + " is unreachable" + notHeard(s, m) + "."})
		}
	}
	return found
}

func notHeard(s status.Snapshot, m status.Member) string {
	by := s.NamesOf(m.UnreachableBy)
	switch len(by) {
	case 0:
		return ""
	case 1:
		return ": " + by[0] + " does not hear from it"
	}
	return ": " + few(by) + " do not hear from it"
}

func few(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:3], ", "), len(names)-3)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

func ofSingletons(s status.Snapshot) []Problem {
	var found []Problem
	for _, one := range s.Singletons {
		if kind := kindOf(one); kind != "" {
			found = append(found, Problem{Kind: kind, About: one.Name, Text: explain(s, one, kind), NotBefore: one.NotBefore})
		}
	}
	return found
}

func kindOf(one status.Singleton) string {
	switch {
	case one.CrashLoop:
		return CrashLoop
	case one.Nowhere:
		return Nowhere
	case one.Mismatch != "":
		return Mismatch
	case one.Why != "" && one.Phase == "" && one.AtHost == nil:
		return Unknown
	case one.Why != "":
		return NotRunning
	}
	return ""
}

func explain(s status.Snapshot, one status.Singleton, kind string) string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	switch kind {
	case CrashLoop:
		say("%s fails again and again on %s", one.Name, s.NameOf(one.Host))
	case Nowhere:
		say("%s can run on no member", one.Name)
	case Mismatch:
		say("%s takes no part on %s, because it differs from the same singleton elsewhere: %s", one.Name, s.Self.Name, one.Mismatch)
	case Unknown:
		say("It is not known whether %s runs", one.Name)
	default:
		say("%s does not run", one.Name)
	}
	if one.Why != "" && (kind != Mismatch || !strings.Contains(one.Why, one.Mismatch)) {
		said[0] += ": " + one.Why
	}
	if at := one.AtHost; at != nil && at.LastError != "" && !strings.Contains(said[0], at.LastError) {
		say("Its last failure%s: %s", when(at.FailedAt), at.LastError)
	}
	if one.Obstacle != "" && !strings.Contains(said[0], one.Obstacle) {
		say("The last obstacle: %s", one.Obstacle)
	}
	if len(one.WaitingFor) > 0 {
		say("It waits for the consent of %s", few(s.NamesOf(one.WaitingFor)))
	}
	if left := countdown(s, one.NotBefore); left != "" {
		say("It may start in %s", left)
	}
	return strings.Join(said, ". ") + "."
}

func when(at *time.Time) string {
	if at == nil {
		return ""
	}
	return " at " + at.Format(time.TimeOnly)
}

// countdown goes by the clock of the node, and is "" if the time has passed.
func countdown(s status.Snapshot, at *time.Time) string {
	if at == nil || !at.After(s.Time) {
		return ""
	}
	return at.Sub(s.Time).Round(100 * time.Millisecond).String()
}
