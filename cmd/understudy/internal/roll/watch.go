package roll

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// A finding is a problem. With a fatal one there is no cluster of all nodes; a note stops nothing.
type finding struct {
	Problem
	fatal, note bool
}

const (
	look  = 100 * time.Millisecond
	calm  = 3 // looks in a row that find nothing
	slack = 3 * time.Second
)

// settle waits until all nodes are up, agree and find nothing wrong. If they do not come to it
// within the time, it returns what is wrong then, and at once if a process has ended.
func (r *roll) settle(ctx context.Context) []finding {
	deadline, fine := time.Now().Add(r.Within), 0
	for {
		found := r.wrong(ctx)
		ended := slices.ContainsFunc(found, func(f finding) bool { return f.Kind == "ended" })
		if blocking := r.blocking(found); !blocking {
			fine++
		} else {
			fine = 0
		}
		if fine == calm || ended || time.Now().After(deadline) || ctx.Err() != nil {
			return found
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
		}
	}
}

// blocking reports whether a finding is neither known nor accepted.
func (r *roll) blocking(found []finding) bool {
	return slices.ContainsFunc(found, func(f finding) bool {
		return !f.note && !r.known[f.Key()] && (r.Accepted == nil || !r.Accepted(f.Problem))
	})
}

// wrong returns what is wrong now.
func (r *roll) wrong(ctx context.Context) (found []finding) {
	var all []status.Snapshot
	for _, n := range r.nodes {
		if !n.runs() {
			found = append(found, finding{Problem: Problem{Kind: "ended", Text: n.name + ": " + n.how().Error()}, fatal: true})
			continue
		}
		s, err := n.client.Status(ctx)
		if err != nil {
			found = append(found, finding{Problem: Problem{Kind: "silent", Text: fmt.Sprintf("%s does not serve its status page: %v. The last words of its process:\n%s", n.name, n.client.Failed(err), n.output.last())}, fatal: true})
			continue
		}
		all = append(all, s)
	}
	if len(found) > 0 {
		return found
	}
	for i, s := range all {
		found = append(found, r.membership(r.nodes[i], s)...)
	}
	found = append(found, twice(all)...)
	why, err := report.Explain(ctx, clients(r.nodes), "")
	if err != nil {
		return append(found, finding{Problem: Problem{Kind: "silent", Text: err.Error()}, fatal: true})
	}
	for _, p := range why.Problems {
		if !slices.Contains([]string{report.Circle, report.Slow, report.Backlog}, p.Kind) {
			found = append(found, finding{Problem: Problem{Kind: p.Kind, About: p.About, Text: p.Node + " says: " + p.Text}, fatal: p.Kind == report.NotReady})
		}
	}
	return found
}

// membership says why a node does not see a cluster of all nodes that are up.
func (r *roll) membership(n *node, s status.Snapshot) []finding {
	var up []string
	for _, m := range s.Members {
		if m.Status == "up" && m.Reachable {
			up = append(up, m.Name)
		}
	}
	switch {
	case len(up) != len(r.nodes) || len(s.Members) != len(r.nodes):
		return []finding{{Problem: Problem{Kind: "members", Text: fmt.Sprintf("%s sees %d members, of which these are up and reachable: %s. The last words of its process:\n%s", n.name, len(s.Members), strings.Join(up, ", "), n.output.last())}, fatal: true}}
	case !s.Converged:
		return []finding{{Problem: Problem{Kind: "members", Text: n.name + " does not see that the members agree on the membership."}, fatal: true}}
	}
	return nil
}

// twice returns the singletons that several nodes host.
func twice(all []status.Snapshot) (found []finding) {
	hosts := map[string][]string{}
	for _, s := range all {
		for _, one := range s.Singletons {
			if one.Here {
				hosts[one.Name] = append(hosts[one.Name], s.Self.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		if len(hosts[name]) > 1 {
			found = append(found, finding{Problem: Problem{Kind: "two hosts", About: name, Text: fmt.Sprintf("%s runs on %s.", name, strings.Join(hosts[name], " and on "))}})
		}
	}
	return found
}

// safe waits until a node may be stopped, as all see it.
func (r *roll) safe(ctx context.Context, n *node) []finding {
	asked := append([]*node{n}, slices.DeleteFunc(slices.Clone(r.nodes), func(o *node) bool { return o == n || !o.runs() })...)
	deadline := time.Now().Add(slack)
	for {
		s, err := report.AskSafe(ctx, clients(asked))
		switch {
		case err != nil:
			return nil // it is going to be stopped, whether it answers or not
		case s.Safe:
			return nil
		case time.Now().After(deadline) || ctx.Err() != nil:
			return []finding{{Problem: Problem{Kind: "not safe", Text: n.name + " was stopped although understudy safe did not agree: " + strings.Join(s.Reasons, " ")}, note: true}}
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
		}
	}
}

// Lost are the reasons of dead letters that do not come from the moves of a rolling update. The
// module understudytest compares them with the errors of the packages.
var Lost = []string{
	"message cannot be decoded", "message cannot be encoded", "the actor does not take messages of this type",
}

// said returns what the nodes have logged and lost since it was called before.
func (r *roll) said(ctx context.Context) (found []finding) {
	for _, n := range r.nodes {
		found = append(found, n.errors()...)
		if !n.runs() {
			continue
		}
		d, err := n.client.DeadLetters(ctx, "", "", 1000)
		if err != nil {
			continue // settle says so
		}
		for _, reason := range slices.Sorted(maps.Keys(d.ByReason)) {
			if count := d.ByReason[reason] - n.letters[reason]; count > 0 {
				n.letters[reason] = d.ByReason[reason]
				found = append(found, letters(n, d, reason, count)...)
			}
		}
	}
	return found
}

// letters leaves out what nodes say to each other, unless it cannot be understood.
func letters(n *node, d status.DeadLetters, reason string, count uint64) []finding {
	grave := slices.Contains(Lost, reason)
	i := slices.IndexFunc(d.Letters, func(l status.DeadLetter) bool {
		return l.Reason == reason && (grave || !strings.HasPrefix(l.Type, "cluster."))
	})
	if i < 0 && !grave {
		return nil
	}
	text := fmt.Sprintf("dead letters of %s: %s, %d times", n.name, reason, count)
	if i >= 0 {
		l := d.Letters[i]
		text = fmt.Sprintf("%s. The last one was a %s to %s. %s", text, l.Type, l.Recipient, l.Text)
	}
	return []finding{{Problem: Problem{Kind: "dead letters", About: reason, Text: strings.TrimSpace(text)}, note: !grave}}
}

// versions returns those of the application among the members, as the first node that answers sees
// them.
func (r *roll) versions(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, slack)
	defer cancel()
	for _, n := range r.nodes {
		if !n.runs() {
			continue
		}
		if s, err := n.client.Status(ctx); err == nil && s.AppVersions != nil {
			return s.AppVersions
		}
	}
	return []string{}
}

func clients(nodes []*node) []*client.Client {
	var all []*client.Client
	for _, n := range nodes {
		all = append(all, n.client)
	}
	return all
}
