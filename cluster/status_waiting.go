package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// waiting says why things that should move do not, in sentences for people.
func (n *Node) waiting(v View, ended bool) []string {
	switch {
	case ended && n.failure != nil:
		return []string{"This node has ended: " + n.failure.Error() + "."}
	case ended:
		return []string{"This node has ended."}
	case v.Self.Status == 0:
		return []string{"This node " + n.whyNotUp() + "."}
	case v.Self.Status >= Down:
		return []string{"The cluster has given this node up, or it leaves: it stops what it runs."}
	}
	var why []string
	var joining, down []string
	var up int
	for _, m := range v.Members {
		switch m.Status {
		case Joining:
			joining = append(joining, m.Name)
		case Up:
			up++
		case Down:
			down = append(down, m.Name)
		case Leaving, Removed:
		}
		if m.Status < Down && !v.Reachable(m) {
			why = append(why, n.whyUnreachable(v, m))
		}
	}
	if len(joining) > 0 {
		why = append(why, n.whyJoining(v, joining, up))
	}
	if len(down) > 0 && !v.Converged {
		why = append(why, fmt.Sprintf("%s: down; removed when all other members know.", few(down)))
	}
	return why
}

func (n *Node) whyUnreachable(v View, m Member) string {
	by := few(namesOf(v.UnreachableBy(m)))
	if n.cfg.Downing.Delay() < 0 {
		return fmt.Sprintf("%s does not answer %s, and downing is %s: what runs there moves when it is heard again or is taken down by hand.", m.Name, by, n.cfg.Downing)
	}
	return fmt.Sprintf("%s does not answer %s: what runs there moves when %s has decided, %v after the last change.", m.Name, by, n.cfg.Downing, n.cfg.Downing.Delay())
}

func (n *Node) whyJoining(v View, joining []string, up int) string {
	names := few(joining)
	switch {
	case len(joining)+up < n.cfg.MinMembers:
		return fmt.Sprintf("%s: joining until there are %d members.", names, n.cfg.MinMembers)
	case len(v.Unreachable()) > 0:
		return fmt.Sprintf("%s: joining until every member is reachable or down.", names)
	}
	return fmt.Sprintf("%s: joining until all members agree.", names)
}

// few lists some names, and how many there are besides.
func few(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most-1]), fmt.Sprintf("%d others", len(names)-most+1))
	}
	return strings.Join(names, ", ")
}
