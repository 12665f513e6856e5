package placement

import "slices"

// A viewPage is as much of a view as goes into one message.
type viewPage struct {
	view View
	more bool // there is more after the last actor of the last node
}

// page returns what is in v after an actor of a node, about so many bytes, unless one node
// without its actors is larger.
func (v View) page(node, actor string, maxBytes int) viewPage {
	var p viewPage
	size := 0
	for _, n := range v.Nodes {
		if n.Name < node {
			continue
		}
		if n.Name == node {
			if n.Actors = n.actorsAfter(actor); len(n.Actors) == 0 {
				continue
			}
		}
		if size += n.size(); size > maxBytes && len(p.view.Nodes) > 0 {
			p.more = true
			return p
		}
		fit := 0
		for ; fit < len(n.Actors) && (size <= maxBytes || fit == 0); fit++ {
			size += len(n.Actors[fit]) + textBytes
		}
		p.more = fit < len(n.Actors)
		n.Actors = n.Actors[:fit:fit]
		p.view.Nodes = append(p.view.Nodes, n)
		if p.more {
			return p
		}
	}
	return p
}

func (n Node) actorsAfter(label string) []string {
	i, found := slices.BinarySearch(n.Actors, label)
	if found {
		i++
	}
	return n.Actors[i:]
}

// textBytes is what a text needs in a message besides itself.
const textBytes = 5

// size is about how many bytes n has in a message, without its actors.
func (n Node) size() int {
	size := len(n.Name) + len(n.Address) + 64
	for _, role := range n.Roles {
		size += len(role) + textBytes
	}
	for key, value := range n.Meta {
		size += len(key) + len(value) + 2*textBytes
	}
	return size
}

// end returns where v ends: the last node, and its last actor.
func (v View) end() (node, actor string) {
	if len(v.Nodes) == 0 {
		return "", ""
	}
	last := v.Nodes[len(v.Nodes)-1]
	if len(last.Actors) > 0 {
		actor = last.Actors[len(last.Actors)-1]
	}
	return last.Name, actor
}

// with returns v and what comes after it. Of a node that has been replaced meanwhile it shows
// no more than it has.
func (v View) with(next View) View {
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
