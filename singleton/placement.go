package singleton

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/node"
)

// OnLeader lets the first member in the cluster's order of election host the singleton,
// of those that may. This is the default. Where the cluster elects by something else than
// age, a node that joins may take a running instance over.
func OnLeader() Option { return func(s *settings) { s.anchorAt(anchor{kind: byElection}) } }

// OnOldest lets the member host the singleton that has been up the longest, of those that
// may, whatever the cluster elects its leader by. So a join never moves the instance.
func OnOldest() Option { return func(s *settings) { s.anchorAt(anchor{kind: byAge}) } }

// OnNode lets only the member of that name host the singleton, cluster.Config.NodeID.
// While there is none, or it is not up, nobody does, and messages are held; when it
// returns, as a new incarnation perhaps, the singleton starts there with a higher term.
// [Role] cannot be given as well. It panics on what no node can be named.
func OnNode(name string) Option {
	if name == "" {
		panic(`singleton: OnNode(""): name the node by its cluster.Config.NodeID, or leave the option out`)
	}
	mustBeName("OnNode", name)
	return func(s *settings) { s.anchorAt(anchor{kind: byName, node: name}) }
}

// OnElected lets a function choose the host among the members that are up and may host the
// singleton, in the cluster's order of election; nobody hosts while it returns false, or a
// name that none of them has. All nodes must give the same function, under the same name,
// by which those that differ are told apart. It must depend on nothing but what it is
// given, and not change it; while it panics nobody hosts. A running instance moves whenever
// another member is chosen. Without a cluster it is not asked. OnElected panics without a
// name or a function.
func OnElected(name string, elect func(candidates []Peer) (host string, ok bool)) Option {
	if name == "" || elect == nil {
		panic("singleton: OnElected needs a name and a function")
	}
	mustBeName("OnElected", name)
	return func(s *settings) { s.anchorAt(anchor{kind: byFunction, node: name, elect: elect}) }
}

// An anchor says which of the members that may host a singleton is preferred.
type anchor struct {
	kind  anchorKind
	node  string                                             // of byName; the name of the function of byFunction
	elect func(candidates []Peer) (host string, chosen bool) // of byFunction
}

type anchorKind uint8

const (
	unset anchorKind = iota
	byElection
	byAge
	byName
	byFunction
)

// String returns how the anchor is known in signatures: "" for what is the default.
func (a anchor) String() string {
	switch a.kind {
	case byAge:
		return "oldest"
	case byName:
		return "node " + a.node
	case byFunction:
		return "elected " + a.node
	case unset, byElection:
	}
	return ""
}

// option is what the user has written.
func (a anchor) option() string {
	switch a.kind {
	case byAge:
		return "OnOldest()"
	case byName:
		return fmt.Sprintf("OnNode(%q)", a.node)
	case byFunction:
		return fmt.Sprintf("OnElected(%q)", a.node)
	case unset, byElection:
	}
	return "OnLeader()"
}

// anchorAt panics when there is an anchor already.
func (s *settings) anchorAt(a anchor) {
	if s.anchor.kind != unset {
		panic(fmt.Sprintf("singleton: %s and %s contradict each other; give one of them", s.anchor.option(), a.option()))
	}
	s.anchor = a
}

// checkPlacement panics when nobody could tell where the singleton is to be.
func (s *settings) checkPlacement() {
	if s.anchor.kind == byName && s.role != "" {
		panic(fmt.Sprintf("singleton: %s and Role(%q) contradict each other; a node that is named needs no role, so leave one of them out", s.anchor.option(), s.role))
	}
}

// placement returns in words where the singleton may be, for people.
func (s *settings) placement() string {
	where := "the first in the order of election"
	switch s.anchor.kind {
	case byAge:
		where = "the oldest"
	case byName:
		return fmt.Sprintf("the node %q", s.anchor.node)
	case byFunction:
		where = fmt.Sprintf("the one elected by %q", s.anchor.node)
	case unset, byElection:
	}
	if s.role != "" {
		where += fmt.Sprintf(" of role %q", s.role)
	}
	return where
}

// host returns the member that is to host the singleton: by its anchor the first of those that are up, have the role, and have a manager of the signature that
// counts. Except is left out. The member self counts as one that has a manager; it may be
// zero.
func (t Topology) host(set *settings, self, except node.ID) (Peer, bool) {
	reference, _, _ := t.reference(set.signature)
	var may []Peer
	for _, p := range set.anchor.order(t.Members) {
		if p.Up && p.ID != except && set.admits(p) && p.manages(set.signature, self, reference) {
			if may = append(may, p); set.anchor.kind != byFunction {
				return p, true
			}
		}
	}
	return set.anchor.elected(may)
}

// elected returns whom the function of the anchor chooses, if it has one.
func (a anchor) elected(may []Peer) (host Peer, ok bool) {
	if a.kind != byFunction {
		return Peer{}, false
	}
	var name string
	var chosen bool
	if guard.Apart(func() { name, chosen = a.elect(slices.Clone(may)) }) != nil {
		return Peer{}, false
	}
	i := slices.IndexFunc(may, func(p Peer) bool { return chosen && p.Name == name })
	if i < 0 {
		return Peer{}, false
	}
	return may[i], true
}

// admits reports whether p is where the singleton may be.
func (s *settings) admits(p Peer) bool {
	return p.candidate(s.role) && (s.anchor.kind != byName || p.Name == s.anchor.node)
}

// manages reports whether p has a manager that the reference lets host.
func (p Peer) manages(signature string, self node.ID, reference string) bool {
	offered, offers := p.offer()
	if p.ID == self {
		offered, offers = signature, true
	}
	return offers && fits(offered, reference)
}

// order returns members by preference.
func (a anchor) order(members []Peer) []Peer {
	if a.kind != byAge {
		return members
	}
	return slices.SortedFunc(slices.Values(members), olderFirst)
}

// olderFirst puts those that have no up-number last, and of equals the lower address first.
func olderFirst(a, b Peer) int {
	return cmp.Or(
		cmp.Compare(a.UpNumber-1, b.UpNumber-1),
		cmp.Compare(a.ID.Address, b.ID.Address),
		cmp.Compare(a.ID.Incarnation, b.ID.Incarnation),
	)
}

// reference returns the signature that all managers of a singleton must have, and whose
// it is: that of the oldest member that is up and offers it, or else of the oldest at all;
// so who comes later changes nothing. This node offers own, seen or not.
func (t Topology) reference(own string) (signature string, whose Peer, known bool) {
	for _, p := range t.Members {
		offered, offers := p.offer()
		if p.ID == t.Self {
			offered, offers = own, true
		}
		if offers && offered != "" && (!known || before(p, whose)) {
			signature, whose, known = offered, p, true
		}
	}
	return signature, whose, known
}

func before(a, b Peer) bool {
	if a.Up != b.Up {
		return a.Up
	}
	return olderFirst(a, b) < 0
}

// misfit says in what this node's manager of a singleton differs from the one that
// counts, and whose that is; ok is false when it does not, or nothing is known.
func (t Topology) misfit(signature string) (what string, whose Peer, ok bool) {
	reference, whose, known := t.reference(signature)
	if !known || fits(signature, reference) {
		return "", Peer{}, false
	}
	return differences(signature, reference), whose, true
}
