package report

import (
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Entities are the types of entities that a node has started, by name.
type Entities struct {
	Types []status.EntityType `json:"types"`
}

// EntitiesOf returns the types of a node: only the one of that name, unless it is "".
func EntitiesOf(d status.Details, name string) (Entities, error) {
	all := Entities{Types: []status.EntityType{}}
	for _, t := range d.EntityTypes {
		if name == "" || name == t.Name {
			t.Homes = append([]status.Home{}, t.Homes...) // not null in JSON
			all.Types = append(all.Types, t)
		}
	}
	if name != "" && len(all.Types) == 0 {
		return all, fmt.Errorf("the node has started no type of entities %q", name)
	}
	return all, nil
}

func unsafeEntities(s status.Snapshot, d status.Details) (reasons, notes []string) {
	for _, t := range d.EntityTypes {
		switch {
		case t.Leaving > 0:
			reasons = append(reasons, fmt.Sprintf("%d shards of %s are about to leave this node.", t.Leaving, t.Name))
		case t.Here > 0 && !slices.ContainsFunc(t.Homes, func(h status.Home) bool { return h.ID != s.Self.ID && h.Reachable }):
			reasons = append(reasons, fmt.Sprintf("%d shards of %s run here, and no other node that is reachable has any.", t.Here, t.Name))
		case t.Here > 0:
			notes = append(notes, fmt.Sprintf("%d shards of %s will move, with %d entities that are awake.", t.Here, t.Name, t.Awake))
		}
		if t.Held > 0 {
			reasons = append(reasons, fmt.Sprintf("%d messages to entities of %s wait on this node, and may be lost.", t.Held, t.Name))
		}
	}
	return reasons, notes
}
