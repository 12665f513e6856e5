package membership

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/cluster/downing"
)

// An agreement holds the settings that the members of a cluster must share.
type agreement struct {
	_       struct{} `cbor:",toarray"`
	Downing []string // names of the strategies; two nodes must share one
	Leader  string   // the name of the election
	Minimum string   // how many members must join before the first is up; irrelevant afterwards
}

func (r Settings) agreement() agreement {
	return agreement{Downing: downing.Names(r.Downing), Leader: r.Leader.Name, Minimum: r.minimum()}
}

// minimum describes how many members must join before the first is up. Users see the text, and
// admission compares it between nodes.
func (r Settings) minimum() string {
	all := []string{fmt.Sprintf("at least %d members", r.MinMembers)}
	for _, role := range slices.Sorted(maps.Keys(r.MinMembersOf)) {
		if r.MinMembersOf[role] > 0 {
			all = append(all, fmt.Sprintf("%d with the role %q", r.MinMembersOf[role], role))
		}
	}
	return strings.Join(all, ", ")
}

func (a agreement) check() error {
	return checkTexts(append([]string{a.Leader, a.Minimum}, a.Downing...), maxText)
}

func (a agreement) difference(o agreement) string {
	var all []string
	if !slices.Equal(a.Downing, o.Downing) {
		all = append(all, fmt.Sprintf("it has downing %s, this node has %s", strings.Join(o.Downing, " and "), strings.Join(a.Downing, " and ")))
	}
	if a.Minimum != o.Minimum {
		all = append(all, fmt.Sprintf("it has %s, this node has %s", o.Minimum, a.Minimum))
	}
	return strings.Join(all, "; ")
}

func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
