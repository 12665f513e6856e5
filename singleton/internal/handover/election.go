package handover

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/remote"
)

// An Anchor says which of the members that may host a singleton is preferred.
type Anchor struct {
	Kind  AnchorKind
	Node  string                                                       // for ByName; the name of the function for ByFunction
	Elect func(candidates []directory.Peer) (host string, chosen bool) // for ByFunction
}

// An AnchorKind is how the host is chosen.
type AnchorKind uint8

// The kinds of anchors.
const (
	Unset      AnchorKind = iota // as ByElection
	ByElection                   // the first in the cluster's order of election
	ByAge
	ByName
	ByFunction
)

// String returns the anchor as it is written in signatures: "" for the default.
func (a Anchor) String() string {
	switch a.Kind {
	case ByAge:
		return "oldest"
	case ByName:
		return "node " + a.Node
	case ByFunction:
		return "elected " + a.Node
	case Unset, ByElection:
	}
	return ""
}

// Placement says for people where the singleton may be.
func (c *Config) Placement() string {
	where := "the first in the order of election"
	switch c.Anchor.Kind {
	case ByAge:
		where = "the oldest"
	case ByName:
		return fmt.Sprintf("the node %q", c.Anchor.Node)
	case ByFunction:
		where = fmt.Sprintf("the one elected by %q", c.Anchor.Node)
	case Unset, ByElection:
	}
	if c.Role != "" {
		where += fmt.Sprintf(" of role %q", c.Role)
	}
	return where
}

// Elect returns the member that is to host the singleton: by its anchor the first of those that are
// up, have the role, and have a manager with the settings that count. The member except is left
// out. The member self counts as one that has a manager; it may be zero.
func Elect(topo *directory.Topology, cfg *Config, self, except remote.NodeID) (directory.Peer, bool) {
	reference, _, _ := reference(topo, cfg.Signature)
	var candidates []directory.Peer
	for _, p := range cfg.Anchor.order(topo.Members) {
		if p.Up && p.ID != except && cfg.admits(p) && cfg.manages(p, self, reference) {
			if candidates = append(candidates, p); cfg.Anchor.Kind != ByFunction {
				return p, true
			}
		}
	}
	return cfg.Anchor.elected(candidates)
}

func (a Anchor) elected(candidates []directory.Peer) (host directory.Peer, ok bool) {
	if a.Kind != ByFunction {
		return directory.Peer{}, false
	}
	var name string
	var chosen bool
	if guard.Apart(func() { name, chosen = a.Elect(slices.Clone(candidates)) }) != nil {
		return directory.Peer{}, false
	}
	i := slices.IndexFunc(candidates, func(p directory.Peer) bool { return chosen && p.Name == name })
	if i < 0 {
		return directory.Peer{}, false
	}
	return candidates[i], true
}

func (c *Config) admits(p directory.Peer) bool {
	return hasRole(p, c.Role) && (c.Anchor.Kind != ByName || p.Name == c.Anchor.Node)
}

func hasRole(p directory.Peer, role string) bool {
	return role == "" || slices.Contains(p.Roles, role)
}

func (c *Config) manages(p directory.Peer, self remote.NodeID, reference string) bool {
	signature, has := advertised(p)
	if p.ID == self {
		signature, has = c.Signature, true
	}
	return has && matches(signature, reference)
}

func (a Anchor) order(members []directory.Peer) []directory.Peer {
	if a.Kind != ByAge {
		return members
	}
	return slices.SortedFunc(slices.Values(members), olderFirst)
}

// olderFirst puts members without an up-number last, and of equals the lower address first.
func olderFirst(a, b directory.Peer) int {
	return cmp.Or(cmp.Compare(a.UpNumber-1, b.UpNumber-1), a.ID.Compare(b.ID))
}

// reference returns the signature that all managers of a singleton must have, and the member it
// belongs to: the oldest that is up and has a manager, or the oldest of all. So a member that comes
// later changes nothing. This node has the signature own, whatever its advertisement says.
func reference(topo *directory.Topology, own string) (signature string, member directory.Peer, known bool) {
	for _, p := range topo.Members {
		s, has := advertised(p)
		if p.ID == topo.Self {
			s, has = own, true
		}
		if has && s != "" && (!known || before(p, member)) {
			signature, member, known = s, p, true
		}
	}
	return signature, member, known
}

func before(a, b directory.Peer) bool {
	if a.Up != b.Up {
		return a.Up
	}
	return olderFirst(a, b) < 0
}

// Mismatch returns how the signature of this node's manager differs from the one that counts, and
// the member that has that one. ok is false when it does not differ, or nothing is known.
func Mismatch(topo *directory.Topology, signature string) (differences string, member directory.Peer, ok bool) {
	reference, member, known := reference(topo, signature)
	if !known || matches(signature, reference) {
		return "", directory.Peer{}, false
	}
	return Differences(signature, reference), member, true
}
