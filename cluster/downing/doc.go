// Package downing decides who goes on when a cluster is split.
//
// A member that does not answer may have crashed, may be cut off, or may be asleep:
// nobody can tell. So unreachable members change nothing, until a [Strategy] takes some
// down for good. Each side of a split decides for itself, without a word from the other:
// on each, the first reachable member in the order of election applies the same rule to
// what it sees, and the rule is such that at most one side goes on. The other side downs
// itself.
//
// The strategies differ in who goes on, and in what they cannot bear:
//
//   - [KeepMajority], the default: more than half of the members. A split into many parts,
//     or the crash of more than half, ends all.
//   - [StaticQuorum]: as many as configured. The cluster must not outgrow the number.
//   - [KeepOldest]: those with the oldest member. Small sides may go on, large ones end.
//   - [KeepReferee]: those with a particular member. Its crash ends all.
//   - [LeaseMajority]: those who get a lease, which the majority asks for first. It needs a
//     lease, and nobody goes on without it.
//   - [DownAll]: nobody. All end, and form the cluster anew.
//   - [Manual]: an operator says so. Until then nothing moves.
//
// # What they have in common
//
// A strategy waits until the members, and who is unreachable, have not changed for some
// time (StableAfter). If that does not come to pass, as a link fails again and again, a
// side downs itself after StableAfter and 3/4 of that again, at least 4 seconds: seven
// seconds unless set. A side that would go on bears it for longer when it loses one member
// after the other: then the time is reckoned from the last one that had been well, or
// had been lost only once before, as who stumbles and then falls.
// KeepUnstable switches all this off.
//
// A link between two members may be broken while both reach a third one: they are connected
// indirectly, and on one side. No strategy but DownAll ends a side for that. Members with
// broken links go down: those that are joining or leaving, then those that lack the most links,
// all of several that lack equally many, until all that stay are linked to each other. So of two
// that lack only each other both go, as nobody can tell which is at fault; a member that lacks many others goes alone. They
// still count for their side of a split. A member that KeepOldest or KeepReferee depends on is
// spared, and so is the oldest one if the rule would leave nobody. Akka's split brain resolver
// calls these members indirectly connected, and takes down both ends of every broken link.
//
// Members that are joining do not count. Between the sides of a split there may be
// another opinion of who joins or has left, by one step; no strategy keeps two sides for
// that.
//
// A strategy is a function of values. It reads no clock and keeps no state. Write your own
// by implementing [Strategy]: the tests of this package show what it should withstand.
package downing
