// Package downing decides who goes on when a cluster is split.
//
// A member that does not answer may have crashed, may be cut off, or may be asleep:
// nobody can tell. So unreachable members change nothing, until a [Strategy] takes some
// down for good. Each side of a split decides for itself, without a word from the other:
// on each, the first reachable member in the order of election applies the same rule to
// what it sees, and the rule is such that at most one side goes on. The other side downs
// itself.
//
// A strategy is a function of values. It reads no clock and keeps no state.
package downing
