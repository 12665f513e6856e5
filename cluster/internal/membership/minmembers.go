package membership

import (
	"fmt"
	"maps"
	"slices"
)

// lacks describes, for users, which members must still join before the first one is up. It is
// empty once a member has been up.
func (r Settings) lacks(t table) []string {
	if t.youngest() > 0 {
		return nil
	}
	var lacks []string
	if n := t.counting(""); n < r.MinMembers {
		lacks = append(lacks, fmt.Sprintf("%d of %d members", n, r.MinMembers))
	}
	for _, role := range slices.Sorted(maps.Keys(r.MinMembersOf)) {
		if n := t.counting(role); n < r.MinMembersOf[role] {
			lacks = append(lacks, fmt.Sprintf("%d of %d members with the role %q", n, r.MinMembersOf[role], role))
		}
	}
	return lacks
}

func (t table) counting(role string) int {
	n := 0
	for _, m := range t.members {
		if m.Status <= Up && m.HasRole(role) {
			n++
		}
	}
	return n
}
