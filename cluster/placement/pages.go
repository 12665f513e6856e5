package placement

import (
	"slices"
	"strings"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A statusPage is a part of the statuses that fits into one message.
type statusPage struct {
	Statuses []Status
	More     bool // there are more after these
}

// pageStatuses is how many statuses a page has at most.
const pageStatuses = 1000

// statusPageOf returns the first statuses after that label: about maxBytes bytes, unless one status
// is larger. all must be sorted by label.
func statusPageOf(all []Status, after string, maxBytes int) statusPage {
	i, found := slices.BinarySearchFunc(all, after, func(s Status, label string) int { return strings.Compare(s.Spec.Label, label) })
	if found {
		i++
	}
	all = all[i:]
	size := 0
	for i, s := range all {
		size += s.size()
		if i > 0 && (size > maxBytes || i == pageStatuses) {
			return statusPage{Statuses: all[:i], More: true}
		}
	}
	return statusPage{Statuses: all}
}

// size returns about how many bytes s takes in a message.
func (s Status) size() int { return s.Spec.size() + len(s.LastError) }

// lastLabel returns the label of the last status, or "".
func lastLabel(all []Status) string {
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].Spec.Label
}

// A viewPage is a part of a view that fits into one message.
type viewPage struct {
	View home.View
	More bool // there is more after the last actor of the last node
}

// viewPageOf returns the part of v after an actor of a node: about maxBytes bytes, unless one node
// without its actors is larger.
func viewPageOf(v home.View, node, actor string, maxBytes int) viewPage {
	var p viewPage
	size := 0
	for _, n := range v.Nodes {
		if n.Name < node {
			continue
		}
		if n.Name == node {
			if n.Actors = actorsAfter(n, actor); len(n.Actors) == 0 {
				continue
			}
		}
		if size += nodeSize(n); size > maxBytes && len(p.View.Nodes) > 0 {
			p.More = true
			return p
		}
		fit := 0
		for ; fit < len(n.Actors) && (size <= maxBytes || fit == 0); fit++ {
			size += len(n.Actors[fit]) + textBytes
		}
		p.More = fit < len(n.Actors)
		n.Actors = n.Actors[:fit:fit]
		p.View.Nodes = append(p.View.Nodes, n.Shared())
		if p.More {
			return p
		}
	}
	return p
}

func actorsAfter(n home.Node, label string) []string {
	i, found := slices.BinarySearch(n.Actors, label)
	if found {
		i++
	}
	return n.Actors[i:]
}

// textBytes is the overhead of a text in a message, in bytes.
const textBytes = 5

// nodeSize returns about how many bytes n takes in a message, without its actors.
func nodeSize(n home.Node) int {
	size := len(n.Name) + len(n.Address) + 64
	for _, role := range n.Roles {
		size += len(role) + textBytes
	}
	for key, value := range n.Meta {
		size += len(key) + len(value) + 2*textBytes
	}
	return size
}

// endOfView returns the last node of v, and its last actor.
func endOfView(v home.View) (node, actor string) {
	if len(v.Nodes) == 0 {
		return "", ""
	}
	last := v.Nodes[len(v.Nodes)-1]
	if len(last.Actors) > 0 {
		actor = last.Actors[len(last.Actors)-1]
	}
	return last.Name, actor
}

// appendView returns v with the next part. If a node has been replaced between the two parts, the
// result has only the node's first part.
func appendView(v, next home.View) home.View {
	for _, n := range next.Nodes {
		i := len(v.Nodes) - 1
		switch {
		case i < 0 || v.Nodes[i].Name != n.Name:
			v.Nodes = append(v.Nodes, n)
		case v.Nodes[i].Incarnation == n.Incarnation:
			v.Nodes[i].Actors = append(v.Nodes[i].Actors, n.Actors...)
		}
	}
	return v
}
