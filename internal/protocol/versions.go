// Package protocol has the rules by which two releases find out how to talk to each other: ranges
// of versions, and features. docs/upgrades.md explains them.
package protocol

import (
	"cmp"
	"fmt"
	"iter"
)

// A Range is the versions of a protocol that a node speaks. The zero Range is no version.
type Range struct{ Min, Max uint64 }

// UpTo returns the range of a release whose newest version is newest: it also speaks the version
// before, so that a cluster can be upgraded one node after the other.
func UpTo(newest uint64) Range { return Range{Min: max(newest, 2) - 1, Max: newest} }

// IsValid reports whether r has a version.
func (r Range) IsValid() bool { return 0 < r.Min && r.Min <= r.Max }

// Has reports whether a version is in r.
func (r Range) Has(version uint64) bool { return r.Min <= version && version <= r.Max }

// Common returns the highest version that both ranges have. It returns false if they have none in
// common.
func (r Range) Common(o Range) (version uint64, ok bool) {
	version = min(r.Max, o.Max)
	return version, version > 0 && r.Has(version) && o.Has(version)
}

// ForAll returns the version for what goes to several nodes: the lowest of those that this node
// speaks with each of them. Nodes that have no version in common with r do not count. Without
// others it is the lowest of r: a node that knows nobody has just started, and in an upgrade it is
// the newer one.
func (r Range) ForAll(others iter.Seq[Range]) uint64 {
	all := uint64(0)
	for o := range others {
		if version, ok := r.Common(o); ok && (all == 0 || version < all) {
			all = version
		}
	}
	return cmp.Or(all, r.Min)
}

// String returns the range as text: "version 1", or "versions 1 to 2".
func (r Range) String() string {
	switch {
	case !r.IsValid():
		return "no version"
	case r.Min == r.Max:
		return fmt.Sprintf("version %d", r.Max)
	}
	return fmt.Sprintf("versions %d to %d", r.Min, r.Max)
}

// A Speaker is a node and the versions of one protocol that it speaks.
type Speaker struct {
	Name string // how to refer to it, for instance its address
	Range
}

// Mismatch says that two nodes have no common version of a protocol, and what to do about it.
func Mismatch(protocol string, a, b Speaker) string {
	older, newer := a, b
	if b.Max < a.Max {
		older, newer = b, a
	}
	text := fmt.Sprintf("%s speaks %v of the %s protocol, %s speaks %v, and they have none in common; "+
		"upgrade %s to a release that speaks version %d",
		a.Name, a.Range, protocol, b.Name, b.Range, older.Name, newer.Min)
	if newer.Min > older.Max+1 {
		text += fmt.Sprintf(", after all nodes have one that speaks version %d", older.Max+1)
	}
	return text
}
