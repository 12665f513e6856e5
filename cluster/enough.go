package cluster

import (
	"fmt"
	"maps"
	"slices"
)

// lacks says which members must still come before the first is up, for people. Once one
// has been up there is nothing to wait for.
func (r rules) lacks(t table) []string {
	if t.youngest() > 0 {
		return nil
	}
	var lacks []string
	if n := t.counting(""); n < r.minMembers {
		lacks = append(lacks, fmt.Sprintf("%d of %d members", n, r.minMembers))
	}
	for _, role := range slices.Sorted(maps.Keys(r.minOf)) {
		if n := t.counting(role); n < r.minOf[role] {
			lacks = append(lacks, fmt.Sprintf("%d of %d members with the role %q", n, r.minOf[role], role))
		}
	}
	return lacks
}

// counting returns how many members with a role could be up: those that are, and those
// that join.
func (t table) counting(role string) int {
	n := 0
	for _, m := range t.members {
		if m.Status <= Up && m.HasRole(role) {
			n++
		}
	}
	return n
}
